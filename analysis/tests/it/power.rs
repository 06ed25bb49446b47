//! Knows that analytic power agrees with the published numbers of sessions.
//! Must not know simulation.
//! Start at the tests.

use evalxrl_analysis::power::two_sample_t_sessions;

use crate::golden::{cases, within};

#[test]
fn sessions_per_group_match_the_reference_values() {
    for case in cases("power_ttest_ind.json") {
        let field = |name: &str| case[name].as_f64().unwrap();
        let ours = two_sample_t_sessions(field("d"), field("alpha"), field("power")).unwrap();
        within(
            "power_ttest_ind.json n_per_group",
            ours,
            &case["n_per_group"],
            1e-6,
        );
    }
}
