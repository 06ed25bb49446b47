//! Knows null data in which session labels are permuted within each malfunction, cell sizes kept.
//! Must not know signs of residuals, nor blocks.
//! Start at `session_label_tests`.

use super::cross::cross;
use super::deal::{Dealer, dealings, every_dealing};
use super::decomposition::Observed;
use super::design::Sums;
use crate::estimate::PValue;
use crate::plan::AnalysisPlan;
use crate::randomness::Streams;

/// Relative tolerance at the observed value.
pub(super) const TIE: f64 = 1.0 - 1e-9;

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

/// Enumerates Π_k N_.k!/Π_m N_mk! arrangements if the plan allows so many, and draws otherwise. With the residuals of the
/// additive fit in place of scores, `session_f` is the test of Freedman and Lane: the fit itself changes neither SS_I nor SSE.
pub(crate) fn session_label_tests(
    observed: &Observed,
    plan: &AnalysisPlan,
    streams: &Streams,
) -> LabelTests {
    let design = &observed.design;
    let all = dealings(design.sizes.chunks(design.methods));
    if all <= plan.exact_limit_h1 as f64 {
        let counts = enumerate(observed);
        let [literal, session_f, any] = counts.map(|count| PValue::exact(count, all as u64));
        return LabelTests {
            literal,
            session_f,
            any,
        };
    }
    let counts = draw(observed, plan.permutations, streams);
    let [literal, session_f, any] =
        counts.map(|count| PValue::monte_carlo(count, plan.permutations));
    LabelTests {
        literal,
        session_f,
        any,
    }
}

/// Compares one arrangement with the observed one, F crosswise so that no division is needed.
fn extreme(observed: &Observed, null: &Sums) -> Counts {
    let interaction = observed.zeroed(null.interaction);
    let any = observed.zeroed(null.any);
    let sse = observed.zeroed(observed.squares - null.cells);
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

/// The scores of each malfunction, with the sizes of its cells.
fn groups(observed: &Observed) -> impl Iterator<Item = (Vec<f64>, Vec<usize>)> {
    observed.centred.cells().iter().map(|cells| {
        let sizes = cells.iter().map(Vec::len).collect();
        (cells.iter().flatten().copied().collect(), sizes)
    })
}

fn draw(observed: &Observed, draws: u64, streams: &Streams) -> Counts {
    let design = &observed.design;
    let dealer = Dealer::new(groups(observed));
    let draws = usize::try_from(draws).expect("the number of draws fits into memory");
    streams.tally(
        draws,
        || (dealer.table(), vec![0.0; 2 * design.methods]),
        |(table, scratch), rng| {
            dealer.deal(table, rng);
            extreme(observed, &design.centred_sums(&table.sums, scratch))
        },
    )
}

fn enumerate(observed: &Observed) -> Counts {
    let arrangements: Vec<Vec<Vec<f64>>> = groups(observed)
        .map(|(group, sizes)| every_dealing(&group, &sizes))
        .collect();
    cross(&observed.design, &arrangements, |sums| {
        extreme(observed, &sums)
    })
}
