//! Tests that cross rooms, as one binary.

mod catalog;
mod plan;
mod pool;
mod repository;
mod tidy;
