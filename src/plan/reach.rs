//! Knows what the planned numbers of sessions can find, and warns of what they cannot.
//! Must not know a score.
//! Start at `warnings`.

use evalxrl_analysis::attainability::{AttainableTest, Reach, attainability};

use super::Plan;

/// Warnings about the reach of the primary test of harm, one line each; empty when one harmed cell can be found.
#[must_use]
pub fn warnings(plan: &Plan) -> Vec<String> {
    let has = |id: &str| plan.arms.iter().any(|arm| arm.method.as_str() == id);
    let methods = plan
        .arms
        .iter()
        .filter(|arm| arm.dossiers.len() == 1)
        .filter(|arm| {
            let id = arm.method.as_str();
            id != "placebo" && !id.ends_with("-minimal") && !id.ends_with("-rich")
        })
        .count();
    let cells = (methods * plan.malfunctions.len()) as u64;
    if cells == 0 {
        return Vec::new();
    }
    if !has("no-method") {
        return vec!["no arm `no-method`: neither lift nor harm can be computed".to_owned()];
    }
    let sessions = u64::from(plan.replications);
    let reach = attainability(
        AttainableTest::Permutation,
        sessions,
        sessions,
        cells,
        cells,
        plan.analysis.q,
    );
    let cure = format!(
        "{} replications would let one harmed cell be found",
        reach.sessions_for_one_cell
    );
    let found = match reach.state {
        Reach::OneCell => return Vec::new(),
        Reach::SeveralCells => format!(
            "harm can be found in {} of {cells} cells together or not at all",
            reach.cells_needed
        ),
        Reach::NotTestable => "harm cannot be found in any cell".to_owned(),
    };
    vec![format!("with {sessions} replications {found}; {cure}")]
}
