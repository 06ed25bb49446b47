//! Tests that cross rooms, in one binary.

mod tidy;
