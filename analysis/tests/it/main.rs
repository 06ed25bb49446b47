//! Knows the published values, laws and refusals that `evalxrl-analysis` must keep, through its public interface.
//! Must not know private items.
//! Start at `golden`.

mod findings;
mod golden;
mod golden_interaction;
mod laws;
mod monte_carlo;
mod table;
