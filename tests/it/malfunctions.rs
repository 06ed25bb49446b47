//! Knows what this repository's own malfunctions must be: sound, admitted, and within reach of `search`.
#![expect(
    clippy::unwrap_used,
    reason = "a fixture that cannot be made ends the test"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use evalxrl::catalog::{Catalog, Class, Malfunction, OVERVIEW, ReferenceState};
use evalxrl::coder::search::{candidates, rank_of};
use evalxrl::plan::{Experiment, Selection};
use evalxrl::vocab::{RootSeed, SeedName};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn catalog() -> Catalog {
    Catalog::load(root()).unwrap()
}

/// Rank of the restoring edit and number of candidates when `search` has read a text.
fn rank(catalog: &Catalog, malfunction: &Malfunction, query: &str) -> (Option<usize>, usize) {
    let clean = catalog.source(&malfunction.environment).unwrap();
    let faulty = malfunction.apply(clean).unwrap();
    let text = |bytes: &Vec<u8>| String::from_utf8_lossy(bytes).into_owned();
    let files: BTreeMap<String, String> = faulty
        .iter()
        .map(|(path, bytes)| (path.clone(), text(bytes)))
        .collect();
    let restored = clean
        .iter()
        .filter(|(path, bytes)| faulty.get(*path) != Some(bytes))
        .map(|(path, bytes)| (path.clone(), text(bytes)))
        .collect();
    let seed = RootSeed::weak(0).derive(&SeedName::new("search/test"));
    let order = candidates(&files, query, &seed).ordered;
    (rank_of(&order, &files, &restored), order.len())
}

#[test]
fn the_catalogue_has_no_defect_and_at_least_four_admitted_classes() {
    let catalog = catalog();
    assert_eq!(catalog.stray_bounds().to_string(), "");
    let admitted: Vec<&Malfunction> = catalog
        .malfunctions()
        .filter(|one| matches!(catalog.reference(one), ReferenceState::Fresh(_)))
        .collect();
    let classes: BTreeSet<Class> = admitted.iter().map(|one| one.class).collect();
    assert!(
        classes.len() >= 4,
        "{} admitted, classes {classes:?}; run `evalxrl reference`",
        admitted.len()
    );
}

#[test]
fn the_tables_of_the_readme_are_what_was_measured() {
    let catalog = catalog();
    let text = std::fs::read_to_string(root().join(OVERVIEW)).unwrap();
    let made = catalog.readme(&text).unwrap();
    assert!(made == text, "run `evalxrl reference --tables`");
    assert_eq!(catalog.census().to_string(), "");
    assert_eq!(catalog.check_candidates().to_string(), "");
}

#[test]
fn the_oracle_text_brings_the_restoring_edit_of_each_pilot_malfunction_within_the_pilot_s_candidates()
 {
    let catalog = catalog();
    let path = root().join("analysis/plans/pilot.toml");
    let (pilot, problems) = Experiment::read("pilot.toml", &std::fs::read_to_string(path).unwrap());
    assert!(problems.is_empty(), "{problems}");
    let pilot = pilot.unwrap();
    let tried = pilot.coders[0].candidates.unwrap() as usize;
    for selection in &pilot.malfunctions {
        let Selection::One(id) = selection else {
            panic!("the pilot names its malfunctions one by one")
        };
        let malfunction = catalog.malfunction(id).unwrap();
        let (rank, found) = rank(&catalog, malfunction, &malfunction.oracle);
        let rank = rank.unwrap_or_else(|| panic!("no single edit restores {id}"));
        assert!(
            rank <= tried,
            "{id}: rank {rank} of {found}, and {tried} are tried"
        );
    }
}
