//! Knows null data in which the means of cells are permuted within each malfunction: a diagnostic, not a test of additivity.
//! Must not know sessions.
//! Start at `cell_label_test`.

use super::cross::cross;
use super::deal::{Dealer, dealings, every_dealing};
use super::decomposition::Observed;
use super::session_labels::TIE;
use crate::estimate::PValue;
use crate::moments::mean;
use crate::plan::AnalysisPlan;
use crate::randomness::Streams;

/// What the reader of its p-value must know.
pub(crate) const NOTE: &str = "permuting the means of cells keeps SS of method and interaction together, so that a large SS of \
interaction means a small SS of method: this never finds interaction beside a main effect, and no claim rests on it";

/// Compares SS_I with that of permuted cell means, each cell keeping its number of sessions as weight; empty cells stay empty.
pub(crate) fn cell_label_test(
    observed: &Observed,
    plan: &AnalysisPlan,
    streams: &Streams,
) -> PValue {
    let design = &observed.design;
    let sizes: Vec<f64> = design.sizes.iter().map(|size| *size as f64).collect();
    let groups: Vec<(Vec<f64>, Vec<usize>)> = observed
        .centred
        .cells()
        .iter()
        .map(|cells| {
            let filled = cells.iter().filter(|cell| !cell.is_empty());
            let hands = cells.iter().map(|cell| usize::from(!cell.is_empty()));
            (filled.map(|cell| mean(cell)).collect(), hands.collect())
        })
        .collect();
    let extreme = |interaction: f64| {
        u64::from(observed.zeroed(interaction) >= observed.sums.interaction * TIE)
    };
    let all = dealings(groups.iter().map(|(_, hands)| hands.as_slice()));
    if all <= plan.exact_limit_h1 as f64 {
        let arrangements: Vec<Vec<Vec<f64>>> = groups
            .iter()
            .zip(sizes.chunks(design.methods))
            .map(|((means, hands), sizes)| {
                let mut dealings = every_dealing(means, hands);
                for sums in &mut dealings {
                    weigh(sums, sizes);
                }
                dealings
            })
            .collect();
        let [count] = cross(design, &arrangements, |sums| [extreme(sums.interaction)]);
        return PValue::exact(count, all as u64);
    }
    let dealer = Dealer::new(groups);
    let draws = usize::try_from(plan.permutations).expect("the number of draws fits into memory");
    let [count] = streams.tally(
        draws,
        || {
            (
                dealer.table(),
                vec![0.0; sizes.len()],
                vec![0.0; design.methods],
            )
        },
        |(table, sums, residuals), rng| {
            dealer.deal(table, rng);
            sums.copy_from_slice(&table.sums);
            weigh(sums, &sizes);
            [extreme(design.sums(sums, residuals).interaction)]
        },
    );
    PValue::monte_carlo(count, plan.permutations)
}

/// Turns means into sums.
fn weigh(means: &mut [f64], sizes: &[f64]) {
    for (mean, size) in means.iter_mut().zip(sizes) {
        *mean *= size;
    }
}
