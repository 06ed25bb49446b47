//! Whole runs by the command line, with real training and real scoring on small budgets.

mod containers;
mod kit;
mod local;
mod messages;
