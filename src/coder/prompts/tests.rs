use super::*;
use crate::coder::ToolLine;
use crate::vocab::ScoreBudget;

fn facts() -> BriefFacts {
    BriefFacts {
        title: "Treasure Grid".into(),
        summary: "A grid with treasures and pits.".into(),
        environment: "treasure_grid".into(),
        source: "evalxrl_envs".into(),
        train: "./train.sh".into(),
        serve: "./serve.sh".into(),
        budget: Budget {
            steps: 250,
            wall_seconds: 7200,
            working_seconds: 5400,
            command_seconds: 600,
            score: ScoreBudget {
                calls: 10,
                episodes: 64,
            },
        },
        bundle: BundleMode::Workspace,
        dossiers: Vec::new(),
    }
}

fn with_dossier() -> BriefFacts {
    let tool = |name: &str, help: &str| ToolLine {
        name: name.into(),
        help: help.into(),
        has_budget: true,
    };
    BriefFacts {
        dossiers: vec![
            DossierLine {
                title: "Reward decomposition".into(),
                folder: "0a1b2c3d4e5f".into(),
                tools: vec![
                    tool("rdx-compare", "compare two actions"),
                    tool("rdx-episode", "rewards of an episode by component"),
                ],
            },
            DossierLine {
                title: "Notes".into(),
                folder: "9f8e7d6c5b4a".into(),
                tools: Vec::new(),
            },
        ],
        ..facts()
    }
}

fn parts(text: &str) -> (&str, &str) {
    text.split_once("## Explanations\n").unwrap()
}

#[test]
fn the_brief_of_the_baseline_reads_so() {
    insta::assert_snapshot!(brief_text(&facts()).unwrap(), @r#"
    # Repair an agent

    An agent was trained for Treasure Grid. A grid with treasures and pits.

    It earns less than an agent trained from sound source earns. Something in this workspace is wrong: in the training code, in the environment or its configuration, or in the code that serves the agent. Find it, mend it, and submit an agent that earns more.

    What counts is the mean return of the submitted agent in an untouched copy of the environment, on episodes that no command here plays. The environment in this workspace may itself be what is wrong.

    ## What lies here

    - `evalxrl_envs/treasure_grid/`: the environment, and `config.toml` with the sizes, the tuning numbers, the reward weights and the environment's parameters
    - `evalxrl_envs/agents/`: training and the networks
    - `evalxrl_envs/core/`, `evalxrl_envs/serving/`: what environments share, and the agent server
    - `agent/parameters.safetensors`: the agent, trained from exactly these files

    ## Commands

    Every command starts in this folder.

    - `./train.sh` trains from the files as they stand and writes `agent/parameters.safetensors`
    - `./serve.sh` serves the agent on this machine
    - `score` plays the agent as it would be submitted now for 64 episodes and prints one JSON line with its mean return and standard error
    - `submit [--note TEXT]` submits; the note says in your words what was wrong

    ## Budgets

    - 7200 seconds in all, 5400 of them working time
    - 600 seconds for one command
    - 250 steps
    - 10 calls of `score`

    ## Submission

    `agent/` and `evalxrl_envs/` are submitted, and the agent is served from them alone. A submission holds plain files only. One that is refused comes back with the reason; after the third refusal, and without any submission, the agent counts as it was handed out.

    ## Explanations

    No explanation method is available.
    "#);
}

#[test]
fn dossiers_are_listed_with_their_tools() {
    let text = brief_text(&with_dossier()).unwrap();
    insta::assert_snapshot!(parts(&text).1, @r#"

    - `0a1b2c3d4e5f/`: Reward decomposition; begin with `0a1b2c3d4e5f/README.md`
      - `rdx-compare`: compare two actions
      - `rdx-episode`: rewards of an episode by component
    - `9f8e7d6c5b4a/`: Notes; begin with `9f8e7d6c5b4a/README.md`
    "#);
}

#[test]
fn the_brief_differs_between_arms_in_its_last_section_only() {
    let (without, with) = (
        brief_text(&facts()).unwrap(),
        brief_text(&with_dossier()).unwrap(),
    );
    assert_eq!(parts(&without).0, parts(&with).0);
    assert_eq!(parts(&without).1, "\nNo explanation method is available.\n");
}

#[test]
fn a_submission_of_parameters_alone_is_said_to_be_that() {
    let facts = BriefFacts {
        bundle: BundleMode::Parameters,
        ..facts()
    };
    let text = brief_text(&facts).unwrap();
    assert!(text.contains("`agent/` is submitted; the code that serves it"));
    assert!(!text.contains("and `evalxrl_envs/` are submitted"));
}

#[test]
fn a_template_that_names_an_unknown_fact_fails() {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    assert!(environment.render_str("{{ nobody }}", context! {}).is_err());
}
