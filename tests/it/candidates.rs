//! Knows what a defect of each rule of candidates looks like, and that all of them are told in one run.

use evalxrl::catalog::{CandidateFigures, Catalog, Edit, Problems};

use crate::repository::Repository;

const PLACE: &str = "malfunctions/candidates/toy_grid.toml";
const HEAD: &str = "format = \"evalxrl.candidates/1\"\nenvironment = \"toy_grid\"\n";
const SOUND: &str = r#"
[[candidate]]
entry = "P1"
class = "reward-imbalance"
what = "the treasure pays {strength}"
ladder = ["5", "1"]
skip = ["gamma"]
[[candidate.edit]]
file = "evalxrl_envs/toy_grid/environment.py"
from = "return 10 * here"
to = "return {strength} * here"
"#;

fn told(repository: &Repository) -> Vec<String> {
    let (catalog, mut problems) = Catalog::survey(repository.root());
    problems.extend(catalog.check_candidates());
    problems.list().iter().map(ToString::to_string).collect()
}

#[test]
fn a_sound_candidate_has_no_defect_and_its_rungs_are_faults_of_their_own() {
    let repository = Repository::sound();
    repository.write(PLACE, HEAD.to_owned() + SOUND);
    assert_eq!(told(&repository), Vec::<String>::new());
    let catalog = Catalog::load(repository.root()).unwrap();
    let environment = catalog.environments().next().unwrap();
    let candidate = catalog.candidates().next().unwrap().entry("P1").unwrap();
    let diff = candidate.diff("5", &environment.source).unwrap().unwrap();
    let added: Vec<(&str, &str)> = diff.lines(Edit::Add).collect();
    let path = "evalxrl_envs/toy_grid/environment.py";
    assert_eq!(added, [(path, "    return 5 * here")]);
    let broken = candidate.apply("5", &environment.source).unwrap();
    assert_eq!(diff.apply(&environment.source).unwrap(), broken);
    assert_eq!(candidate.told("5"), "the treasure pays 5");
}

/// Each entry: a name, what to write instead of what in the sound candidate, and a fragment of the message.
const DEFECTS: &[(&str, &str, &str, &str)] = &[
    ("A1", "\"A1\"", "\"A 1\"", "`A 1` is no name of a candidate"),
    (
        "A2",
        "\"reward-imbalance\"",
        "\"slowness\"",
        "class: \"slowness\" is not accepted",
    ),
    (
        "A3",
        "\"reward-imbalance\"",
        "\"composite\"",
        "`composite` has no ladder",
    ),
    (
        "A4",
        "\"the treasure pays {strength}\"",
        "\" \"",
        "what: is empty",
    ),
    ("A5", "[\"5\", \"1\"]", "[]", "ladder: is empty or repeats"),
    (
        "A6",
        "[\"5\", \"1\"]",
        "[\"5\", \"5\"]",
        "ladder: is empty or repeats",
    ),
    ("A7", "[\"5\", \"1\"]", "5", "ladder: 5 is not accepted"),
    (
        "A8",
        "[\"gamma\"]",
        "[\"clip\"]",
        "skip: [\"clip\"] is not accepted",
    ),
    ("A9", "skip", "skpi", "did you mean `skip`?"),
    (
        "B1",
        "toy_grid/environment.py",
        "toy_grid/nowhere.py",
        "which a workspace does not hold",
    ),
    ("B2", "return 10", "return 11", "occurs 0 times"),
    (
        "B3",
        "from = \"return 10 * here\"",
        "from = \"e\"",
        "`e` occurs 8 times",
    ),
    (
        "B4",
        "from = \"return 10 * here\"",
        "from = \"\"",
        "from: is empty",
    ),
    (
        "B5",
        "return {strength} * here",
        "return 1 * here",
        "is the same fault as strength `5`",
    ),
    (
        "B6",
        "return {strength} * here",
        "return 10 * here",
        "changes nothing",
    ),
    (
        "B7",
        "{strength} * here\"",
        "{strength} * here # less\"",
        "adds the comment `# less`",
    ),
    (
        "B8",
        "return {strength} *",
        "return ({strength} *",
        "is no longer Python",
    ),
    (
        "B9",
        "return {strength} * here",
        "1\\n    1\\n    1\\n    1\\n    1\\n    1\\n    return {strength}",
        "adds 7 lines",
    ),
    (
        "C1",
        "{strength} * here\"",
        "{strength} * here \"",
        "white space at its end",
    ),
    (
        "C2",
        "toy_grid/environment.py\"\nfrom = \"return 10 * here\"",
        "__main__.py\"\nfrom = \"import sys\"",
        "outside the permitted folders",
    ),
    ("C3", "what", "why", "what: is missing"),
];

#[test]
fn one_run_tells_a_planted_defect_of_each_rule_of_a_candidate() {
    let repository = Repository::sound();
    let mut text = HEAD.to_owned() + SOUND + SOUND;
    for (name, from, to, _) in DEFECTS {
        let own = SOUND.replace("\"P1\"", &format!("\"{name}\""));
        assert!(own.contains(from), "{name}");
        text.push_str(&own.replacen(from, to, 1));
    }
    repository.write(PLACE, text);
    repository.write("malfunctions/candidates/other.toml", HEAD);
    repository.write(
        "malfunctions/candidates/elsewhere.toml",
        "format = \"x\"\nenvironment = \"elsewhere\"\n",
    );
    repository.write("malfunctions/candidates/notes.txt", "x");
    repository.write(
        "malfunctions/candidates/toy_grid.figures.toml",
        "format = \"x\"\nenvironment = \"toy_grid\"\n",
    );
    let told = told(&repository);
    let has = |place: &str, fragment: &str| {
        assert!(
            told.iter()
                .any(|line| line.starts_with(place) && line.contains(fragment)),
            "no problem of {place} says `{fragment}`: {told:#?}"
        );
    };
    for (_, _, _, fragment) in DEFECTS {
        has(PLACE, fragment);
    }
    has(PLACE, "P1: is the name of two candidates");
    has(
        "malfunctions/candidates/other.toml",
        "is not the name of the file",
    );
    has(
        "malfunctions/candidates/elsewhere.toml",
        "format: `x` is not known",
    );
    has(
        "malfunctions/candidates/elsewhere.toml",
        "there is no environment `elsewhere`",
    );
    has("malfunctions/candidates/notes.txt", "does not belong here");
    has(
        "malfunctions/candidates/toy_grid.figures.toml",
        "format `x` is not",
    );
}

#[test]
fn measured_files_that_were_spoiled_are_told_by_place_and_keep_no_row() {
    let repository = Repository::sound();
    repository.write(PLACE, HEAD.to_owned() + SOUND);
    let figures = "malfunctions/candidates/toy_grid.figures.toml";
    let head = "format = \"evalxrl.candidate-figures/1\"\nenvironment = \"toy_grid\"\n";
    let rung = "[[rung]]\nentry = \"P1\"\nclass = \"reward-imbalance\"\nstrength = \"2\"\nsource = \"s\"\nedit = \"e\"\n\
                n = 3\np_clean = 1.0\np_random = 0.0\nreason = \"A1\"\n";
    let rows = "malfunctions/references.toml";
    for (place, text, fragment) in [
        (figures, format!("{head}{rung}"), ""),
        (figures, format!("{head}{rung}gap_over_error = inf\n"), ""),
        (
            figures,
            format!("{head}{}", rung.replace("1.0", "nan")),
            "rung[0].p_clean: is not a finite number",
        ),
        (
            figures,
            format!("{head}{rung}tuned = -inf\n"),
            "rung[0].tuned: is not a finite number",
        ),
        (
            figures,
            format!("{head}[[rung]]\nentry"),
            "line 4: cannot be read",
        ),
        (
            figures,
            String::new(),
            "cannot be read: missing field `format`",
        ),
        (
            rows,
            "format = \"evalxrl.references/1\"\n[malfunctions.a]\np_clean = nan\n".into(),
            "malfunctions.a.p_clean: is not a finite number",
        ),
        (
            rows,
            "format = \"evalxrl.references/1\"\n[malfunctions".into(),
            "line 2: cannot be read",
        ),
    ] {
        repository.write(place, &text);
        let told = told(&repository);
        assert_eq!(told.is_empty(), fragment.is_empty(), "{text}: {told:#?}");
        assert!(
            told.iter()
                .all(|line| line.starts_with(place) && line.contains(fragment)),
            "{text}: {told:#?}"
        );
        assert!(
            told.iter()
                .all(|line| line.contains("take it back from version control")),
            "{told:#?}"
        );
        repository.remove(place);
    }
}

#[test]
fn figures_of_another_environment_are_refused() {
    let mut problems = Problems::none();
    let text = CandidateFigures::none("there".parse().unwrap())
        .to_text()
        .unwrap();
    let place = CandidateFigures::place(&"here".parse().unwrap());
    assert_eq!(CandidateFigures::read(&place, &text, &mut problems), None);
    assert!(problems.to_string().contains("is of there"), "{problems}");
}
