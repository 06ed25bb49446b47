//! Knows workspace.
