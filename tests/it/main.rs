//! Tests that cross rooms, in one binary.

mod sandbox;
mod tidy;
