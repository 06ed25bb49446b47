//! Knows what a user sees of `analyze`, `agreement`, `power` and `simulate`: results, refusals and exit codes.

mod kit;
mod planning;
mod ratings;
mod refusals;
mod results;
