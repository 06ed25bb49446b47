//! Knows the course of a measurement, played by a laboratory that only pretends to train.
#![expect(
    clippy::unwrap_used,
    reason = "a fixture that cannot be made ends the test"
)]

use std::path::Path;

use evalxrl::catalog::{Catalog, Files, ReferenceState};
use evalxrl::reference::{
    Bureau, Cache, EPISODES, Laboratory, LaboratoryError, Players, ReferenceError, clean_agents,
};

use crate::repository::{MALFUNCTION, Repository};

const AGENTS: &str = "evalxrl_envs/agents/ppo.py";
const WORLD: &str = "evalxrl_envs/toy_grid/environment.py";

/// Writes into each agent what it was trained from; pays 9 for the sound source and 4 for any other.
#[derive(Default)]
struct Pretended {
    trained: Vec<usize>,
    played: Vec<Files>,
}

impl Laboratory for Pretended {
    fn train(&mut self, files: &Files, seeds: &[u64], into: &Path) -> Result<(), LaboratoryError> {
        self.trained.push(seeds.len());
        for seed in seeds {
            let text = [&files[AGENTS][..], &files[WORLD][..]].concat();
            std::fs::write(into.join(format!("{seed}.safetensors")), text).unwrap();
        }
        Ok(())
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
        let Players::Agents(paths) = players else {
            return Ok(vec![vec![-2.0; episodes as usize]]);
        };
        let one = |path: &std::path::PathBuf| {
            let text = std::fs::read_to_string(path).unwrap();
            let sound = text.contains("GAMMA = 0.99") && text.contains("10 * here");
            let seed: u64 = path.file_stem().unwrap().to_str().unwrap().parse().unwrap();
            let mean = if sound { 9.0 } else { 4.0 } + (seed % 7) as f64 / 100.0;
            (0..episodes)
                .map(|episode| mean + f64::from(episode % 2) - 0.5)
                .collect()
        };
        Ok(paths.iter().map(one).collect())
    }
}

fn measure(
    repository: &Repository,
    laboratory: &mut Pretended,
    seeds: usize,
) -> Result<evalxrl::reference::Measured, ReferenceError> {
    let (catalog, _) = Catalog::survey(repository.root());
    let malfunction = catalog
        .malfunctions()
        .find(|one| one.id.as_str() == MALFUNCTION)
        .unwrap();
    let cache = Cache::below(&repository.path("cache"));
    Bureau::new(&catalog, laboratory, cache, seeds).measure(malfunction)
}

#[test]
fn an_admitted_malfunction_gets_a_row_that_is_fresh_and_the_same_again() {
    let repository = Repository::sound();
    let mut laboratory = Pretended::default();
    let measured = measure(&repository, &mut laboratory, 10).unwrap();
    assert_eq!(measured.refusals, Vec::<String>::new());
    assert_eq!(laboratory.trained, [10, 10, 10], "clean, repaired, broken");
    let row = measured.reference.clone().unwrap();
    assert!((row.gap() - 5.0).abs() < 1e-9 && row.broken.len() == 10);
    assert!(row.min_gap() <= 4.9, "{}", row.min_gap());
    let again = measure(&repository, &mut laboratory, 10).unwrap();
    assert_eq!(again, measured);
    assert_eq!(
        laboratory.trained.len(),
        3,
        "kept agents are not trained again"
    );

    let (catalog, _) = Catalog::survey(repository.root());
    let mut references = catalog.references().clone();
    let id = catalog.malfunctions().next().unwrap().id.clone();
    references.insert(id, row.clone());
    let text = references.to_text().unwrap();
    repository.write(evalxrl::catalog::REFERENCES, &text);
    let (catalog, _) = Catalog::survey(repository.root());
    let malfunction = catalog.malfunctions().next().unwrap();
    assert_eq!(catalog.reference(malfunction), ReferenceState::Fresh(&row));
    assert_eq!(catalog.references().to_text().unwrap(), text);
}

#[test]
fn clean_agents_are_those_of_the_references() {
    let repository = Repository::sound();
    let mut laboratory = Pretended::default();
    measure(&repository, &mut laboratory, 10).unwrap();
    let (catalog, _) = Catalog::survey(repository.root());
    let cache = Cache::below(&repository.path("cache"));
    let environment = catalog.environments().next().unwrap();
    let paths = clean_agents(&cache, &mut laboratory, environment).unwrap();
    assert_eq!(paths.len(), 10);
    assert_eq!(laboratory.trained.len(), 3);
    std::fs::remove_file(&paths[3]).unwrap();
    clean_agents(&cache, &mut laboratory, environment).unwrap();
    assert_eq!(laboratory.trained, [10, 10, 10, 10], "all or none");
}

#[test]
fn few_seeds_screen_and_admit_nothing() {
    let repository = Repository::sound();
    let measured = measure(&repository, &mut Pretended::default(), 3).unwrap();
    assert_eq!(measured.reference, None);
    assert_eq!(measured.refusals, ["n: 3 training seeds are below 10"]);
}

#[test]
fn broken_agents_are_played_in_the_clean_world_with_their_own_agent_code() {
    let repository = Repository::sound();
    let mut laboratory = Pretended::default();
    measure(&repository, &mut laboratory, 10).unwrap();
    let world = String::from_utf8_lossy(&laboratory.played.last().unwrap()[WORLD]).into_owned();
    assert!(world.contains("10 * here"), "{world}");

    let other = "--- a/evalxrl_envs/agents/ppo.py\n+++ b/evalxrl_envs/agents/ppo.py\n@@ -1 +1 @@\n-GAMMA = 0.99\n+GAMMA = 0.5\n";
    repository.malfunction(MALFUNCTION, |text| text, |_| other.to_owned());
    measure(&repository, &mut laboratory, 10).unwrap();
    let code = String::from_utf8_lossy(&laboratory.played.last().unwrap()[AGENTS]).into_owned();
    assert_eq!(code, "GAMMA = 0.5\n");
}

#[test]
fn a_fault_of_serving_code_is_not_measured_in_process() {
    let repository = Repository::sound();
    repository.malfunction(
        MALFUNCTION,
        |text| text.replace("target = \"environment\"", "target = \"serving\""),
        |diff| diff,
    );
    let refused = measure(&repository, &mut Pretended::default(), 10).unwrap_err();
    assert!(matches!(refused, ReferenceError::Served(_)), "{refused}");
}
