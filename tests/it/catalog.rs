//! Knows what a defect of each rule looks like, and that all of them are told in one run.
#![expect(
    clippy::unwrap_used,
    reason = "a fixture that cannot be made ends the test"
)]

use evalxrl::catalog::{Catalog, Dossier, Secrets, ToolCall, ToolRun, check_tools};

use crate::repository::{MALFUNCTION, Repository};

fn told(repository: &Repository) -> Vec<String> {
    let (_, problems) = Catalog::survey(repository.root());
    problems.list().iter().map(ToString::to_string).collect()
}

fn expect(told: &[String], place: &str, fragment: &str) {
    assert!(
        told.iter()
            .any(|line| line.starts_with(place) && line.contains(fragment)),
        "no problem of {place} says `{fragment}`: {told:#?}"
    );
}

#[test]
fn a_sound_repository_has_no_defect() {
    let repository = Repository::sound();
    assert_eq!(told(&repository), Vec::<String>::new());
    let catalog = Catalog::load(repository.root()).unwrap();
    let malfunction = catalog.malfunctions().next().unwrap();
    let clean = catalog.source(&malfunction.environment).unwrap();
    let faulty = malfunction.apply(clean).unwrap();
    let path = "evalxrl_envs/toy_grid/environment.py";
    assert!(String::from_utf8_lossy(&faulty[path]).contains("return 1 * here"));
    assert!(
        malfunction
            .reverse_diff()
            .contains("+    return 10 * here\n")
    );
    assert!(!malfunction.touches_serving());
}

/// Each entry: folder, what to write instead of what in its manifest, and a fragment of the message.
const MANIFEST_DEFECTS: &[(&str, &str, &str, &str)] = &[
    (
        "toy-grid-a",
        "id = \"toy-grid-a\"",
        "id = \"toy-grid-b\"",
        "is not the name of its folder",
    ),
    (
        "other-b",
        "id = \"other-b\"",
        "id = \"other-b\"",
        "does not begin with its environment",
    ),
    (
        "toy-grid-c",
        "version = 1",
        "version = 0",
        "version: 0 is too small",
    ),
    (
        "toy-grid-d",
        "\"reward-imbalance\"",
        "\"slowness\"",
        "class: \"slowness\" is not accepted",
    ),
    (
        "toy-grid-e",
        "\"environment\"\ntax",
        "\"network\"\ntax",
        "target: \"network\" is not accepted",
    ),
    (
        "toy-grid-f",
        "taxonomy = \"none\"",
        "taxonomy = \"mine\"",
        "is not an entry of a known taxonomy",
    ),
    (
        "toy-grid-g",
        "The scored reward is untouched.",
        "",
        "summary: has 1 sentences",
    ),
    (
        "toy-grid-h",
        "evalxrl_envs/toy_grid/environment.py, reward",
        "reward",
        "oracle: does not name",
    ),
    (
        "toy-grid-i",
        "`    return 10 * here`",
        "the right pay",
        "oracle: does not quote the correct line",
    ),
    (
        "toy-grid-j",
        "[\"The agent ignores the treasure.\"]",
        "[]",
        "causal: has no entry",
    ),
    (
        "toy-grid-k",
        "the treasure.\"",
        "the treasure. It waits.\"",
        "is not one sentence",
    ),
    (
        "toy-grid-l",
        "[\"Episodes are long.\"]",
        "[\"\"]",
        "not_causal: has no entry or an empty one",
    ),
    (
        "toy-grid-m",
        "min_gap = 5.0",
        "min_gap = 0.0",
        "min_gap: 0 is not a gap",
    ),
    ("toy-grid-n", "min_gap", "mingap", "did you mean `min_gap`?"),
    (
        "toy-grid-o",
        "\"reward-imbalance\"",
        "\"composite\"",
        "halves: has 0 entries",
    ),
    (
        "toy-grid-p",
        "version = 1",
        "halves = [\"toy-grid-a\", \"toy-grid-c\"]\nversion = 1",
        "belongs to composites only",
    ),
    (
        "toy-grid-q",
        "environment = \"toy_grid\"",
        "environment = \"toy\"",
        "environment: `toy` is not known",
    ),
    (
        "toy-grid-r",
        "[\"small-method\"]",
        "[\"big-method\"]",
        "does not name big-method",
    ),
    (
        "toy-grid-s",
        "held_out = false",
        "held_out = \"no\"",
        "held_out: \"no\" is not accepted",
    ),
    ("toy-grid-t", "version = 1", "version = = 1", "is not TOML"),
    (
        "toy-grid-u",
        "\"reward-imbalance\"\nheld_out = false",
        "\"composite\"\nhalves = [\"toy-grid-a\", \"toy-grid-nowhere\"]\nheld_out = true",
        "halves: `toy-grid-nowhere` is no single malfunction of toy_grid",
    ),
    (
        "toy-grid-v",
        "\"reward-imbalance\"",
        "\"composite\"",
        "held_out: is false, and composites are held out",
    ),
    (
        "toy-grid-w",
        "expected_to_reveal = [\"small-method\"]",
        "expected_to_reveal = \"small-method\"",
        "expected_to_reveal: \"small-method\" is not accepted",
    ),
];

#[test]
fn one_run_tells_a_planted_defect_of_each_rule_of_a_manifest() {
    let repository = Repository::sound();
    for (id, from, to, _) in MANIFEST_DEFECTS {
        repository.malfunction(
            id,
            |text| {
                assert!(text.contains(from), "{id}");
                text.replace(from, to)
            },
            |diff| diff,
        );
    }
    let told = told(&repository);
    for (id, _, _, fragment) in MANIFEST_DEFECTS {
        expect(&told, &format!("malfunctions/{id}/"), fragment);
    }
    assert!(
        !told.iter().any(|line| line.contains(MALFUNCTION)),
        "{told:#?}"
    );
}

/// A change of the text of a sound diff.
type Spoil = Box<dyn Fn(String) -> String>;

#[test]
fn one_run_tells_a_planted_defect_of_each_rule_of_a_diff() {
    let repository = Repository::sound();
    let swap = |from: &'static str, to: &'static str| move |diff: String| diff.replace(from, to);
    let added = "+    return 1 * here\n";
    let long = "evalxrl_envs/agents/long.py";
    repository.write(&format!("envs/{long}"), "x = 1\n".repeat(8));
    let removal = format!(
        "--- a/{long}\n+++ b/{long}\n@@ -1,8 +1,1 @@\n{} x = 1\n",
        "-x = 1\n".repeat(7)
    );
    let defects: Vec<(&str, Spoil, &str)> = vec![
        (
            "toy-grid-idle",
            Box::new(swap("+    return 1 * here", "+    return 10 * here")),
            "changes nothing",
        ),
        (
            "toy-grid-lost",
            Box::new(move |diff: String| diff + added),
            "1 lines belong to no hunk",
        ),
        (
            "toy-grid-a",
            Box::new(swap("10 * here", "11 * here")),
            "does not apply",
        ),
        (
            "toy-grid-b",
            Box::new(swap("@@ -1,3 +1,3", "@@ -2,3 +2,3")),
            "does not apply",
        ),
        (
            "toy-grid-c",
            Box::new(move |diff: String| {
                diff.replace("+1,3", "+1,10")
                    .replace(added, &added.repeat(8))
            }),
            "adds 8 lines",
        ),
        (
            "toy-grid-d",
            Box::new(swap("1 * here", "1 * here  # less")),
            "adds the comment `# less`",
        ),
        (
            "toy-grid-e",
            Box::new(swap("1 * here", "1 * (here")),
            "is no longer Python",
        ),
        (
            "toy-grid-f",
            Box::new(swap("toy_grid/environment.py", "scoring/driver.py")),
            "outside the permitted folders",
        ),
        (
            "toy-grid-g",
            Box::new(swap("\n", "\r\n")),
            "carriage return",
        ),
        (
            "toy-grid-h",
            Box::new(swap("environment.py", "nowhere.py")),
            "which is not there",
        ),
        (
            "toy-grid-i",
            Box::new(swap("+    return 1 * here", "+    return 1 * here ")),
            "white space at its end",
        ),
        (
            "toy-grid-j",
            Box::new(swap("--- a/", "we break it\n--- a/")),
            "line 1: is no header",
        ),
        (
            "toy-grid-k",
            Box::new(swap("1 * here", "1 * here_reward_imbalance")),
            "a coder would read `reward_imbalance`",
        ),
        (
            "toy-grid-l",
            Box::new(|_| String::new()),
            "is not a unified diff",
        ),
        (
            "toy-grid-m",
            Box::new(swap("--- a/evalxrl_envs", "--- evalxrl_envs")),
            "not a/PATH",
        ),
        (
            "toy-grid-n",
            Box::new(move |_| removal.clone()),
            "removes 7 lines",
        ),
        (
            "toy-grid-o",
            Box::new(swap("-    return 10 * here\n+", "+")),
            "hunk header does not match hunk",
        ),
    ];
    for (id, spoil, _) in &defects {
        repository.malfunction(id, |text| text, spoil);
    }
    repository.remove("malfunctions/toy-grid-a/README.md");
    repository.write("malfunctions/toy-grid-b/notes.txt", "x");
    let told = told(&repository);
    for (id, _, fragment) in &defects {
        expect(&told, &format!("malfunctions/{id}/fault.diff"), fragment);
    }
    expect(&told, "malfunctions/toy-grid-a/README.md", "is missing");
    expect(
        &told,
        "malfunctions/toy-grid-b",
        "notes.txt: does not belong here",
    );
}

#[test]
fn one_run_tells_a_planted_defect_of_each_rule_of_a_dossier() {
    let repository = Repository::sound();
    let defects: &[(&str, &str, &str, &str)] = &[
        (
            "a",
            "id = \"a\"",
            "id = \"aa\"",
            "is not the name of its folder",
        ),
        (
            "b",
            "method = \"b\"",
            "method = \"other\"",
            "does not go with the id",
        ),
        (
            "c",
            "\"default\"",
            "\"rich\"",
            "packaging: is `rich`, but the id",
        ),
        ("d", "\"1.0.0\"", "\"1.0\"", "is no semantic version"),
        (
            "e",
            "\"Apache-2.0\"",
            "\"free, mostly\"",
            "is no SPDX expression",
        ),
        (
            "f",
            "[\"toy_grid\"]",
            "[\"nowhere\"]",
            "environments: `nowhere` is not known",
        ),
        ("g", "[\"toy_grid\"]", "[]", "environments: is empty"),
        (
            "h",
            "[\"names\"]",
            "[\"telepathy\"]",
            "needs: `telepathy` is not known",
        ),
        (
            "i",
            "timeout_s = 60",
            "timeout_s = 301",
            "301 is out of range",
        ),
        (
            "j",
            "argv = [\"python\", \"-m\", \"small\"]",
            "argv = \"python\"",
            "argv: \"python\" is not accepted",
        ),
        (
            "k",
            "name = \"k-look\"",
            "name = \"small-method-look\"",
            "bears the name of a tool of",
        ),
        (
            "l",
            "help = \"looks at the agent\"",
            "help = \"a\\nb\"",
            "is not one line",
        ),
        ("m", "title", "titel", "did you mean `title`?"),
        (
            "n",
            "papers/somebody-2020.md",
            "papers/nobody.md",
            "is not a file below papers/",
        ),
        ("o", "version", "access = []\nversion", "access: is empty"),
        (
            "p",
            "Small method",
            "Reward-Hacking finder",
            "a coder would read `reward-hacking`",
        ),
    ];
    for (id, from, to, _) in defects {
        repository.dossier(id, |text| {
            assert!(text.contains(from), "{id}");
            text.replacen(from, to, 1)
        });
    }
    for id in ["q", "r", "s", "t", "u", "v"] {
        repository.dossier(id, |text| text);
    }
    repository.write("dossiers/q/papers/scan.pdf", [0xff, 0xd8, 0x00]);
    repository.write("dossiers/r/papers/somebody-2020.md", "too short");
    repository.write("dossiers/s/README.md", "word ".repeat(1501));
    repository.write("dossiers/t/examples/two.md", "x");
    repository.write(
        "dossiers/u/tests/golden/out.txt",
        "This should be repaired.\n",
    );
    repository.remove("dossiers/v/tools");
    let told = told(&repository);
    expect(&told, "dossiers/small-method", "name of a tool of k");
    for (id, _, _, fragment) in defects {
        expect(&told, &format!("dossiers/{id}"), fragment);
    }
    expect(&told, "dossiers/q", "papers/scan.pdf: is a binary document");
    expect(&told, "dossiers/r", "has 2 words");
    expect(&told, "dossiers/s", "README.md: has 1501 words");
    expect(&told, "dossiers/t", "examples: holds 2 files");
    expect(&told, "dossiers/u", "holds the verdict word `should`");
    expect(&told, "dossiers/v", "has neither src/ nor tools/");
}

fn ran(stdout: &str, seconds: f64) -> ToolRun {
    ToolRun {
        code: Some(0),
        stdout: stdout.as_bytes().to_vec(),
        stderr: Vec::new(),
        seconds,
    }
}

fn check(run: &mut dyn FnMut(ToolCall<'_>) -> ToolRun) -> String {
    let repository = Repository::sound();
    let catalog = Catalog::load(repository.root()).unwrap();
    let dossier: &Dossier = catalog.dossiers().next().unwrap();
    let secrets: Secrets = catalog.secrets();
    let mut called = |call: ToolCall<'_>| Ok::<_, std::convert::Infallible>(run(call));
    check_tools(dossier, &secrets, &mut called)
        .unwrap()
        .to_string()
}

#[test]
fn a_tool_that_answers_soon_and_twice_the_same_passes() {
    assert_eq!(check(&mut |_| ran("seen\n", 0.5)), "");
}

#[test]
fn a_tool_that_is_slow_random_or_tells_a_verdict_is_told() {
    assert!(check(&mut |_| ran("seen\n", 6.0)).contains("--help takes 6.0 s"));
    let mut count = 0;
    let random = check(&mut |_| {
        count += 1;
        ran(&count.to_string(), 0.1)
    });
    assert!(
        random.contains("prints other bytes when run twice"),
        "{random}"
    );
    assert!(check(&mut |_| ran("a bug", 0.1)).contains("verdict word `bug`"));
    assert!(check(&mut |_| ran(MALFUNCTION, 0.1)).contains(&format!("prints `{MALFUNCTION}`")));
    let killed = check(&mut |call| ToolRun {
        code: call.added.is_empty().then_some(3).or(Some(0)),
        ..ran("", 0.1)
    });
    assert!(
        killed.contains("its default invocation ends with exit 3"),
        "{killed}"
    );
}
