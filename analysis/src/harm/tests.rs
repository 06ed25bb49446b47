//! Knows which tests H3 runs on two arms, and on which scale each.
//! Must not know cells, families, or the bootstrap.
//! Start at `tests` and `paired_tests`.

use rand_core::RngCore;

use super::HarmTestName;
use crate::computed::{Computed, NotComputed};
use crate::estimate::PValue;
use crate::signed_rank::{SignedRankFlag, ZeroRule, sign_flip, signed_rank};
use crate::two_sample::{self, Alternative, Effort};

/// Runs the four tests on two samples, alternative `less`, without adjustment: means on winsorised scores, ranks on scores as given.
/// Both arms are `[winsorised, stored]`. Draws two keys.
pub fn tests(
    method: [&[f64]; 2],
    baseline: [&[f64]; 2],
    effort: Effort,
    rng: &mut impl RngCore,
) -> Vec<(HarmTestName, Computed<PValue>)> {
    let [winsorised, stored] = method;
    let [baseline_winsorised, baseline_stored] = baseline;
    vec![
        (
            HarmTestName::PermutationMean,
            two_sample::permutation_mean(
                winsorised,
                baseline_winsorised,
                Alternative::Less,
                effort,
                rng,
            )
            .into(),
        ),
        (
            HarmTestName::Welch,
            two_sample::welch(winsorised, baseline_winsorised)
                .map(|welch| welch.p_less())
                .into(),
        ),
        (
            HarmTestName::RankSum,
            two_sample::rank_sum(stored, baseline_stored, Alternative::Less).into(),
        ),
        (
            HarmTestName::PermutationWelch,
            two_sample::permutation_welch(
                winsorised,
                baseline_winsorised,
                Alternative::Less,
                effort,
                rng,
            )
            .map(|(_, p)| p)
            .into(),
        ),
    ]
}

/// Runs the three paired tests on differences `[winsorised, stored]` (method − baseline, one per pair), alternative `less`,
/// without adjustment: ranks on differences of scores as stored, the mean on differences of winsorised scores. Draws one key.
pub fn paired_tests(
    differences: [&[f64]; 2],
    effort: Effort,
    rng: &mut impl RngCore,
) -> Vec<(HarmTestName, Computed<PValue>, Vec<SignedRankFlag>)> {
    let [winsorised, stored] = differences;
    let ranks = |name, rule| match signed_rank(stored, rule) {
        Ok(found) => (name, Computed::Value(found.less), found.flags),
        Err(reason) => (name, Computed::NotComputed(reason), Vec::new()),
    };
    vec![
        ranks(HarmTestName::SignedRankWilcox, ZeroRule::Wilcox),
        ranks(HarmTestName::SignedRankPratt, ZeroRule::Pratt),
        (
            HarmTestName::SignFlipMean,
            sign_flip(winsorised, effort, rng)
                .map(|found| found.less)
                .into(),
            Vec::new(),
        ),
    ]
}

/// The paired tests where there are no pairs, each with the reason.
pub(super) fn unpaired(
    reason: &NotComputed,
) -> Vec<(HarmTestName, Computed<PValue>, Vec<SignedRankFlag>)> {
    [
        HarmTestName::SignedRankWilcox,
        HarmTestName::SignedRankPratt,
        HarmTestName::SignFlipMean,
    ]
    .map(|name| (name, Computed::NotComputed(reason.clone()), Vec::new()))
    .into()
}
