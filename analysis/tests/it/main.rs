//! Knows the published values, laws and refusals that `evalxrl-analysis` must keep, through its public interface.
//! Must not know private items.
//! Start at `golden`.

#[cfg(test)]
#[cfg(test)]
#[cfg(test)]
#[cfg(test)]
#[cfg(test)]
#[cfg(test)]
#[cfg(test)]
#[cfg(test)]
#[cfg(test)]
#[cfg(test)]
#[cfg(test)]
#[cfg(test)]
#[cfg(test)]

mod dossiers;
mod findings;
mod golden;
mod golden_aggregates;
mod golden_interaction;
mod golden_paired;
mod harm;
mod kappa;
mod laws;
mod laws_paired;
mod monte_carlo;
mod sample_laws;
mod table;
mod tool_calls;
