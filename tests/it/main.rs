//! Tests that cross rooms, as one binary.

mod catalog;
mod malfunctions;
mod plan;
mod pool;
mod reference;
mod repository;
mod tidy;
