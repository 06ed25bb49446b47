//! Knows how NumPy values become inputs of `evalxrl-analysis` and its results plain values; conversions only.
//! Must not know a formula: every number comes from `evalxrl-analysis`.
//! Start at the module `_evalxrl`, then the Python package beside it.

#![expect(
    clippy::needless_pass_by_value,
    reason = "arguments are extracted from Python by value"
)]

mod agreement;
mod cells;
mod dossiers;
mod hypotheses;
mod power;
mod refusal;
mod samples;
mod scores;
mod seed;
mod simulation;
mod tidy;

use pyo3::prelude::*;

/// The compiled half of the package `evalxrl`; its functions take checked, contiguous arrays.
#[pymodule]
mod _evalxrl {
    #[pymodule_export]
    use crate::agreement::{agreement, kappa};
    #[pymodule_export]
    use crate::cells::{
        aggregates, interval, interval_from, performance_profile, probability_of_improvement,
        student_t,
    };
    #[pymodule_export]
    use crate::dossiers::{
        ablation, budget_curve, planned_budget_curve, shapley, shapley_values, tool_calls,
    };
    #[pymodule_export]
    use crate::hypotheses::{harm, interaction, interaction_tests, lift, oracle_gap};
    #[pymodule_export]
    use crate::power::{pilot_variance, two_sample_t_power, two_sample_t_sessions};
    #[pymodule_export]
    use crate::samples::{
        rank_correlation, rank_sum, sign_flip, signed_rank, two_sample_permutation, welch,
    };
    #[pymodule_export]
    use crate::scores::{admit, attainability, benjamini_hochberg, repair_score};
    #[pymodule_export]
    use crate::simulation::{sessions_needed, simulate};
}
