//! Tests that cross rooms, in one binary.

mod pool;
mod tidy;
