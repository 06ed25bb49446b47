//! Knows how NumPy values become score tables and back; conversions only.
//! Must not know a formula: every number comes from `evalxrl-analysis`.
//! Start at the module function.
