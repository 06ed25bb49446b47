//! Knows plan.
