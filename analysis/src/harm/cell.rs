//! Knows one cell of H3: its lift and all its tests, before any adjustment.
//! Must not know other cells, nor the bootstrap.
//! Start at `tested`.

use rand_core::RngCore;

use super::pairing::pairs;
use super::tests::{paired_tests, tests, unpaired};
use super::{HarmCell, HarmTest, HarmTestName};
use crate::computed::{Computed, finite};
use crate::estimate::PValue;
use crate::moments::mean;
use crate::plan::AnalysisPlan;
use crate::scale::Scale;
use crate::score_table::Stratum;
use crate::signed_rank::SignedRankFlag;
use crate::two_sample::Effort;

/// Tests one method on one malfunction against the baseline.
pub(super) fn tested(
    stratum: &Stratum,
    malfunction: &str,
    method: &str,
    plan: &AnalysisPlan,
    rng: &mut impl RngCore,
) -> HarmCell {
    let baseline = stratum.roles().no_method.as_str();
    let on = |scale, method: &str| stratum.scores(malfunction, method, scale, plan.winsor_floor);
    let effort = effort(plan);
    let ours = [on(Scale::Raw, method), on(Scale::RawUnwinsorised, method)];
    let theirs = [
        on(Scale::Raw, baseline),
        on(Scale::RawUnwinsorised, baseline),
    ];
    let lift = lift(&ours[0], &theirs[0], baseline);
    let unequal_sessions = lift.value().is_some() && ours[0].len() != theirs[0].len();
    let mut found: Vec<HarmTest> =
        tests([&ours[0], &ours[1]], [&theirs[0], &theirs[1]], effort, rng)
            .into_iter()
            .map(|(name, p)| (name, p, Vec::new()))
            .map(unadjusted)
            .collect();
    if unequal_sessions {
        found.sort_by_key(|test| test.test != HarmTestName::Welch);
    }
    let (pairing, paired) = match pairs(stratum, malfunction, method, plan.winsor_floor) {
        Ok(pairs) => (
            Computed::Value(pairs.pairing),
            paired_tests([&pairs.winsorised, &pairs.stored], effort, rng),
        ),
        Err(reason) => {
            let tests = unpaired(&reason);
            (Computed::NotComputed(reason), tests)
        }
    };
    found.extend(paired.into_iter().map(unadjusted));
    HarmCell {
        method: method.to_owned(),
        malfunction: malfunction.to_owned(),
        sessions: ours[0].len() as u64,
        baseline_sessions: theirs[0].len() as u64,
        lift,
        unequal_sessions,
        pairing,
        tests: found,
    }
}

/// How far the tests of H3 enumerate.
pub(super) fn effort(plan: &AnalysisPlan) -> Effort {
    Effort {
        exact_limit: plan.exact_limit_two_sample,
        draws: plan.permutations_two_sample,
    }
}

/// The difference of means, or why there is none.
pub(super) fn lift(ours: &[f64], theirs: &[f64], baseline: &str) -> Computed<f64> {
    match (ours.len(), theirs.len()) {
        (0, _) => Computed::absent("no session"),
        (_, 0) => Computed::absent(format!("no session of {baseline}")),
        _ => finite(mean(ours) - mean(theirs)).into(),
    }
}

fn unadjusted((test, p, flags): (HarmTestName, Computed<PValue>, Vec<SignedRankFlag>)) -> HarmTest {
    HarmTest {
        test,
        primary: test == HarmTestName::PermutationMean,
        p_adjusted: Computed::absent("no p-value"),
        p,
        discovery: false,
        flags,
    }
}
