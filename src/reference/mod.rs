//! Knows reference.
