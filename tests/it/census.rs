//! Knows the rules over the catalogue as a whole: floor pairs, composites, and the tables of the README.
#![expect(
    clippy::unwrap_used,
    reason = "a fixture that cannot be made ends the test"
)]

use std::process::Command;

use evalxrl::catalog::{Catalog, REFERENCES, Reference, ReferenceState};
use evalxrl::vocab::MalfunctionId;

use crate::plan::reference;
use crate::repository::{MALFUNCTION, Repository};

/// Gives every malfunction fresh references, changed as wanted.
fn admit(repository: &Repository, change: impl Fn(&str, &mut Reference)) -> Catalog {
    let (catalog, problems) = Catalog::survey(repository.root());
    assert_eq!(problems.to_string(), "");
    let mut references = catalog.references().clone();
    for malfunction in catalog.malfunctions() {
        let mut row = reference(&catalog, malfunction.id.as_str());
        change(malfunction.id.as_str(), &mut row);
        references.insert(malfunction.id.clone(), row);
    }
    repository.write(REFERENCES, references.to_text().unwrap());
    Catalog::load(repository.root()).unwrap()
}

fn composite(repository: &Repository, id: &str, first: &str, second: &str) {
    let manifest = |text: String| {
        text.replace("reward-imbalance", "composite").replace(
            "held_out = false",
            &format!("held_out = true\nhalves = [\"{first}\", \"{second}\"]"),
        )
    };
    repository.malfunction(id, manifest, |diff| diff);
}

#[test]
fn a_class_has_one_floor_pair_and_the_catalogue_four() {
    let repository = Repository::sound();
    let classes = [
        "mild-myopia",
        "sensor-drift",
        "training-code",
        "data-pipeline",
    ];
    for class in classes {
        let id = format!("toy-grid-{class}");
        repository.malfunction(
            &id,
            |text| text.replace("reward-imbalance", class),
            |diff| diff,
        );
    }
    let told = admit(&repository, |_, row| row.floor = true).census();
    assert_eq!(told.list().len(), 1, "{told}");
    assert!(
        told.to_string()
            .contains("there are 5 floor pairs, more than 4"),
        "{told}"
    );
    let four = admit(&repository, |id, row| row.floor = id != MALFUNCTION).census();
    assert_eq!(four.to_string(), "");

    repository.malfunction("toy-grid-other", |text| text, |diff| diff);
    let imbalance = [MALFUNCTION, "toy-grid-other"];
    let told = admit(&repository, |id, row| row.floor = imbalance.contains(&id)).census();
    assert!(
        told.to_string()
            .contains("reward-imbalance has 2 floor pairs"),
        "{told}"
    );
    assert_eq!(told.list().len(), 1, "{told}");
}

#[test]
fn composites_are_held_against_their_halves_and_some_join_targets() {
    let repository = Repository::sound();
    repository.malfunction("toy-grid-second", |text| text, |diff| diff);
    let training = |text: String| text.replace("\"environment\"\ntax", "\"training\"\ntax");
    repository.malfunction("toy-grid-training", training, |diff| diff);
    for number in 0..5 {
        composite(
            &repository,
            &format!("toy-grid-both-{number}"),
            MALFUNCTION,
            "toy-grid-second",
        );
    }
    let both = |_: &str, row: &mut Reference| {
        row.gap_first = Some(5.0);
        row.gap_second = Some(5.0);
    };
    assert_eq!(admit(&repository, both).census().to_string(), "");
    composite(
        &repository,
        "toy-grid-both-5",
        MALFUNCTION,
        "toy-grid-training",
    );
    let told = admit(&repository, both).census().to_string();
    assert!(
        told.contains("1 of 6 join halves of different targets, fewer than 2"),
        "{told}"
    );
    composite(
        &repository,
        "toy-grid-both-6",
        MALFUNCTION,
        "toy-grid-training",
    );
    assert_eq!(admit(&repository, both).census().to_string(), "");
    let moved = |id: &str, row: &mut Reference| {
        both(id, row);
        if id == "toy-grid-second" {
            row.p_broken = 3.0;
        }
    };
    let catalog = admit(&repository, moved);
    let stale = catalog.malfunctions().filter(|one| {
        let state = catalog.reference(one);
        matches!(state, ReferenceState::Stale(why) if why.contains("half"))
    });
    assert_eq!(stale.count(), 5);
}

#[test]
fn the_readme_tells_what_is_admitted_and_every_other_measured_strength() {
    let repository = Repository::sound();
    let candidate = |entry: &str, ladder: &str| {
        format!(
            "[[candidate]]\nentry = \"{entry}\"\nclass = \"reward-imbalance\"\nwhat = \"pay {{strength}}\"\nladder = [{ladder}]\n\
             declined = \"too much\"\n[[candidate.edit]]\nfile = \"evalxrl_envs/toy_grid/environment.py\"\n\
             from = \"return 10\"\nto = \"return {{strength}}\"\n"
        )
    };
    let ladders = "format = \"evalxrl.candidates/1\"\nenvironment = \"toy_grid\"\n".to_owned()
        + &candidate("P1", r#""5", "1", "0""#)
        + &candidate("P2", r#""3""#);
    repository.write("malfunctions/candidates/toy_grid.toml", ladders);
    let rung = |strength: &str, n: u32, gap: f64, reason: &str| {
        format!(
            "[[rung]]\nentry = \"P1\"\nclass = \"reward-imbalance\"\nstrength = \"{strength}\"\nsource = \"s\"\nedit = \"e\"\n\
             n = {n}\np_clean = 9.0\np_broken = {:?}\np_random = -2.0\ngap_over_span = {:?}\nclean_beats_broken = 1.0\n\
             gap_over_error = inf\nabove_random = 0.25\nreason = \"{reason}\"\n",
            9.0 - gap,
            gap / 11.0
        )
    };
    let figures = "format = \"evalxrl.candidate-figures/1\"\nenvironment = \"toy_grid\"\n"
        .to_owned()
        + &rung("5", 3, 1.0, "A1")
        + &rung("1", 10, 5.0, "")
        + &rung("0", 10, 11.0, "")
        + &rung("7", 10, 11.0, "")
        + &rung("3", 10, 11.0, "").replace("P1", "P2");
    repository.write("malfunctions/candidates/toy_grid.figures.toml", figures);
    let catalog = admit(&repository, |_, row| row.floor = true);
    let text = "# Malfunctions\n<!-- admitted: begin -->\n<!-- admitted: end -->\n\n<!-- candidates: begin -->\n<!-- candidates: end -->\n";
    let made = catalog.readme(text).unwrap();
    assert_eq!(catalog.readme(&made).unwrap(), made);
    let id = MalfunctionId::new(MALFUNCTION).unwrap();
    for row in [
        format!("| `{id}` | reward-imbalance | environment | P1 1 | 9.00 | 4.00 | -2.00 | 0.45 | 1.00 | 50.0 | 1.00 | 0.10 | floor |"),
        "| P1 | toy_grid | pay 5 | 3 | 9.00 | 8.00 | -2.00 | 0.09 | 1.00 | inf |  | A1; floor |".to_owned(),
        "| P1 | toy_grid | pay 0 | 10 | 9.00 | -2.00 | -2.00 | 1.00 | 1.00 | inf |  | passes; a weaker one is taken; floor |".to_owned(),
        "| P2 | toy_grid | pay 3 | 10 | 9.00 | -2.00 | -2.00 | 1.00 | 1.00 | inf |  | too much; floor |".to_owned(),
    ] {
        assert!(made.lines().any(|line| line == row), "{row}\n{made}");
    }
    assert!(!made.contains("pay 7 |"), "no ladder has it:\n{made}");
    assert!(
        !made.contains("pay 1 |"),
        "a rung that a folder uses is no candidate:\n{made}"
    );
}

#[test]
fn the_row_of_a_removed_folder_is_told_by_check_and_dropped_by_the_next_measuring() {
    let repository = Repository::sound();
    repository.malfunction("toy-grid-gone", |text| text, |diff| diff);
    admit(&repository, |_, _| {});
    std::fs::remove_dir_all(repository.path("malfunctions/toy-grid-gone")).unwrap();
    let told = Catalog::load(repository.root()).unwrap().census();
    assert!(
        told.to_string().contains("toy-grid-gone") && told.list().len() == 1,
        "{told}"
    );
    // Nothing is stale, so nothing is trained: the Python need not exist.
    let done = Command::new(env!("CARGO_BIN_EXE_evalxrl"))
        .args(["reference", "--python", "/nowhere"])
        .current_dir(repository.root())
        .env_remove("EVALXRL_ROOT")
        .output()
        .unwrap();
    assert!(done.status.success(), "{done:?}");
    let left = Catalog::load(repository.root()).unwrap();
    let ids: Vec<&str> = left.references().ids().map(MalfunctionId::as_str).collect();
    assert_eq!(ids, [MALFUNCTION]);
    assert_eq!(left.census().to_string(), "");
}
