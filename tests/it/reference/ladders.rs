//! How candidates are screened: what ends a ladder, what is refused, what is measured again.

use evalxrl::catalog::{CandidateFigures, Catalog, Problems};
use evalxrl::reference::{Bureau, Cache, ReferenceError, Step};

use super::pretended::{CONFIG, Pretended};
use crate::repository::Repository;

/// A file of one candidate that writes a line in place of the pay.
fn write(repository: &Repository, ladder: &str, to: &str) {
    let text = format!(
        "format = \"evalxrl.candidates/1\"\nenvironment = \"toy_grid\"\n[[candidate]]\nentry = \"P1\"\n\
         class = \"reward-imbalance\"\nwhat = \"pay {{strength}}\"\nladder = {ladder}\n[[candidate.edit]]\n\
         file = \"evalxrl_envs/toy_grid/environment.py\"\nfrom = \"    return 10 * here\"\nto = \"\"\"{to}\"\"\"\n"
    );
    repository.write("malfunctions/candidates/toy_grid.toml", text);
}

/// Climbs the ladder once, beginning from what is known, and gives each step and what is known then.
fn climb(
    repository: &Repository,
    laboratory: &mut Pretended,
    mut known: CandidateFigures,
) -> (Vec<Step>, CandidateFigures) {
    let (catalog, problems) = Catalog::survey(repository.root());
    assert_eq!(problems.to_string(), "");
    assert_eq!(catalog.check_candidates().to_string(), "");
    let environment = catalog.environments().next().unwrap();
    let candidates = catalog.candidates().next().unwrap();
    let cache = Cache::below(&repository.path("cache"));
    let mut steps = Vec::new();
    let before = known.clone();
    let mut each = |step: Step| -> Result<(), ReferenceError> {
        known.insert(step.rung.clone(), candidates);
        steps.push(step);
        Ok(())
    };
    Bureau::new(&catalog, laboratory, cache, &|_| {})
        .climb(environment, &candidates.list[0], &before, &mut each)
        .unwrap();
    (steps, known)
}

fn none() -> CandidateFigures {
    CandidateFigures::none("toy_grid".parse().unwrap())
}

fn reasons(steps: &[Step]) -> Vec<(String, usize, String)> {
    let of = |step: &Step| {
        let rung = &step.rung;
        (rung.strength.clone(), rung.n, rung.reason.clone())
    };
    steps.iter().map(of).collect()
}

fn told(strength: &str, n: usize, reason: &str) -> (String, usize, String) {
    (strength.to_owned(), n, reason.to_owned())
}

#[test]
fn the_first_strength_that_meets_every_rule_ends_the_ladder_and_nothing_is_measured_twice() {
    let repository = Repository::sound();
    let mut laboratory = Pretended::default();
    write(
        &repository,
        "[\"9\", \"8\", \"4\", \"1\"]",
        "    return {strength} * here",
    );
    let (steps, known) = climb(&repository, &mut laboratory, none());
    let expected = [told("9", 3, "A1"), told("8", 3, "A1"), told("4", 10, "")];
    assert_eq!(reasons(&steps), expected);
    assert_eq!(
        laboratory.trained[..4],
        [3, 3, 3, 3],
        "clean and three rungs"
    );
    assert_eq!(
        laboratory.trained[4..7],
        [10, 10, 10],
        "clean, broken, repaired"
    );

    let text = known.to_text().unwrap();
    let mut problems = Problems::none();
    let place = "malfunctions/candidates/toy_grid.figures.toml";
    assert_eq!(
        CandidateFigures::read(place, &text, &mut problems).unwrap(),
        known
    );
    let (trained, played) = (laboratory.trained.len(), laboratory.played.len());
    let (again, same) = climb(&repository, &mut laboratory, known);
    assert!(again.iter().all(|step| !step.new));
    assert_eq!(same.to_text().unwrap(), text);
    assert_eq!(
        (laboratory.trained.len(), laboratory.played.len()),
        (trained, played)
    );
}

#[test]
fn another_edit_or_another_source_is_measured_anew() {
    let repository = Repository::sound();
    let mut laboratory = Pretended::default();
    write(
        &repository,
        "[\"9\", \"8\"]",
        "    return {strength} * here",
    );
    let (_, known) = climb(&repository, &mut laboratory, none());
    write(
        &repository,
        "[\"9\", \"7\"]",
        "    return {strength} * here",
    );
    let (steps, known) = climb(&repository, &mut laboratory, known);
    assert_eq!(
        steps.iter().map(|step| step.new).collect::<Vec<_>>(),
        [false, true]
    );
    let kept: Vec<&str> = known
        .rungs
        .iter()
        .map(|rung| rung.strength.as_str())
        .collect();
    assert_eq!(kept, ["9", "7"], "a rung that no ladder has is dropped");
    let config = std::fs::read_to_string(repository.path(&format!("envs/{CONFIG}"))).unwrap();
    repository.write(&format!("envs/{CONFIG}"), config + "\n");
    let (steps, _) = climb(&repository, &mut laboratory, known.clone());
    assert!(steps.iter().all(|step| step.new));
    let (catalog, _) = Catalog::survey(repository.root());
    let mut partly = known;
    partly.insert(steps[0].rung.clone(), catalog.candidates().next().unwrap());
    assert_eq!(
        partly.rungs.iter().collect::<Vec<_>>(),
        [&steps[0].rung],
        "what another source gave does not stand beside"
    );
}

#[test]
fn a_fault_that_crashes_or_takes_longer_or_gives_way_to_tuning_is_refused_by_name() {
    let mut laboratory = Pretended::default();
    for (to, n, reason) in [
        (
            "    raise ValueError(here)\n    return {strength} * here",
            3,
            "crash",
        ),
        ("    slowly = 1\n    return {strength} * here", 10, "time"),
        ("    forgiving = 1\n    return {strength} * here", 10, "A7"),
    ] {
        let repository = Repository::sound();
        write(&repository, "[\"2\"]", to);
        let (steps, _) = climb(&repository, &mut laboratory, none());
        assert_eq!(reasons(&steps), [told("2", n, reason)]);
        assert_eq!(steps[0].crash.is_some(), reason == "crash");
    }
}
