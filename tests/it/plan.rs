//! Knows the laws of a frozen plan: what it refuses, how it is ordered, what its hashes cover.
#![expect(
    clippy::unwrap_used,
    reason = "a fixture that cannot be made ends the test"
)]

use std::collections::BTreeMap;

use evalxrl::catalog::{Catalog, REFERENCES, Reference};
use evalxrl::plan::{self, Facts, Git, Plan};
use evalxrl::vocab::RootSeed;

use crate::repository::{MALFUNCTION, Repository};

const EXPERIMENT: &str = r#"
format = "evalxrl.experiment/1"
name = "small"
replications = 3
malfunctions = [{ environment = "toy_grid" }]
arms = ["no-method", "cheat-oracle", "small-method", "optimal-repair"]
root_seed = 7
allow_weak_seed = true
score = { calls = 4, episodes = 32 }

[[coder]]
label = "search"
scaffold = "search"
candidates = 6
budget = { steps = 100, wall = "30m", working = "20m" }

[[coder]]
label = "idle"
scaffold = "null"
"#;

pub(crate) fn reference(catalog: &Catalog, id: &str) -> Reference {
    let malfunction = catalog
        .malfunctions()
        .find(|one| one.id.as_str() == id)
        .unwrap();
    Reference {
        environment: malfunction.environment.clone(),
        version: malfunction.version,
        source: catalog
            .environment(&malfunction.environment)
            .unwrap()
            .training_hash
            .clone(),
        fault: malfunction.fault_hash.clone(),
        seeds: vec!["reference/train/0".into()],
        episode_seed: "reference/episodes/toy_grid".into(),
        episodes: 256,
        p_clean: 9.0,
        se_clean: 0.0,
        p_broken: 4.0,
        se_broken: 0.0,
        p_random: -2.0,
        gap_over_span: 0.45,
        clean_beats_broken: 1.0,
        gap_over_error: 50.0,
        repaired: 1.0,
        above_random: 1.0,
        floor: false,
        tuned: Some(0.1),
        training_time: Some(1.0),
        gap_first: None,
        gap_second: None,
        episode_error: 0.0,
        clean: vec![9.0],
        broken: vec![4.0],
    }
}

fn measured(repository: &Repository) -> Catalog {
    let (catalog, _) = Catalog::survey(repository.root());
    let mut references = catalog.references().clone();
    for malfunction in catalog.malfunctions() {
        references.insert(
            malfunction.id.clone(),
            reference(&catalog, malfunction.id.as_str()),
        );
    }
    repository.write(REFERENCES, references.to_text().unwrap());
    Catalog::load(repository.root()).unwrap()
}

fn sound() -> (Repository, Catalog) {
    let repository = Repository::sound();
    repository.malfunction(
        "toy-grid-second",
        |text| text,
        |diff| diff.replace("1 * here", "2 * here"),
    );
    let catalog = measured(&repository);
    (repository, catalog)
}

fn facts() -> Facts {
    Facts {
        created: "2026-01-01T00:00:00Z".into(),
        version: "0.1.0".into(),
        git: Git::default(),
        root_seed: RootSeed::from_bytes([1; 32]),
        images: BTreeMap::from([("workspace".into(), "evalxrl/workspace:0".into())]),
        scaffolds: ["null", "optimal", "search"]
            .map(|name| (name.into(), "text".into()))
            .into(),
    }
}

fn build(text: &str, catalog: &Catalog) -> Result<Plan, Vec<String>> {
    plan::build("small.toml", text, catalog, &facts())
        .map_err(|problems| problems.list().iter().map(ToString::to_string).collect())
}

#[test]
fn a_plan_keeps_what_was_predicted_of_its_malfunctions() {
    let (_repository, catalog) = sound();
    let plan = build(EXPERIMENT, &catalog).unwrap();
    let first = &plan.malfunctions[0];
    assert_eq!(first.expected_to_reveal[0].as_str(), "small-method");
    assert_eq!(first.expected_to_mislead[0].as_str(), "no-method");
    // A plan frozen before predictions were kept still reads.
    let mut older: serde_json::Value = serde_json::from_str(&plan.to_json()).unwrap();
    for malfunction in older["malfunctions"].as_array_mut().unwrap() {
        let fields = malfunction.as_object_mut().unwrap();
        fields.remove("expected_to_reveal");
        fields.remove("expected_to_mislead");
    }
    let read = Plan::from_json(&older.to_string()).unwrap();
    assert!(read.malfunctions[0].expected_to_reveal.is_empty());
    assert!(read.same_sessions(&plan));
}

#[test]
fn the_same_inputs_give_the_same_bytes_and_the_text_reads_back() {
    let (_repository, catalog) = sound();
    let plan = build(EXPERIMENT, &catalog).unwrap();
    assert_eq!(
        plan.to_json(),
        build(EXPERIMENT, &catalog).unwrap().to_json()
    );
    assert!(
        plan.to_json()
            .starts_with("{\n  \"format\": \"evalxrl.plan/1\"")
    );
    assert_eq!(Plan::from_json(&plan.to_json()).unwrap(), plan);
    // 3 replications of 2 malfunctions: 3 arms by 2 coders, and the optimal repair once.
    assert_eq!(plan.sessions.len(), 3 * 2 * 7);
    assert!(plan.weak_seed);
}

#[test]
fn any_prefix_of_the_order_is_balanced() {
    let (_repository, catalog) = sound();
    let plan = build(EXPERIMENT, &catalog).unwrap();
    let mut counts: BTreeMap<String, u32> = BTreeMap::new();
    let cell = |session: &plan::PlannedSession| {
        format!(
            "{} {} {}",
            session.key.malfunction, session.key.method, session.key.coder
        )
    };
    for session in &plan.sessions {
        counts.insert(cell(session), 0);
    }
    let mut orders = std::collections::BTreeSet::new();
    for (index, session) in plan.sessions.iter().enumerate() {
        assert_eq!(session.index as usize, index);
        *counts.get_mut(&cell(session)).unwrap() += 1;
        let (low, high) = (
            counts.values().min().unwrap(),
            counts.values().max().unwrap(),
        );
        assert!(high - low <= 1, "{counts:?}");
    }
    for block in plan.sessions.chunks(7) {
        let first = &block[0].key;
        assert!(block.iter().all(|one| {
            one.key.malfunction == first.malfunction && one.key.replication == first.replication
        }));
        let order: Vec<String> = block
            .iter()
            .map(|one| format!("{} {}", one.key.method, one.key.coder))
            .collect();
        orders.insert(order);
    }
    assert!(orders.len() > 1, "every block has the same order");
}

#[test]
fn one_dossier_byte_changes_the_hash_of_its_sessions_and_of_no_other() {
    let (repository, catalog) = sound();
    let before = build(EXPERIMENT, &catalog).unwrap();
    repository.write("dossiers/small-method/README.md", "Look at the agent!\n");
    let after = build(EXPERIMENT, &Catalog::load(repository.root()).unwrap()).unwrap();
    for (one, other) in before.sessions.iter().zip(&after.sessions) {
        assert_eq!(one.key, other.key);
        let touched = one.key.method.as_str() == "small-method";
        assert_eq!(
            one.session_hash != other.session_hash,
            touched,
            "{}",
            one.key
        );
    }
    assert!(!before.same_sessions(&after));
    let mut hashes: Vec<&str> = before
        .sessions
        .iter()
        .map(|one| one.session_hash.as_str())
        .collect();
    hashes.sort_unstable();
    hashes.dedup();
    assert_eq!(hashes.len(), before.sessions.len());
}

#[test]
fn what_a_session_depends_on_is_in_its_hash() {
    let (_repository, catalog) = sound();
    let plain = build(EXPERIMENT, &catalog).unwrap();
    for (from, to) in [
        ("candidates = 6", "candidates = 7"),
        ("steps = 100", "steps = 101"),
        ("calls = 4", "calls = 5"),
        ("root_seed = 7", "root_seed = 8"),
        (
            "replications = 3",
            "replications = 3\nbundle = \"parameters\"",
        ),
        ("replications = 3", "replications = 3\nsandbox = \"local\""),
        (
            "replications = 3",
            "replications = 3\nscoring = { episodes = 128 }",
        ),
        (
            "replications = 3",
            "replications = 3\nlimits = { agent = { memory = \"1GiB\" } }",
        ),
    ] {
        let other = build(&EXPERIMENT.replace(from, to), &catalog).unwrap();
        let of = |plan: &Plan| {
            plan.sessions
                .iter()
                .filter(|one| one.key.coder.as_str() == "search")
                .map(|one| (one.key.clone(), one.session_hash.clone()))
                .collect::<BTreeMap<_, _>>()
        };
        let (one, other) = (of(&plain), of(&other));
        assert!(one.iter().all(|(key, hash)| other[key] != *hash), "{to}");
    }
    let renamed = build(&EXPERIMENT.replace("\"small\"", "\"large\""), &catalog).unwrap();
    assert_eq!(plain.sessions, renamed.sessions);
}

#[test]
fn every_defect_of_an_experiment_is_told_at_once() {
    let (_repository, catalog) = sound();
    let text = r#"
format = "evalxrl.experiment/2"
name = ""
replications = 0
malfunctions = ["toy-grid-weak-pai", "toy-grid-second", "toy-grid-second"]
arms = ["no-method", "no-method", "smal-method", "small-method"]
access = "black"
memorisation = true
sandbox = "cloud"
root_seed = 3
scoring = { episodes = 0 }
limits = { workspace = { memory = "lots" } }

[[coder]]
label = "one"
scaffold = "mini"
model = { name = "m" }
budget = { cost = 3.0 }

[[coder]]
label = "one"
scaffold = "null"
candidates = 3

[analysis]
alpha = 2.0
"#;
    let told = build(text, &catalog).unwrap_err();
    for fragment in [
        "format: `evalxrl.experiment/2` is not known",
        "name: is empty",
        "replications: 0 is too small",
        "no malfunction is called `toy-grid-weak-pai`; did you mean `toy-grid-weak-pay`?",
        "toy-grid-second is named twice",
        "`no-method` is named twice",
        "no dossier is called `smal-method`; did you mean `small-method`?",
        "access: is an unknown field",
        "memorisation: is an unknown field",
        "sandbox: \"cloud\" is not accepted",
        "root_seed: 3 can be guessed",
        "scoring.episodes: 0 is too small",
        "limits.workspace.memory: `lots` is no size",
        "coder[0].model: is an unknown field",
        "coder[0].budget.cost: is an unknown field",
        "no scaffold is called `mini`; write one of null, search",
        "coder[1].label: `one` is taken",
        "coder[1].candidates: belongs to the scaffold `search` only",
        "analysis.alpha: 2 is out of range",
    ] {
        assert!(
            told.iter()
                .any(|line| line.starts_with("small.toml: ") && line.contains(fragment)),
            "nothing says `{fragment}`: {told:#?}"
        );
    }
}

#[test]
fn malfunctions_without_fresh_references_refuse_the_plan_and_name_the_cure() {
    let (repository, _) = sound();
    let refused = |expected: &str| {
        let (catalog, _) = Catalog::survey(repository.root());
        let told = build(EXPERIMENT, &catalog).unwrap_err();
        assert!(
            told.iter().any(|line| {
                line.contains(expected)
                    && line.ends_with(&format!("run `evalxrl reference --only {MALFUNCTION}`"))
            }),
            "{told:#?}"
        );
    };
    repository.malfunction(
        MALFUNCTION,
        |text| text.replace("version = 1", "version = 2"),
        |diff| diff,
    );
    refused("stale: they are of another version");
    repository.malfunction(
        MALFUNCTION,
        |text| text,
        |diff| diff.replace("1 * here", "3 * here"),
    );
    refused("stale: fault.diff has changed since");
    repository.malfunction(MALFUNCTION, |text| text, |diff| diff);
    repository.write("envs/evalxrl_envs/agents/ppo.py", "GAMMA = 0.9\n");
    refused("stale: the environment's source has changed since");
    repository.remove(REFERENCES);
    refused("has no references");
}

#[test]
fn held_out_malfunctions_are_not_mixed_and_small_gaps_are_refused() {
    let (repository, _) = sound();
    repository.malfunction(
        "toy-grid-second",
        |text| text.replace("held_out = false", "held_out = true"),
        |diff| diff.replace("1 * here", "2 * here"),
    );
    let (catalog, _) = Catalog::survey(repository.root());
    let both = EXPERIMENT.replace(
        "{ environment = \"toy_grid\" }",
        &format!("\"{MALFUNCTION}\", \"toy-grid-second\""),
    );
    let told = build(&both, &catalog).unwrap_err();
    assert!(
        told[0].contains("mixes held-out malfunctions (toy-grid-second) with others"),
        "{told:#?}"
    );
    assert!(
        build(EXPERIMENT, &catalog).is_ok(),
        "a whole environment leaves held-out ones aside"
    );
    repository.malfunction(
        MALFUNCTION,
        |text| text.replace("min_gap = 5.0", "min_gap = 6.0"),
        |diff| diff,
    );
    let (catalog, _) = Catalog::survey(repository.root());
    assert!(
        catalog
            .stray_bounds()
            .to_string()
            .contains("min_gap: 6 is not the bound of the references; write 5.0")
    );
    let told = build(EXPERIMENT, &catalog).unwrap_err();
    assert!(told[0].contains("below the minimal gap"), "{told:#?}");
}

#[test]
fn three_replications_warn_of_what_they_cannot_find_and_name_the_number_that_can() {
    let (_repository, catalog) = sound();
    let plan = build(EXPERIMENT, &catalog).unwrap();
    let warnings = plan::warnings(&plan);
    let starts = [
        "permutation test: with N = 3 and N0 = 3",
        "signed rank test: with N = 3 and N0 = 3",
        "plan N = N0 of at least 8",
    ];
    assert_eq!(warnings.len(), starts.len(), "{warnings:#?}");
    for (warning, start) in warnings.iter().zip(starts) {
        assert!(warning.starts_with(start), "{warning}");
    }
    let reach = plan::reach(&plan);
    assert_eq!(reach.len(), 2);
    for each in &reach {
        let cured = each.sessions_for_one_cell.to_string();
        assert!(warnings.iter().any(|line| line.contains(&cured)));
    }
    let many = build(
        &EXPERIMENT.replace("replications = 3", "replications = 8"),
        &catalog,
    )
    .unwrap();
    assert_eq!(plan::warnings(&many), Vec::<String>::new());
}
