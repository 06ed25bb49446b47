//! Knows what a user sees of `analyze` and `agreement`: results, refusals and exit codes.

mod kit;
mod ratings;
mod refusals;
mod results;
