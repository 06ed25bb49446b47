//! Knows how the means and the standard deviations of the cells of one data set are drawn. Cells are numbered k·M + m.
//! Must not know noise or tests.
//! Start at `Truth::draw`.

use rand_chacha::ChaCha8Rng;
use rand_core::RngCore;

use super::design::{DEFAULT_SD, Design};
use super::noise::standard_normal;
use super::scenario::{InteractionForm, Scenario, Spread};
use crate::moments::mean;

/// Where means are centred, and how far from it they may lie.
const CENTRE: f64 = 0.5;
const REACH: f64 = 0.42;

/// The truth behind one data set.
#[derive(Debug, Clone, PartialEq)]
pub struct Truth {
    /// Mean of each cell at k·M + m.
    pub means: Vec<f64>,
    /// Standard deviation of each cell, on the scale on which 0.25 is ordinary.
    pub spreads: Vec<f64>,
}

impl Truth {
    /// Draws means and standard deviations: U* of methods, U* of malfunctions, the interaction, then noisy cells.
    pub fn draw(scenario: &Scenario, design: &Design, rng: &mut ChaCha8Rng) -> Self {
        let (methods, malfunctions) = sizes(design);
        Self {
            means: means(scenario, methods, malfunctions, rng),
            spreads: spreads(scenario.spread, methods, malfunctions, rng),
        }
    }
}

fn sizes(design: &Design) -> (usize, usize) {
    let size = |size: u64| usize::try_from(size).expect("a checked design fits into memory");
    (size(design.methods), size(design.malfunctions))
}

/// A uniform number in [0, 1), from 53 bits.
pub(super) fn uniform(rng: &mut ChaCha8Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

/// U*: uniform(−1, 1)·√3, which has variance 1, centred.
fn centred_uniform(count: usize, rng: &mut ChaCha8Rng) -> Vec<f64> {
    let mut values: Vec<f64> = (0..count)
        .map(|_| (2.0 * uniform(rng) - 1.0) * 3.0_f64.sqrt())
        .collect();
    let centre = mean(&values);
    values.iter_mut().for_each(|value| *value -= centre);
    values
}

/// Means 0.5 + τ_m·U*_m + τ_k·U*_k, shrunk about 0.5 by one factor where any leaves [.08, .92]; then the interaction, which
/// keeps its stated size.
fn means(
    scenario: &Scenario,
    methods: usize,
    malfunctions: usize,
    rng: &mut ChaCha8Rng,
) -> Vec<f64> {
    let by_method = centred_uniform(methods, rng);
    let by_malfunction = centred_uniform(malfunctions, rng);
    let mut deviations = Vec::with_capacity(methods * malfunctions);
    for malfunction in &by_malfunction {
        for method in &by_method {
            deviations.push(scenario.methods * method + scenario.malfunctions * malfunction);
        }
    }
    match scenario.interaction {
        InteractionForm::None | InteractionForm::Normal { .. } => {}
        InteractionForm::Strength => {
            for (row, malfunction) in deviations.chunks_mut(methods).zip(&by_malfunction) {
                let weight = 0.4 + 1.2 * uniform(rng);
                for (deviation, method) in row.iter_mut().zip(&by_method) {
                    *deviation =
                        scenario.methods * method * weight + scenario.malfunctions * malfunction;
                }
            }
        }
        InteractionForm::ThreeClusters => {
            for (place, deviation) in deviations.iter_mut().enumerate() {
                let matching = place / methods % 3 == place % methods % 3;
                *deviation = 0.2 - CENTRE + if matching { 0.25 } else { 0.0 };
            }
        }
    }
    let largest = deviations
        .iter()
        .fold(0.0_f64, |largest, value| largest.max(value.abs()));
    let shrunk = if largest > REACH {
        REACH / largest
    } else {
        1.0
    };
    let mut means: Vec<f64> = deviations
        .into_iter()
        .map(|deviation| CENTRE + shrunk * deviation)
        .collect();
    if let InteractionForm::Normal { rms } = scenario.interaction {
        let added = doubly_centred(methods, malfunctions, rms, rng);
        means
            .iter_mut()
            .zip(added)
            .for_each(|(mean, added)| *mean += added);
    }
    means
}

/// A normal matrix (k·M + m) with every row and column centred, scaled to a root mean square.
pub(super) fn doubly_centred(
    methods: usize,
    malfunctions: usize,
    rms: f64,
    rng: &mut ChaCha8Rng,
) -> Vec<f64> {
    let mut values: Vec<f64> = (0..methods * malfunctions)
        .map(|_| standard_normal(rng))
        .collect();
    for row in values.chunks_mut(methods) {
        let centre = mean(row);
        row.iter_mut().for_each(|value| *value -= centre);
    }
    for method in 0..methods {
        let column = || (0..malfunctions).map(|malfunction| malfunction * methods + method);
        let centre = column().map(|place| values[place]).sum::<f64>() / malfunctions as f64;
        for place in column() {
            values[place] -= centre;
        }
    }
    let squares: f64 = values.iter().map(|value| value * value).sum();
    let found = (squares / values.len() as f64).sqrt();
    // One method or one malfunction leaves nothing but rounding.
    let factor = if found > 1e-9 { rms / found } else { 0.0 };
    values.iter_mut().for_each(|value| *value *= factor);
    values
}

fn spreads(spread: Spread, methods: usize, malfunctions: usize, rng: &mut ChaCha8Rng) -> Vec<f64> {
    let noisy_malfunctions = malfunctions.div_ceil(5);
    (0..methods * malfunctions)
        .map(|place| {
            let (method, malfunction) = (place % methods, place / methods);
            let (is_noisy, noisy, others) = match spread {
                Spread::Equal => return DEFAULT_SD,
                Spread::OneMethod { noisy, others } => (method == 0, noisy, others),
                Spread::FirstFifth { noisy, others } => {
                    (malfunction < noisy_malfunctions, noisy, others)
                }
                Spread::SomeCells {
                    probability,
                    noisy,
                    others,
                } => (uniform(rng) < probability, noisy, others),
            };
            if is_noisy { noisy } else { others }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use rand_core::SeedableRng;

    use super::*;

    const DESIGN: Design = Design {
        methods: 5,
        malfunctions: 10,
        sessions: 6,
    };

    fn truths(name: &str) -> Vec<Truth> {
        let scenario = Scenario::named(name).unwrap();
        let mut rng = ChaCha8Rng::from_seed([2; 32]);
        (0..500)
            .map(|_| Truth::draw(&scenario, &DESIGN, &mut rng))
            .collect()
    }

    fn interaction_rms(means: &[f64]) -> f64 {
        let of = |m: Option<usize>, k: Option<usize>| {
            let chosen: Vec<f64> = (0..50)
                .filter(|place| {
                    m.is_none_or(|m| place % 5 == m) && k.is_none_or(|k| place / 5 == k)
                })
                .map(|place| means[place])
                .collect();
            mean(&chosen)
        };
        let squares: f64 = (0..50)
            .map(|place| {
                let (m, k) = (place % 5, place / 5);
                (means[place] - of(Some(m), None) - of(None, Some(k)) + of(None, None)).powi(2)
            })
            .sum();
        (squares / 50.0).sqrt()
    }

    #[test]
    fn main_effects_stay_inside_and_additive_means_are_additive() {
        for scenario in Scenario::all() {
            for truth in truths(scenario.name) {
                // A normal interaction is added to means that were shrunk before.
                let shrunk = !matches!(scenario.interaction, InteractionForm::Normal { .. });
                let inside = 0.08 - 1e-12..=0.92 + 1e-12;
                assert!(!shrunk || truth.means.iter().all(|mean| inside.contains(mean)));
                let rms = interaction_rms(&truth.means);
                assert_eq!(scenario.additive(), rms < 1e-12, "{} {rms}", scenario.name);
            }
        }
    }

    #[test]
    fn the_interaction_has_the_stated_size_where_nothing_is_shrunk() {
        let largest = truths("interaction_small_main")
            .iter()
            .map(|truth| interaction_rms(&truth.means))
            .fold(0.0, f64::max);
        assert!((largest - 0.1).abs() < 1e-12, "{largest}");
    }

    #[test]
    fn noisy_cells_are_as_many_as_stated() {
        let share = |name: &str| {
            let truths = truths(name);
            let noisy = truths
                .iter()
                .flat_map(|truth| &truth.spreads)
                .filter(|spread| **spread > 0.4)
                .count();
            noisy as f64 / 25_000.0
        };
        assert_eq!(share("one_method_noisy"), 0.2);
        assert_eq!(share("some_malfunctions_noisy"), 0.2);
        assert!((share("some_cells_noisy") - 0.1).abs() < 0.01);
    }
}
