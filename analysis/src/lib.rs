//! Knows the statistics of EvalXRL as pure functions over score tables.
//! Must not know files, clocks, global randomness or asynchronous code.
//! Start at `score_table`.
