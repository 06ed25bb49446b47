//! Knows the statistics of EvalXRL as pure functions over score tables.
//! Must not know files, clocks, global randomness or asynchronous code.
//! Start at `score_table`, then `findings`.

pub mod ablation;
pub mod aggregate;
pub mod attainability;
pub mod axes;
pub mod bootstrap;
pub mod budget_curve;
pub mod cells;
pub mod clusters;
pub mod computed;
pub mod contrast;
pub mod cost;
pub mod detection;
pub mod effect_size;
pub mod estimate;
pub mod findings;
pub mod harm;
pub mod interaction;
pub mod kappa;
pub mod lift;
pub mod localisation;
pub mod moments;
pub mod multiplicity;
pub mod noncentral_f;
pub mod noncentral_t;
pub mod oracle_gap;
pub mod plan;
pub mod power;
pub mod randomness;
pub mod rank_correlation;
pub mod repair_score;
pub mod scale;
pub mod score_table;
pub mod shapley;
pub mod signed_rank;
pub mod simulate;
pub mod stratified_rank_sum;
pub mod structure;
pub mod tool_calls;
pub mod two_sample;
