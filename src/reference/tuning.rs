//! Knows how a repairer might tune a broken agent without finding the fault: each quantity halved and doubled in its own configuration.
//! Must not know how agents are trained or scored.
//! Start at `altered`.

use crate::catalog::{Files, Tunable};

use super::Subject;

/// What an entropy coefficient of zero counts as.
const LEAST_ENTROPY: f64 = 0.005;

/// Broken source with one quantity tuned.
#[derive(Debug, Clone, PartialEq)]
pub struct Altered {
    /// What was tuned, and to which value.
    pub what: String,
    /// The source.
    pub files: Files,
}

/// The configuration lacks a quantity, or holds no number there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: no number `{key}` below [hyper]")]
pub struct NoQuantity {
    path: String,
    key: &'static str,
}

/// Broken source with learning rate, entropy coefficient and effective horizon 1/(1 − γ) each halved and doubled;
/// what the fault sets itself is left alone.
///
/// # Errors
/// The configuration lacks a quantity.
pub fn altered(subject: &Subject<'_>) -> Result<Vec<Altered>, NoQuantity> {
    let path = format!("evalxrl_envs/{}/config.toml", subject.environment.id);
    let text = subject
        .broken
        .get(&path)
        .map(|bytes| String::from_utf8_lossy(bytes));
    let text = text.unwrap_or_default();
    let mut list = Vec::new();
    for tunable in Tunable::ALL {
        if subject.skip.contains(&tunable) {
            continue;
        }
        let key = tunable.key();
        let lacking = || NoQuantity {
            path: path.clone(),
            key,
        };
        let (line, value) = find(&text, key).ok_or_else(lacking)?;
        for factor in [0.5, 2.0] {
            let tuned = tune(tunable, value, factor);
            let lines = text.split('\n').enumerate().map(|(index, old)| {
                if index == line {
                    format!("{key} = {tuned:?}")
                } else {
                    old.to_owned()
                }
            });
            let changed = lines.collect::<Vec<_>>().join("\n");
            let mut files = subject.broken.clone();
            files.insert(path.clone(), changed.into_bytes());
            list.push(Altered {
                what: format!("{key} {tuned:?}"),
                files,
            });
        }
    }
    Ok(list)
}

fn tune(tunable: Tunable, value: f64, factor: f64) -> f64 {
    match tunable {
        Tunable::LearningRate => value * factor,
        Tunable::EntropyCoefficient if value == 0.0 => LEAST_ENTROPY * factor,
        Tunable::EntropyCoefficient => value * factor,
        // A horizon of h steps is a discount of 1 − 1/h; below one step it is 0.
        Tunable::Gamma => (1.0 - (1.0 - value) / factor).max(0.0),
    }
}

/// Line, from 0, and value of a key below `[hyper]`.
fn find(text: &str, key: &str) -> Option<(usize, f64)> {
    let mut inside = false;
    for (index, line) in text.split('\n').enumerate() {
        let line = line.trim();
        if line.starts_with('[') {
            inside = line == "[hyper]";
        } else if inside
            && let Some((name, _)) = line.split_once('=')
            && name.trim() == key
        {
            let table: toml::Table = match line.parse() {
                Ok(table) => table,
                Err(_no_line_of_toml) => return None,
            };
            let value = table.get(key)?;
            let whole = value.as_integer().map(|number| number as f64);
            return value.as_float().or(whole).map(|number| (index, number));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantity_is_found_below_its_own_table_only() {
        let text = "[params]\ngamma = 1\n[hyper]\n# gamma = 2\ngamma = 0.9 # far\nclip = 1\n";
        assert_eq!(find(text, "gamma"), Some((4, 0.9)));
        assert_eq!(find(text, "clip"), Some((5, 1.0)));
        assert_eq!(find(text, "learning_rate"), None);
    }

    #[test]
    fn the_horizon_is_halved_and_doubled_and_no_entropy_counts_as_a_little() {
        let near = |one: f64, two: f64| (one - two).abs() < 1e-12;
        assert!(near(tune(Tunable::Gamma, 0.99, 0.5), 0.98));
        assert!(near(tune(Tunable::Gamma, 0.99, 2.0), 0.995));
        assert!(near(tune(Tunable::Gamma, 0.3, 0.5), 0.0));
        assert!(near(tune(Tunable::EntropyCoefficient, 0.0, 2.0), 0.01));
        assert!(near(tune(Tunable::EntropyCoefficient, 0.03, 0.5), 0.015));
        assert!(near(tune(Tunable::LearningRate, 2e-3, 2.0), 4e-3));
    }
}
