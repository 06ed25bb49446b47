//! Knows session.
pub mod bundle;
pub mod changes;
