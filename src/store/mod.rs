//! Knows store.
