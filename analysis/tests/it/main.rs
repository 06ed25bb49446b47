//! Knows the published values, laws and refusals that `evalxrl-analysis` must keep, through its public interface.
//! Must not know private items.
//! Start at `golden`.

#[cfg(test)]
mod aggregates;
#[cfg(test)]
mod anything;
#[cfg(test)]
mod dossiers;
#[cfg(test)]
mod findings;
#[cfg(test)]
mod golden;
#[cfg(test)]
mod golden_aggregates;
#[cfg(test)]
mod golden_interaction;
#[cfg(test)]
mod golden_paired;
#[cfg(test)]
mod harm;
#[cfg(test)]
mod interaction_laws;
#[cfg(test)]
mod interaction_rows;
#[cfg(test)]
mod kappa;
#[cfg(test)]
mod laws;
#[cfg(test)]
mod laws_paired;
#[cfg(test)]
mod monte_carlo;
#[cfg(test)]
mod power;
#[cfg(test)]
mod published_rates;
#[cfg(test)]
mod rank_correlation;
#[cfg(test)]
mod sample_laws;
#[cfg(test)]
mod simulation;
#[cfg(test)]
mod table;
#[cfg(test)]
mod tool_calls;
#[cfg(test)]
mod two_sample;
