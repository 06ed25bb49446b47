//! Knows the course of a measurement, played by a laboratory that only pretends to train.
#![expect(
    clippy::unwrap_used,
    reason = "a fixture that cannot be made ends the test"
)]

mod ladders;
mod pretended;

use evalxrl::catalog::{Catalog, ReferenceState};
use evalxrl::reference::{Bureau, Cache, Measured, ReferenceError, clean_agents};
use evalxrl::vocab::MalfunctionId;

use crate::repository::{MALFUNCTION, Repository};
use pretended::{AGENTS, Pretended, SERVER, WORLD};

const DISCOUNT: &str = "--- a/evalxrl_envs/agents/ppo.py\n+++ b/evalxrl_envs/agents/ppo.py\n@@ -1 +1 @@\n-GAMMA = 0.99\n+GAMMA = 0.5\n";

fn measure(
    repository: &Repository,
    laboratory: &mut Pretended,
    id: &str,
    seeds: usize,
) -> Result<Measured, ReferenceError> {
    let (catalog, _) = Catalog::survey(repository.root());
    let malfunction = catalog
        .malfunction(&MalfunctionId::new(id).unwrap())
        .unwrap();
    let cache = Cache::below(&repository.path("cache"));
    Bureau::new(&catalog, laboratory, cache, &|_| {}).measure(
        malfunction,
        seeds,
        catalog.references(),
    )
}

/// Measures, and writes the references file with the row of an admitted malfunction.
fn admit(repository: &Repository, laboratory: &mut Pretended, id: &str) -> Measured {
    let measured = measure(repository, laboratory, id, 10).unwrap();
    let (catalog, _) = Catalog::survey(repository.root());
    let mut references = catalog.references().clone();
    let row = measured.reference.clone().unwrap();
    references.insert(MalfunctionId::new(id).unwrap(), row);
    repository.write(evalxrl::catalog::REFERENCES, references.to_text().unwrap());
    measured
}

fn rules(measured: &Measured) -> Vec<&str> {
    measured.refusals.iter().map(|one| one.rule).collect()
}

#[test]
fn an_admitted_malfunction_gets_a_row_that_is_fresh_and_the_same_again() {
    let repository = Repository::sound();
    let mut laboratory = Pretended::default();
    let measured = admit(&repository, &mut laboratory, MALFUNCTION);
    assert_eq!(measured.refusals, []);
    let tuned_and_timed = [1; 11];
    assert_eq!(
        laboratory.trained[..3],
        [10, 10, 10],
        "clean, broken, repaired"
    );
    assert_eq!(laboratory.trained[3..], tuned_and_timed);
    let row = measured.reference.clone().unwrap();
    assert!((row.gap() - 5.0).abs() < 1e-9 && row.broken.len() == 10);
    assert!(row.min_gap() <= 4.9, "{}", row.min_gap());
    assert!(row.tuned.unwrap() < 0.1 && (row.training_time.unwrap() - 1.0).abs() < 1e-12);
    let played = laboratory.played.len();
    let again = measure(&repository, &mut laboratory, MALFUNCTION, 10).unwrap();
    assert_eq!(again, measured);
    assert_eq!(
        laboratory.trained.len(),
        14,
        "kept agents are not trained again"
    );
    assert_eq!(laboratory.played.len(), played, "nor do they play again");

    let (catalog, _) = Catalog::survey(repository.root());
    let malfunction = catalog.malfunctions().next().unwrap();
    assert_eq!(catalog.reference(malfunction), ReferenceState::Fresh(&row));
    let text = std::fs::read_to_string(repository.path(evalxrl::catalog::REFERENCES)).unwrap();
    assert_eq!(catalog.references().to_text().unwrap(), text);
}

#[test]
fn clean_agents_are_those_of_the_references() {
    let repository = Repository::sound();
    let mut laboratory = Pretended::default();
    measure(&repository, &mut laboratory, MALFUNCTION, 10).unwrap();
    let trained = laboratory.trained.len();
    let (catalog, _) = Catalog::survey(repository.root());
    let cache = Cache::below(&repository.path("cache"));
    let environment = catalog.environments().next().unwrap();
    let paths = clean_agents(&cache, &mut laboratory, environment).unwrap();
    assert_eq!(paths.len(), 10);
    assert_eq!(laboratory.trained.len(), trained);
    std::fs::remove_file(&paths[3]).unwrap();
    clean_agents(&cache, &mut laboratory, environment).unwrap();
    assert_eq!(laboratory.trained[trained..], [10], "all or none");
}

#[test]
fn agents_that_are_not_as_they_were_written_are_trained_again() {
    let repository = Repository::sound();
    let mut laboratory = Pretended::default();
    let measured = measure(&repository, &mut laboratory, MALFUNCTION, 10).unwrap();
    let (catalog, _) = Catalog::survey(repository.root());
    let cache = Cache::below(&repository.path("cache"));
    let environment = catalog.environments().next().unwrap();
    let paths = clean_agents(&cache, &mut laboratory, environment).unwrap();
    let sound = std::fs::read(&paths[3]).unwrap();
    for spoiled in [&[][..], &sound[..9], &[&sound[..], b"x"].concat()] {
        std::fs::write(&paths[3], spoiled).unwrap();
        let trained = laboratory.trained.len();
        let again = measure(&repository, &mut laboratory, MALFUNCTION, 10).unwrap();
        assert_eq!(again, measured);
        assert_eq!(laboratory.trained[trained..], [10], "the clean ones alone");
    }
    // Agents of an earlier version have no hashes.
    std::fs::remove_file(paths[3].with_file_name("hashes.json")).unwrap();
    let trained = laboratory.trained.len();
    clean_agents(&cache, &mut laboratory, environment).unwrap();
    assert_eq!(laboratory.trained.len(), trained);
}

#[test]
fn a_laboratory_that_cannot_train_clean_agents_rejects_no_malfunction() {
    let repository = Repository::sound();
    let mut laboratory = Pretended::default();
    measure(&repository, &mut laboratory, MALFUNCTION, 10).unwrap();
    let raises = |diff: String| diff.replace("+    return 1 * here", "+    raise 1 * here");
    for (down, diff) in [(true, true), (true, false), (false, true), (false, false)] {
        // Clean agents are in the cache, so that broken ones are the first to be trained.
        laboratory.down = down;
        repository.malfunction(
            MALFUNCTION,
            |text| text,
            |text| {
                let text = text.replace("return 1 *", "return 2 *");
                if diff {
                    raises(text.replace("return 2", "return 1"))
                } else {
                    text
                }
            },
        );
        let ended = measure(&repository, &mut laboratory, MALFUNCTION, 10);
        match (down, diff) {
            (true, _) => assert!(
                matches!(ended, Err(ReferenceError::Laboratory { .. })),
                "{ended:?}"
            ),
            (false, true) => assert!(
                matches!(ended, Err(ReferenceError::Crash { .. })),
                "{ended:?}"
            ),
            (false, false) => assert!(ended.is_ok()),
        }
    }
    let cache = walkdir::WalkDir::new(repository.path("cache"))
        .into_iter()
        .flatten();
    let passing = cache.filter(|entry| entry.file_name().to_string_lossy().starts_with('.'));
    assert_eq!(
        passing.count(),
        0,
        "nothing is left of what is only compared with"
    );
}

#[test]
fn few_seeds_screen_and_admit_nothing() {
    let repository = Repository::sound();
    let measured = measure(&repository, &mut Pretended::default(), MALFUNCTION, 3).unwrap();
    assert_eq!(measured.reference, None);
    assert_eq!(rules(&measured), ["n"]);
}

#[test]
fn broken_agents_are_played_in_the_clean_world_with_their_own_agent_code() {
    let repository = Repository::sound();
    let mut laboratory = Pretended::default();
    measure(&repository, &mut laboratory, MALFUNCTION, 10).unwrap();
    let world = String::from_utf8_lossy(&laboratory.played.last().unwrap()[WORLD]).into_owned();
    assert!(world.contains("10 * here"), "{world}");

    repository.malfunction(MALFUNCTION, |text| text, |_| DISCOUNT.to_owned());
    measure(&repository, &mut laboratory, MALFUNCTION, 10).unwrap();
    let code = String::from_utf8_lossy(&laboratory.played.last().unwrap()[AGENTS]).into_owned();
    assert_eq!(code, "GAMMA = 0.5\n");
    assert_eq!(laboratory.served, 0);
}

#[test]
fn a_fault_of_the_server_is_played_served_with_clean_agents_and_stale_when_the_server_changes() {
    let repository = Repository::sound();
    let mut laboratory = Pretended::default();
    let serving = |text: String| text.replace("target = \"environment\"", "target = \"serving\"");
    let diff = format!("--- a/{SERVER}\n+++ b/{SERVER}\n@@ -1 +1 @@\n-SCALE = 1\n+SCALE = 5\n");
    repository.malfunction(MALFUNCTION, serving, |_| diff.clone());
    let measured = admit(&repository, &mut laboratory, MALFUNCTION);
    assert_eq!(measured.refusals, []);
    assert!((measured.figures.gap() - 4.0).abs() < 1e-9);
    assert_eq!(measured.further.training_time, None);
    assert_eq!(
        laboratory.trained[..2],
        [10, 10],
        "clean and repaired, none broken"
    );
    assert_eq!(laboratory.served, 2, "the broken and the tuned ones");

    let state = |repository: &Repository| {
        let (catalog, _) = Catalog::survey(repository.root());
        let malfunction = catalog.malfunctions().next().unwrap();
        matches!(catalog.reference(malfunction), ReferenceState::Fresh(_))
    };
    assert!(state(&repository));
    repository.write(&format!("envs/{SERVER}"), "SCALE = 1\n\n");
    assert!(!state(&repository));
}

#[test]
fn a_composite_is_held_against_its_halves() {
    let repository = Repository::sound();
    let mut laboratory = Pretended::default();
    let half_pay = |diff: String| diff.replace("return 1 *", "return 5 *");
    repository.malfunction("toy-grid-half-pay", |text| text, half_pay);
    repository.malfunction("toy-grid-short", |text| text, |_| DISCOUNT.to_owned());
    let composite = |text: String| {
        text.replace("reward-imbalance", "composite").replace(
            "held_out = false",
            "held_out = true\nhalves = [\"toy-grid-half-pay\", \"toy-grid-short\"]",
        )
    };
    let both = |diff: String| DISCOUNT.to_owned() + &half_pay(diff);
    repository.malfunction("toy-grid-both", composite, both);
    let early = measure(&repository, &mut laboratory, "toy-grid-both", 10).unwrap();
    assert_eq!(rules(&early), ["K1", "K1"], "neither half is admitted yet");
    admit(&repository, &mut laboratory, "toy-grid-half-pay");
    admit(&repository, &mut laboratory, "toy-grid-short");
    let measured = admit(&repository, &mut laboratory, "toy-grid-both");
    let row = measured.reference.unwrap();
    assert!((row.gap_first.unwrap() - 25.0 / 9.0).abs() < 1e-9);
    assert!((row.gap_second.unwrap() - 3.0).abs() < 1e-9);
    assert!((row.gap() - 52.0 / 9.0).abs() < 1e-9);
}
