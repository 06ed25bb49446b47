//! Knows what must hold of any simulation: its bytes, its marks, its refusals, and the number of sessions it asks for.
//! Must not know published rates.
//! Start at the tests.

use evalxrl_analysis::interaction::TestName;
use evalxrl_analysis::simulate::{
    CoveragePlan, Design, Effect, HarmPlan, Noise, PilotResiduals, PowerPlan, Scenario, Simulation,
    SimulationPlan, sessions_needed, simulate,
};
use proptest::prelude::*;

/// Keys of names from a number.
pub(crate) fn seeds(number: u8) -> impl Fn(&str) -> [u8; 32] + Sync {
    move |name: &str| {
        let mut key = [number; 32];
        for (place, byte) in name.bytes().enumerate() {
            let slot = &mut key[place % 32];
            *slot = slot.wrapping_mul(31).wrapping_add(byte);
        }
        key
    }
}

fn small() -> SimulationPlan {
    SimulationPlan {
        scenarios: Scenario::all(),
        datasets: 12,
        permutations: 49,
        harm: Some(HarmPlan {
            harmed: 2,
            effect: Effect::StandardDeviations(3.0),
            datasets: 12,
        }),
        coverage: Some(CoveragePlan {
            interaction_rms: vec![0.1],
            datasets: 8,
            resamples: 50,
            confidence: 0.95,
        }),
        ..SimulationPlan::new(Design {
            methods: 3,
            malfunctions: 4,
            sessions: 4,
        })
    }
}

fn pilot() -> Noise {
    let cells = [vec![0.0, 0.4, 0.9, 0.5], vec![0.1, 0.1, 0.8], vec![0.3]];
    Noise::Pilot(PilotResiduals::new(&cells).unwrap())
}

fn document(plan: &SimulationPlan, seed: u8, threads: usize) -> String {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .unwrap();
    pool.install(|| serde_json::to_string(&simulate(plan, &seeds(seed), |_| ()).unwrap()).unwrap())
}

#[test]
fn the_number_of_threads_changes_no_byte_and_another_seed_does() {
    let one = document(&small(), 1, 1);
    assert_eq!(one, document(&small(), 1, 2));
    assert_eq!(one, document(&small(), 1, 4));
    assert_ne!(one, document(&small(), 2, 4));
    let again: Simulation = serde_json::from_str(&one).unwrap();
    assert_eq!(serde_json::to_string(&again).unwrap(), one);
}

#[test]
fn every_noise_is_simulated_and_leaving_a_part_out_changes_no_other() {
    for noise in [
        Noise::Normal { sd: 0.2 },
        Noise::Beta { sd: 0.2 },
        Noise::Bimodal { sd: 0.2 },
        pilot(),
    ] {
        let whole = SimulationPlan {
            noise: Some(noise.clone()),
            harm: None,
            ..small()
        };
        let part = SimulationPlan {
            scenarios: vec![Scenario::named("additive").unwrap()],
            coverage: None,
            ..whole.clone()
        };
        let found = |plan: &SimulationPlan| simulate(plan, &seeds(5), |_| ()).unwrap();
        let (whole, part) = (found(&whole), found(&part));
        let same = whole
            .scenarios
            .iter()
            .find(|row| row.scenario == "additive");
        assert_eq!(same, part.scenarios.first());
        assert!(part.scenarios[0].description.contains(noise.name()));
        assert!(whole.effect_size_coverage[0].value().is_some(), "{noise:?}");
    }
}

#[test]
fn verdict_shares_add_up_and_only_additive_scenarios_are_marked_liberal() {
    let mut plan = small();
    plan.datasets = 200;
    plan.scenarios = ["some_cells_noisy", "three_clusters"]
        .map(|name| Scenario::named(name).unwrap())
        .into();
    plan.permutations = 99;
    plan.design = Design {
        methods: 5,
        malfunctions: 10,
        sessions: 6,
    };
    let found = simulate(&plan, &seeds(3), |_| ()).unwrap();
    for row in &found.scenarios {
        let verdict = &row.verdict;
        let all = [
            verdict.uniform,
            verdict.single_axis_parallel,
            verdict.single_axis_strength,
            verdict.structured,
            verdict.structured_crossover,
            verdict.not_computed,
        ];
        assert!((all.iter().map(|rate| rate.value).sum::<f64>() - 1.0).abs() < 1e-12);
    }
    let marked = |row: usize, test| {
        let rows = &found.scenarios[row].procedures;
        rows.iter()
            .find(|found| found.test == test)
            .unwrap()
            .liberal
    };
    assert!(marked(0, TestName::Parametric));
    assert!(!marked(0, TestName::Wild));
    assert!(!marked(1, TestName::Parametric));
}

#[test]
fn attainability_comes_with_the_simulation() {
    let mut plan = small();
    plan.design = Design {
        methods: 5,
        malfunctions: 12,
        sessions: 6,
    };
    plan.scenarios.clear();
    plan.coverage = None;
    let found = simulate(&plan, &seeds(1), |_| ()).unwrap();
    let cure: Vec<u64> = found
        .attainability
        .iter()
        .map(|reach| reach.sessions_for_one_cell)
        .collect();
    assert_eq!(cure, [7, 11]);
}

#[test]
fn one_method_or_one_malfunction_has_no_h1_and_keeps_h3() {
    for (methods, malfunctions) in [(1, 5), (5, 1), (1, 1)] {
        let mut plan = small();
        plan.design = Design {
            methods,
            malfunctions,
            sessions: 5,
        };
        plan.harm = plan.harm.map(|harm| HarmPlan { harmed: 1, ..harm });
        let found = simulate(&plan, &seeds(1), |_| ()).unwrap();
        assert!(found.scenarios[0].procedures[0].rate.value().is_none());
        assert_eq!(found.scenarios[0].verdict.not_computed.value, 1.0);
        assert!(found.harm[1].value().is_some());
        assert!(found.effect_size_coverage[0].reason().is_some());
    }
}

#[test]
fn beta_noise_refuses_an_effect_that_scores_cannot_have() {
    let mut plan = small();
    plan.scenarios.clear();
    plan.noise = Some(Noise::Beta { sd: 0.25 });
    plan.harm = plan.harm.map(|harm| HarmPlan {
        effect: Effect::Score(0.6),
        ..harm
    });
    let found = simulate(&plan, &seeds(1), |_| ()).unwrap();
    assert!(found.harm[0].value().is_some());
    assert_eq!(
        found.harm[1].reason(),
        Some("scores with beta noise cannot have a mean 0.6 below 0.5")
    );
}

fn question(effect: f64) -> PowerPlan {
    PowerPlan {
        methods: 5,
        malfunctions: 12,
        harmed: 1,
        effect: Effect::StandardDeviations(effect),
        noise: Noise::Normal { sd: 0.3 },
        target: 0.8,
        q: 0.05,
        datasets: 200,
    }
}

#[test]
fn the_sessions_needed_lie_near_the_analytic_number() {
    let found = sessions_needed(&question(2.0), &seeds(7), |_| ()).unwrap();
    let analytic = found.analytic.value().unwrap();
    assert!((analytic.sessions - 10.517).abs() < 1e-3);
    let sessions = *found.sessions.value().unwrap();
    assert!((10..=12).contains(&sessions), "{sessions}");
    assert_eq!(found.effect, 0.6);
    let at = |n: u64| found.tried.iter().find(|at| at.sessions == n).unwrap();
    assert!(at(sessions).power_per_cell.value >= 0.8);
    assert!(at(sessions - 1).power_per_cell.value < 0.8);
}

#[test]
fn an_effect_too_small_for_forty_sessions_says_so() {
    let plan = PowerPlan {
        datasets: 10,
        ..question(0.3)
    };
    let found = sessions_needed(&plan, &seeds(7), |_| ()).unwrap();
    assert_eq!(
        found.sessions.reason(),
        Some("40 sessions per arm do not reach the power")
    );
    assert_eq!(found.tried.last().unwrap().sessions, 40);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn no_finite_plan_panics(
        methods in 0..4_u64, malfunctions in 0..4_u64, sessions in 0..5_u64, harmed in 0..4_u64,
        effect in -1.0..1e7_f64, sd in -0.1..2.0_f64, rms in -0.1..2.0_f64, kind in 0..4_u8, level in -0.1..1.1_f64,
    ) {
        let noise = match kind {
            0 => Noise::Normal { sd },
            1 => Noise::Beta { sd },
            2 => Noise::Bimodal { sd },
            _ => pilot(),
        };
        let plan = SimulationPlan {
            design: Design { methods, malfunctions, sessions },
            scenarios: Scenario::all(),
            noise: Some(noise),
            datasets: 2,
            permutations: 9,
            alpha: level,
            q: level,
            harm: Some(HarmPlan { harmed, effect: Effect::Score(effect), datasets: 2 }),
            coverage: Some(CoveragePlan { interaction_rms: vec![rms], datasets: 1, resamples: 5, confidence: level }),
        };
        if let Ok(found) = simulate(&plan, &seeds(1), |_| ()) {
            prop_assert!(!serde_json::to_string(&found).unwrap().contains("null,\"error\""));
        }
    }
}
