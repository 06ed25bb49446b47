//! Knows session.
