//! Tests that cross rooms, in one binary.

mod catalog;
mod end_to_end;
mod malfunctions;
mod plan;
mod pool;
mod reference;
mod repository;
mod sandbox;
mod tidy;
