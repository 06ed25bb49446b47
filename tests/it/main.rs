//! Tests that cross rooms, as one binary.

mod catalog;
mod end_to_end;
mod plan;
mod pool;
mod reference;
mod repository;
mod sandbox;
mod tidy;
