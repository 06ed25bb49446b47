//! Tests that cross rooms, in one binary.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a fixture that cannot be made ends the test, and a skipped tier says so"
)]

mod analyze;
mod archives;
mod candidates;
mod catalog;
mod census;
mod dossier_rules;
mod end_to_end;
mod guides;
mod malfunctions;
mod plan;
mod pool;
mod reference;
mod repository;
mod sandbox;
mod tidy;
mod verbs;
mod visits;
