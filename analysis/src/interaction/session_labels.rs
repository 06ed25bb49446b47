//! Knows null data in which session labels are permuted within each malfunction, cell sizes kept.
//! Must not know signs of residuals.
//! Start at `session_label_tests`.

use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::decomposition::Observed;
use crate::estimate::PValue;
use crate::plan::AnalysisPlan;
use crate::randomness::{Streams, below};

/// The p-values that one pass of permutations gives.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LabelTests {
    /// SS_I.
    pub literal: PValue,
    /// F_I; meaningful where SSE > 0.
    pub session_f: PValue,
    /// F_any; meaningful where SSE > 0.
    pub any: PValue,
}

/// Arrangements at least as extreme as observed: literal, session_f, any.
type Counts = [u64; 3];

fn add(first: Counts, second: Counts) -> Counts {
    [
        first[0] + second[0],
        first[1] + second[1],
        first[2] + second[2],
    ]
}

/// Enumerates Π_k N_.k!/Π_m N_mk! arrangements if the plan allows so many, and draws otherwise.
pub(crate) fn session_label_tests(
    observed: &Observed,
    plan: &AnalysisPlan,
    streams: &Streams,
) -> LabelTests {
    let total = arrangements(observed);
    let (counts, p): (Counts, fn(u64, u64) -> PValue) = if total <= plan.exact_limit_h1 as f64 {
        (enumerate(observed), PValue::exact)
    } else {
        (
            draw(observed, plan.permutations, streams),
            PValue::monte_carlo,
        )
    };
    let total = if total <= plan.exact_limit_h1 as f64 {
        total as u64
    } else {
        plan.permutations
    };
    LabelTests {
        literal: p(counts[0], total),
        session_f: p(counts[1], total),
        any: p(counts[2], total),
    }
}

fn arrangements(observed: &Observed) -> f64 {
    let design = &observed.design;
    design
        .sizes
        .chunks(design.methods)
        .flat_map(|group| {
            group.iter().scan(0_u64, |placed, size| {
                *placed += *size as u64;
                Some(crate::two_sample::assignments(
                    *placed - *size as u64,
                    *size as u64,
                ))
            })
        })
        .product()
}

/// Compares one arrangement with the observed one, F crosswise so that no division is needed.
fn extreme(observed: &Observed, interaction: f64, any: f64, cells: f64) -> Counts {
    const TIE: f64 = 1.0 - 1e-9;
    let interaction = observed.zeroed(interaction);
    let any = observed.zeroed(any);
    let sse = observed.zeroed(observed.squares - cells);
    let Observed {
        sums,
        sse: observed_sse,
        ..
    } = observed;
    [
        u64::from(interaction >= sums.interaction * TIE),
        u64::from(interaction * observed_sse >= sums.interaction * sse * TIE),
        u64::from(any * observed_sse >= sums.any * sse * TIE),
    ]
}

fn draw(observed: &Observed, draws: u64, streams: &Streams) -> Counts {
    let design = &observed.design;
    let groups: Vec<Vec<f64>> = observed
        .centred
        .cells()
        .iter()
        .map(|cells| cells.iter().flatten().copied().collect())
        .collect();
    let scratch = || {
        (
            groups.clone(),
            vec![0.0; design.sizes.len()],
            vec![0.0; design.methods - 1],
        )
    };
    let draws = usize::try_from(draws).expect("the number of draws fits into memory");
    streams
        .replicates(draws, scratch, |(groups, sums, vector), rng| {
            for (malfunction, group) in groups.iter_mut().enumerate() {
                let first = malfunction * design.methods;
                let range = first..first + design.methods;
                deal(group, &design.sizes[range.clone()], &mut sums[range], rng);
            }
            let sums = design.sums(sums, vector);
            extreme(observed, sums.interaction, sums.any, sums.cells)
        })
        .into_iter()
        .fold([0; 3], add)
}

/// Deals the sessions of one malfunction to its methods at random and sums up each hand; the last hand takes what is left.
fn deal(group: &mut [f64], sizes: &[usize], sums: &mut [f64], rng: &mut ChaCha8Rng) {
    let last = sizes.iter().rposition(|size| *size > 0).unwrap_or(0);
    let mut place = 0;
    for (method, (size, sum)) in sizes.iter().zip(sums).enumerate() {
        *sum = 0.0;
        for _ in 0..*size {
            if method != last {
                let left = u32::try_from(group.len() - place).expect("groups are small");
                group.swap(place, place + below(rng, left) as usize);
            }
            *sum += group[place];
            place += 1;
        }
    }
}

/// What one arrangement of one malfunction contributes.
struct Part {
    cells: f64,
    any: f64,
    /// Its share of the vector whose square is SS of methods adjusted for malfunctions.
    adjusted: Vec<f64>,
}

fn enumerate(observed: &Observed) -> Counts {
    let design = &observed.design;
    let parts: Vec<Vec<Part>> = observed
        .centred
        .cells()
        .iter()
        .enumerate()
        .map(|(malfunction, cells)| {
            let group: Vec<f64> = cells.iter().flatten().copied().collect();
            let mut left: Vec<usize> = cells.iter().map(Vec::len).collect();
            let mut sums = vec![0.0; design.methods];
            let mut parts = Vec::new();
            arrange(&group, &mut left, &mut sums, &mut |sums| {
                let (squares, main) = design.group_squares(malfunction, sums);
                let adjusted = design.adjusted(malfunction, sums);
                parts.push(Part {
                    cells: squares,
                    any: squares - main,
                    adjusted,
                });
            });
            parts
        })
        .collect();
    let (first, rest) = parts.split_first().expect("a design has two malfunctions");
    first
        .par_iter()
        .map(|part| {
            let mut counts = [0; 3];
            combine(
                observed,
                rest,
                part.cells,
                part.any,
                &part.adjusted,
                &mut counts,
            );
            counts
        })
        .reduce(|| [0; 3], add)
}

/// Visits every way to deal a group to methods of given sizes.
fn arrange(group: &[f64], left: &mut [usize], sums: &mut [f64], visit: &mut impl FnMut(&[f64])) {
    let Some((score, rest)) = group.split_first() else {
        visit(sums);
        return;
    };
    for method in 0..left.len() {
        if left[method] > 0 {
            let before = sums[method];
            left[method] -= 1;
            sums[method] += score;
            arrange(rest, left, sums, visit);
            sums[method] = before;
            left[method] += 1;
        }
    }
}

/// Crosses the arrangements of the remaining malfunctions.
fn combine(
    observed: &Observed,
    rest: &[Vec<Part>],
    cells: f64,
    any: f64,
    adjusted: &[f64],
    counts: &mut Counts,
) {
    let Some((parts, rest)) = rest.split_first() else {
        let methods: f64 = adjusted.iter().map(|entry| entry * entry).sum();
        *counts = add(*counts, extreme(observed, any - methods, any, cells));
        return;
    };
    let mut sum = vec![0.0; adjusted.len()];
    for part in parts {
        for ((slot, before), own) in sum.iter_mut().zip(adjusted).zip(&part.adjusted) {
            *slot = before + own;
        }
        combine(
            observed,
            rest,
            cells + part.cells,
            any + part.any,
            &sum,
            counts,
        );
    }
}
