//! Knows what the planned numbers of sessions can find, and warns of what they cannot.
//! Must not know a score.
//! Start at `reach`.

use evalxrl_analysis::attainability::{ADVICE, Attainability, AttainableTest, attainability};

use super::Plan;

/// What the tests of harm can find, the primary first; empty where no explanation method or no baseline is planned.
#[must_use]
pub fn reach(plan: &Plan) -> Vec<Attainability> {
    let cells = cells(plan);
    if cells == 0 || !has_baseline(plan) {
        return Vec::new();
    }
    let sessions = u64::from(plan.replications);
    let of = |test| attainability(test, sessions, sessions, cells, cells, plan.analysis.q);
    vec![
        of(AttainableTest::Permutation),
        of(AttainableTest::SignedRank),
    ]
}

/// Warnings about the reach of the tests of harm, one line each; empty when the primary can find one harmed cell.
#[must_use]
pub fn warnings(plan: &Plan) -> Vec<String> {
    if cells(plan) > 0 && !has_baseline(plan) {
        return vec!["no arm `no-method`: neither lift nor harm can be computed".to_owned()];
    }
    let reach = reach(plan);
    let Some(primary) = reach.first().and_then(Attainability::warning) else {
        return Vec::new();
    };
    let mut lines = vec![primary];
    lines.extend(reach[1..].iter().filter_map(Attainability::warning));
    lines.push(ADVICE.to_owned());
    lines
}

fn has_baseline(plan: &Plan) -> bool {
    plan.arms
        .iter()
        .any(|arm| arm.method.as_str() == "no-method")
}

/// m: cells of simple explanation methods in default packaging.
fn cells(plan: &Plan) -> u64 {
    let methods = plan
        .arms
        .iter()
        .filter(|arm| arm.dossiers.len() == 1)
        .filter(|arm| {
            let id = arm.method.as_str();
            id != "placebo" && !id.ends_with("-minimal") && !id.ends_with("-rich")
        })
        .count();
    (methods * plan.malfunctions.len()) as u64
}
