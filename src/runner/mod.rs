//! Knows runner.
