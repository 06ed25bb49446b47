//! Knows the scenarios of H1: how means, interaction and noise are set up, and the published table of them.
//! Must not know how they are tested.
//! Start at `Scenario::table`.

use super::design::{DEFAULT_SD, SimulationError};
use super::noise::Noise;

/// One way in which data sets come about.
#[derive(Debug, Clone, PartialEq)]
pub struct Scenario {
    /// Its name.
    pub name: &'static str,
    /// τ_m: standard deviation of the main effect of methods.
    pub methods: f64,
    /// τ_k: standard deviation of the main effect of malfunctions.
    pub malfunctions: f64,
    /// What is added to main effects.
    pub interaction: InteractionForm,
    /// The standard deviations of cells.
    pub spread: Spread,
    /// The noise, where the simulation does not ask for another.
    pub noise: Noise,
    /// Whether step 3 of the verdict is tried on every data set.
    pub beyond_first_axis: bool,
}

/// How the effect of a method depends on the malfunction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum InteractionForm {
    /// It does not.
    None,
    /// A doubly centred normal matrix, scaled to this root mean square.
    Normal {
        /// In score units.
        rms: f64,
    },
    /// Methods differ in strength only: τ_m·U*_m times a weight of the malfunction, uniform in [0.4, 1.6].
    Strength,
    /// Methods and malfunctions belong to three clusters in turn: 0.2, and 0.25 more where the clusters match; no main
    /// effects are drawn.
    ThreeClusters,
}

/// The standard deviation of each cell, on the scale on which 0.25 is ordinary.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Spread {
    /// All alike.
    Equal,
    /// The first method is noisy.
    OneMethod {
        /// Its standard deviation.
        noisy: f64,
        /// That of the others.
        others: f64,
    },
    /// The first fifth of malfunctions (rounded up) is noisy.
    FirstFifth {
        /// Their standard deviation.
        noisy: f64,
        /// That of the others.
        others: f64,
    },
    /// Each cell is noisy by chance.
    SomeCells {
        /// With this probability.
        probability: f64,
        /// Standard deviation of a noisy cell.
        noisy: f64,
        /// That of the others.
        others: f64,
    },
}

impl Scenario {
    /// The seven scenarios of the published table of rejection rates.
    pub fn table() -> Vec<Self> {
        use InteractionForm::Normal;
        let normal = Noise::Normal { sd: DEFAULT_SD };
        let of = |name, methods, malfunctions| Self {
            name,
            methods,
            malfunctions,
            interaction: InteractionForm::None,
            spread: Spread::Equal,
            noise: normal.clone(),
            beyond_first_axis: false,
        };
        vec![
            Self {
                noise: Noise::Beta { sd: DEFAULT_SD },
                ..of("global_null", 0.0, 0.15)
            },
            Self {
                beyond_first_axis: true,
                ..of("additive", 0.1, 0.15)
            },
            Self {
                spread: Spread::OneMethod {
                    noisy: 0.45,
                    others: 0.12,
                },
                ..of("one_method_noisy", 0.1, 0.1)
            },
            Self {
                spread: Spread::FirstFifth {
                    noisy: 0.5,
                    others: 0.1,
                },
                ..of("some_malfunctions_noisy", 0.1, 0.1)
            },
            Self {
                spread: Spread::SomeCells {
                    probability: 0.1,
                    noisy: 0.6,
                    others: 0.1,
                },
                ..of("some_cells_noisy", 0.1, 0.1)
            },
            Self {
                interaction: Normal { rms: 0.1 },
                ..of("interaction_small_main", 0.1, 0.1)
            },
            Self {
                interaction: Normal { rms: 0.1 },
                ..of("interaction_large_main", 0.2, 0.1)
            },
        ]
    }

    /// The table, and two scenarios for step 3 of the verdict: rank 1, and three clusters.
    pub fn all() -> Vec<Self> {
        let mut all = Self::table();
        let of = |name, methods, interaction| Self {
            name,
            methods,
            malfunctions: 0.1,
            interaction,
            spread: Spread::Equal,
            noise: Noise::Normal { sd: DEFAULT_SD },
            beyond_first_axis: true,
        };
        all.push(of("rank_one", 0.15, InteractionForm::Strength));
        all.push(of("three_clusters", 0.0, InteractionForm::ThreeClusters));
        all
    }

    /// Finds a scenario by name.
    ///
    /// # Errors
    /// A name that is none, with all that are.
    pub fn named(name: &str) -> Result<Self, SimulationError> {
        let all = Self::all();
        let known: Vec<&str> = all.iter().map(|scenario| scenario.name).collect();
        let known = known.join(", ");
        all.into_iter()
            .find(|scenario| scenario.name == name)
            .ok_or_else(|| SimulationError::Scenario {
                name: name.to_owned(),
                known,
            })
    }

    /// Whether additivity holds.
    pub fn additive(&self) -> bool {
        match self.interaction {
            InteractionForm::None => true,
            InteractionForm::Normal { rms } => rms == 0.0,
            InteractionForm::Strength | InteractionForm::ThreeClusters => false,
        }
    }

    /// Means and noise in words; `noise` is the one that is used.
    pub fn describe(&self, noise: &Noise) -> String {
        let means = match self.interaction {
            InteractionForm::None if self.methods == 0.0 => {
                format!("no method effect, malfunctions {}", self.malfunctions)
            }
            InteractionForm::None => {
                format!("main effects {} and {}", self.methods, self.malfunctions)
            }
            InteractionForm::Normal { rms } => format!(
                "interaction rms {rms}, main effects {} and {}",
                self.methods, self.malfunctions
            ),
            InteractionForm::Strength => format!(
                "methods differ in strength {}, malfunctions {}",
                self.methods, self.malfunctions
            ),
            InteractionForm::ThreeClusters => "three clusters, 0.25 where they match".to_owned(),
        };
        let sd = |spread: f64| (spread / DEFAULT_SD * noise.sd() * 1e6).round() / 1e6;
        let spread = match self.spread {
            Spread::Equal => format!("SD {}", sd(DEFAULT_SD)),
            Spread::OneMethod { noisy, others } => {
                format!("SD {} in one method, else {}", sd(noisy), sd(others))
            }
            Spread::FirstFifth { noisy, others } => {
                format!(
                    "SD {} in a fifth of malfunctions, else {}",
                    sd(noisy),
                    sd(others)
                )
            }
            Spread::SomeCells {
                probability,
                noisy,
                others,
            } => format!(
                "SD {} in a cell with probability {probability}, else {}",
                sd(noisy),
                sd(others)
            ),
        };
        format!("{means}; {} noise, {spread}", noise.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scenarios_are_found_by_name_and_say_what_they_are() {
        let scenario = Scenario::named("one_method_noisy").unwrap();
        assert!(scenario.additive());
        assert_eq!(
            scenario.describe(&scenario.noise),
            "main effects 0.1 and 0.1; normal noise, SD 0.45 in one method, else 0.12"
        );
        let error = Scenario::named("twelve").unwrap_err().to_string();
        assert!(
            error.starts_with("twelve is no scenario; known are global_null, additive"),
            "{error}"
        );
    }
}
