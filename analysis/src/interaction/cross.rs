//! Knows how to count over every combination of arrangements, one of each malfunction, without fitting each anew.
//! Must not know how arrangements come about, nor what counts.
//! Start at `cross`.

use rayon::prelude::*;

use super::design::{Design, Sums};

/// What one arrangement contributes to sums of squares; contributions of malfunctions add up.
struct Part {
    cells: f64,
    any: f64,
    /// Its share of the vector whose square is SS of methods adjusted for malfunctions.
    adjusted: Vec<f64>,
}

/// Adds up what is counted over every combination; `arrangements[k]` are sums of the cells of malfunction k, by method.
pub(crate) fn cross<const N: usize>(
    design: &Design,
    arrangements: &[Vec<Vec<f64>>],
    count: impl Fn(Sums) -> [u64; N] + Sync,
) -> [u64; N] {
    let parts: Vec<Vec<Part>> = arrangements
        .iter()
        .enumerate()
        .map(|(malfunction, arrangements)| {
            let part = |sums: &Vec<f64>| {
                let (squares, main) = design.group_squares(malfunction, sums);
                Part {
                    cells: squares,
                    any: squares - main,
                    adjusted: design.adjusted(malfunction, sums),
                }
            };
            arrangements.iter().map(part).collect()
        })
        .collect();
    let (first, rest) = parts.split_first().expect("a design has two malfunctions");
    first
        .par_iter()
        .map(|part| {
            let mut counts = [0; N];
            combine(rest, part, &count, &mut counts);
            counts
        })
        .reduce(
            || [0; N],
            |one, other| std::array::from_fn(|i| one[i] + other[i]),
        )
}

fn combine<const N: usize>(
    rest: &[Vec<Part>],
    so_far: &Part,
    count: &impl Fn(Sums) -> [u64; N],
    counts: &mut [u64; N],
) {
    let Some((parts, rest)) = rest.split_first() else {
        let methods: f64 = so_far.adjusted.iter().map(|entry| entry * entry).sum();
        let sums = Sums {
            interaction: (so_far.any - methods).max(0.0),
            any: so_far.any.max(0.0),
            cells: so_far.cells,
        };
        for (total, own) in counts.iter_mut().zip(count(sums)) {
            *total += own;
        }
        return;
    };
    let mut with = Part {
        adjusted: vec![0.0; so_far.adjusted.len()],
        ..*so_far
    };
    for part in parts {
        with.cells = so_far.cells + part.cells;
        with.any = so_far.any + part.any;
        let shares = so_far.adjusted.iter().zip(&part.adjusted);
        for (slot, (before, own)) in with.adjusted.iter_mut().zip(shares) {
            *slot = before + own;
        }
        combine(rest, &with, count, counts);
    }
}
