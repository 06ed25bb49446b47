//! Knows catalog.
