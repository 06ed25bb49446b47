//! Knows the permutation test of Welch's t.
//! Must not know the permutation of plain means.
//! Start at `permutation_welch`.

use rand_core::RngCore;

use super::{Alternative, Effort, assignments, pool};
use crate::computed::NotComputed;
use crate::estimate::PValue;
use crate::moments::mean;
use crate::randomness::{BoundedDraws, Streams};

/// Assignments with t at most, and at least, the observed one.
type Counts = [u64; 2];

fn add(first: Counts, second: Counts) -> Counts {
    [first[0] + second[0], first[1] + second[1]]
}

/// Tests Welch's t over all assignments (or `draws` of them); gives the observed t (may be infinite) too.
///
/// # Errors
/// A sample of fewer than two.
pub fn permutation_welch(
    first: &[f64],
    second: &[f64],
    alternative: Alternative,
    effort: Effort,
    rng: &mut impl RngCore,
) -> Result<(f64, PValue), NotComputed> {
    if first.len() < 2 || second.len() < 2 {
        return Err(NotComputed::because("fewer than two sessions in an arm"));
    }
    // Centred, so that sums of squares keep their digits.
    let mut pooled = pool(first, second)?;
    let centre = mean(&pooled);
    pooled.iter_mut().for_each(|value| *value -= centre);
    let t = Statistic::new(&pooled, first.len());
    let own = &pooled[..first.len()];
    let observed = t.of(
        own.iter().sum(),
        own.iter().map(|value| value * value).sum(),
    );
    let room = if observed.is_finite() {
        1e-9 * observed.abs().max(1.0)
    } else {
        0.0
    };
    let extreme = |sum: f64, squares: f64| {
        let t = t.of(sum, squares);
        [
            u64::from(t <= observed + room),
            u64::from(t >= observed - room),
        ]
    };
    // Drawn in either case, so that what follows on the same generator does not depend on the sizes.
    let streams = Streams::draw(rng);
    let total = assignments(first.len() as u64, second.len() as u64);
    let ([less, greater], total, p): (Counts, u64, fn(u64, u64) -> PValue) =
        if total <= effort.exact_limit as f64 {
            let counts = enumerate(&pooled, first.len(), 0.0, 0.0, &extreme);
            (counts, total as u64, PValue::exact)
        } else {
            let counts = draw(&pooled, first.len(), effort.draws, &streams, extreme);
            (counts, effort.draws, PValue::monte_carlo)
        };
    let p = alternative.choose(|| p(less, total), || p(greater, total));
    Ok((observed, p))
}

/// Welch's t as a function of the first sample's sum and sum of squares.
struct Statistic {
    total: f64,
    total_squares: f64,
    n: f64,
    n0: f64,
}

impl Statistic {
    fn new(pooled: &[f64], size: usize) -> Self {
        Self {
            total: pooled.iter().sum(),
            total_squares: pooled.iter().map(|value| value * value).sum(),
            n: size as f64,
            n0: (pooled.len() - size) as f64,
        }
    }

    /// d/sqrt(s_x²/N + s_y²/N0); where the variance vanishes, 0 for d = 0 and ±∞ otherwise.
    fn of(&self, sum: f64, squares: f64) -> f64 {
        let (rest, rest_squares) = (self.total - sum, self.total_squares - squares);
        let difference = sum / self.n - rest / self.n0;
        let spread =
            |sum: f64, squares: f64, n: f64| (squares - sum * sum / n).max(0.0) / (n - 1.0) / n;
        let variance = spread(sum, squares, self.n) + spread(rest, rest_squares, self.n0);
        if variance > 1e-24 {
            difference / variance.sqrt()
        } else if difference.abs() < 1e-12 {
            0.0
        } else {
            f64::INFINITY.copysign(difference)
        }
    }
}

fn draw(
    pooled: &[f64],
    size: usize,
    draws: u64,
    streams: &Streams,
    extreme: impl Fn(f64, f64) -> Counts + Sync,
) -> Counts {
    let places = BoundedDraws::of_shuffle(pooled.len(), size);
    streams
        .replicates(
            usize::try_from(draws).expect("the number of draws fits into memory"),
            || (pooled.to_vec(), vec![0; size]),
            |(values, draws), rng| {
                places.fill(rng, draws);
                let (mut sum, mut squares) = (0.0, 0.0);
                for (place, draw) in draws.iter().enumerate() {
                    values.swap(place, place + *draw as usize);
                    sum += values[place];
                    squares += values[place] * values[place];
                }
                extreme(sum, squares)
            },
        )
        .into_iter()
        .fold([0; 2], add)
}

/// Walks through all subsets of `size` values, in order of the values.
fn enumerate(
    values: &[f64],
    size: usize,
    sum: f64,
    squares: f64,
    extreme: &impl Fn(f64, f64) -> Counts,
) -> Counts {
    if size == 0 {
        return extreme(sum, squares);
    }
    (0..=values.len() - size)
        .map(|first| {
            let value = values[first];
            enumerate(
                &values[first + 1..],
                size - 1,
                sum + value,
                squares + value * value,
                extreme,
            )
        })
        .fold([0; 2], add)
}
