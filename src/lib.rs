//! Knows the rooms of the orchestrator and nothing else.
//! Must not know how any of them works: each room owns its types and its errors.
//! Start at `vocab`, the words every other room speaks.

pub mod catalog;
pub mod cli;
pub mod coder;
pub mod harness;
pub mod plan;
pub mod reference;
pub mod report;
pub mod runner;
pub mod session;
pub mod store;
pub mod vocab;
pub mod workspace;
