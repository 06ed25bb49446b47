//! Knows the rules over the catalogue as a whole: how many floor pairs, what composites are made of, rows of folders that are gone.
//! Must not know the rules of a single malfunction.
//! Start at `check`.

use std::collections::BTreeMap;

use super::malfunction::{Class, Malfunction};
use super::references::{REFERENCES, ReferenceState};
use super::{Catalog, Problem, Problems};

/// Most floor pairs of the catalogue (A6).
const MOST_FLOORS: usize = 4;
/// Composites from which on some must join different targets (K5), and how many of them.
const COMPOSITES: usize = 6;
const MIXED: usize = 2;

/// Checks floor pairs, targets of composites and left-over rows; measuring mends these, so loading bears them.
pub(super) fn check(catalog: &Catalog) -> Problems {
    let mut problems = Problems::none();
    floors(catalog, &mut problems);
    composites(catalog, &mut problems);
    left_over(catalog, &mut problems);
    problems
}

fn floors(catalog: &Catalog, problems: &mut Problems) {
    let mut by_class: BTreeMap<Class, Vec<&str>> = BTreeMap::new();
    for malfunction in catalog.malfunctions() {
        if let ReferenceState::Fresh(row) = catalog.reference(malfunction)
            && row.floor
        {
            let list = by_class.entry(malfunction.class).or_default();
            list.push(malfunction.id.as_str());
        }
    }
    let mut told = |wrong: String| {
        let remedy = "remove the folder of one, or admit a weaker strength (A6)";
        problems.push(Problem::new(REFERENCES, "floor", wrong, remedy));
    };
    for (class, list) in by_class.iter().filter(|(_, list)| list.len() > 1) {
        told(format!(
            "{class} has {} floor pairs, not one: {}",
            list.len(),
            list.join(", ")
        ));
    }
    let all: Vec<&str> = by_class.into_values().flatten().collect();
    if all.len() > MOST_FLOORS {
        told(format!(
            "there are {} floor pairs, more than {MOST_FLOORS}: {}",
            all.len(),
            all.join(", ")
        ));
    }
}

fn composites(catalog: &Catalog, problems: &mut Problems) {
    let (mut count, mut mixed) = (0, 0);
    for composite in catalog.malfunctions() {
        if composite.class != Class::Composite {
            continue;
        }
        let halves: Vec<Option<&Malfunction>> = composite
            .halves
            .iter()
            .map(|id| catalog.malfunctions.get(id))
            .collect();
        let [Some(first), Some(second)] = halves[..] else {
            continue;
        };
        count += 1;
        mixed += usize::from(first.target != second.target);
    }
    if count >= COMPOSITES && mixed < MIXED {
        problems.push(Problem::new(
            "malfunctions",
            "composites",
            format!("{mixed} of {count} join halves of different targets, fewer than {MIXED}"),
            "join a training half with one of environment or serving (K5)",
        ));
    }
}

fn left_over(catalog: &Catalog, problems: &mut Problems) {
    for id in catalog.references.ids() {
        // A folder with a defect is told about elsewhere; its row is not in vain.
        if !catalog.malfunctions.contains_key(id) && !catalog.has_folder(id) {
            problems.push(Problem::new(
                REFERENCES,
                id.as_str(),
                "there is no such malfunction",
                "run `evalxrl reference`, which drops the row",
            ));
        }
    }
}
