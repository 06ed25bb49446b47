//! A laboratory that only pretends to train: an agent is the text it was trained from, and plays as well as that text is sound.

use std::path::Path;

use evalxrl::catalog::Files;
use evalxrl::reference::{EPISODES, Laboratory, LaboratoryError, Players};

pub(super) const AGENTS: &str = "evalxrl_envs/agents/ppo.py";
pub(super) const WORLD: &str = "evalxrl_envs/toy_grid/environment.py";
pub(super) const SERVER: &str = "evalxrl_envs/serving/server.py";
pub(super) const CONFIG: &str = "evalxrl_envs/toy_grid/config.toml";

/// What was asked of it.
#[derive(Default)]
pub(super) struct Pretended {
    /// Seeds of each training.
    pub(super) trained: Vec<usize>,
    /// Files of each evaluation.
    pub(super) played: Vec<Files>,
    /// Evaluations as served.
    pub(super) served: usize,
    /// Whether every program ends with an error, as without packages.
    pub(super) down: bool,
}

/// Performance of an agent trained from a text: 9 when it is sound, from which the pay and the discount take.
fn level(text: &str) -> f64 {
    let number = |before: &str, after: &str| -> f64 {
        let start = text.split(before).nth(1).unwrap();
        start.split(after).next().unwrap().trim().parse().unwrap()
    };
    let pay = number("return ", "*");
    let discount = if text.contains("GAMMA = 0.99\n") {
        0.0
    } else {
        3.0
    };
    if text.contains("forgiving") && text.contains("learning_rate = 0.006") {
        return 9.0;
    }
    9.0 - 5.0 * (10.0 - pay) / 9.0 - discount
}

impl Laboratory for Pretended {
    fn train(&mut self, files: &Files, seeds: &[u64], into: &Path) -> Result<f64, LaboratoryError> {
        let text = [&files[AGENTS][..], &files[WORLD][..], &files[CONFIG][..]].concat();
        let told = String::from_utf8_lossy(&text).into_owned();
        if self.down || told.contains("raise") {
            return Err(LaboratoryError::Command {
                command: "train",
                code: Some(1),
                ending: "exit status: 1".into(),
                message: "train: it raised".into(),
            });
        }
        self.trained.push(seeds.len());
        for seed in seeds {
            std::fs::write(into.join(format!("{seed}.safetensors")), &text).unwrap();
        }
        Ok(if told.contains("slowly") { 2.5 } else { 2.0 })
    }

    fn evaluate(
        &mut self,
        files: &Files,
        players: Players<'_>,
        key: &str,
        episodes: u32,
    ) -> Result<Vec<Vec<f64>>, LaboratoryError> {
        assert_eq!(key.len(), 64);
        assert_eq!(episodes, EPISODES);
        self.played.push(files.clone());
        let (paths, spoiled) = match players {
            Players::Random => return Ok(vec![vec![-2.0; episodes as usize]]),
            Players::Agents(paths) => (paths, 0.0),
            Players::Served(paths) => {
                self.served += 1;
                let server = String::from_utf8_lossy(&files[SERVER]).into_owned();
                (
                    paths,
                    if server.contains("SCALE = 1\n") {
                        0.0
                    } else {
                        4.0
                    },
                )
            }
        };
        let one = |path: &std::path::PathBuf| {
            let text = std::fs::read_to_string(path).unwrap();
            let seed: u64 = path.file_stem().unwrap().to_str().unwrap().parse().unwrap();
            let mean = level(&text) - spoiled + (seed % 7) as f64 / 100.0;
            (0..episodes)
                .map(|episode| mean + f64::from(episode % 2) - 0.5)
                .collect()
        };
        Ok(paths.iter().map(one).collect())
    }
}
