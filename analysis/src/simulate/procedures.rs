//! Knows how often each procedure of H1 rejects, and each word of the verdict comes out, in one scenario.
//! Must not know how means and noise are drawn.
//! Start at `rates`.

use rand_chacha::ChaCha8Rng;

use super::design::{Design, SimulationPlan};
use super::means::Truth;
use super::noise::Noise;
use super::result::{ProcedureRate, Rate, ScenarioRates, VerdictShares};
use super::scenario::Scenario;
use crate::axes::Axes;
use crate::computed::{Computed, NotComputed};
use crate::interaction::{Matrix, TestName, run_tests, structure_of};
use crate::plan::AnalysisPlan;
use crate::randomness::Streams;
use crate::structure::StructureWord;

/// The procedures of the published table, in its order.
pub const PROCEDURES: [TestName; 5] = [
    TestName::Literal,
    TestName::SessionF,
    TestName::FreedmanLane,
    TestName::Wild,
    TestName::Parametric,
];

/// What came of one data set.
#[derive(Debug, Clone)]
struct Found {
    /// Whether each procedure rejects.
    rejects: [Computed<bool>; PROCEDURES.len()],
    word: Computed<StructureWord>,
    beyond_first_axis: Computed<bool>,
}

/// The analysis of one simulated data set: enumeration only where it is no more work than drawing.
pub(super) fn analysis_plan(plan: &SimulationPlan) -> AnalysisPlan {
    AnalysisPlan {
        alpha: plan.alpha,
        q: plan.q,
        permutations: plan.permutations,
        exact_limit_h1: plan.permutations,
        // Resamples of the first axis, which only its signs are read from.
        resamples: plan.permutations,
        ..AnalysisPlan::default()
    }
}

/// Simulates one scenario.
pub(super) fn rates(
    scenario: &Scenario,
    plan: &SimulationPlan,
    streams: &Streams,
) -> ScenarioRates {
    let noise = plan.noise.as_ref().unwrap_or(&scenario.noise);
    let analysis = analysis_plan(plan);
    let names = Names::of(&plan.design);
    let found: Vec<Found> = super::datasets(plan.datasets, streams, |rng| {
        let truth = Truth::draw(scenario, &plan.design, rng);
        match names.matrix(&truth, noise, &plan.design, rng) {
            Ok(matrix) => analyse(&matrix, scenario, &analysis, rng),
            Err(reason) => Found {
                rejects: std::array::from_fn(|_| Computed::NotComputed(reason.clone())),
                word: Computed::NotComputed(reason.clone()),
                beyond_first_axis: Computed::NotComputed(reason),
            },
        }
    });
    let rate = |of: &dyn Fn(&Found) -> &Computed<bool>| -> Computed<Rate> {
        let known: Vec<bool> = found
            .iter()
            .filter_map(|one| of(one).value().copied())
            .collect();
        if known.is_empty() {
            let reason = found.first().and_then(|one| of(one).reason());
            return Computed::absent(reason.unwrap_or("no data set"));
        }
        let count = known.iter().filter(|rejects| **rejects).count() as u64;
        Computed::Value(Rate::of_count(count, known.len() as u64))
    };
    let procedures = PROCEDURES
        .iter()
        .enumerate()
        .map(|(index, &test)| {
            let rate = rate(&|found| &found.rejects[index]);
            let liberal = rate.value().is_some_and(|rate| rate.is_liberal(plan.alpha));
            ProcedureRate {
                test,
                rate,
                liberal: liberal && scenario.additive(),
            }
        })
        .collect();
    let share = |word: Option<StructureWord>| {
        let count = found
            .iter()
            .filter(|found| found.word.value() == word.as_ref())
            .count();
        Rate::of_count(count as u64, plan.datasets)
    };
    ScenarioRates {
        scenario: scenario.name.to_owned(),
        description: scenario.describe(noise),
        additive: scenario.additive(),
        procedures,
        beyond_first_axis: rate(&|found| &found.beyond_first_axis),
        verdict: VerdictShares {
            uniform: share(Some(StructureWord::Uniform)),
            single_axis_parallel: share(Some(StructureWord::SingleAxisParallel)),
            single_axis_strength: share(Some(StructureWord::SingleAxisStrength)),
            structured: share(Some(StructureWord::Structured)),
            structured_crossover: share(Some(StructureWord::StructuredCrossover)),
            not_computed: share(None),
        },
    }
}

fn analyse(
    matrix: &Matrix,
    scenario: &Scenario,
    analysis: &AnalysisPlan,
    rng: &mut ChaCha8Rng,
) -> Found {
    let tests = run_tests(matrix, &PROCEDURES, analysis, rng);
    let beyond = |rng: &mut ChaCha8Rng| -> Result<bool, NotComputed> {
        let streams = Streams::draw(rng);
        let beyond = Axes::new(matrix)?.beyond_first(matrix, analysis, &streams)?;
        Ok(beyond.p.value <= analysis.alpha)
    };
    Found {
        rejects: std::array::from_fn(|index| {
            tests[index].p.clone().map(|p| p.value <= analysis.alpha)
        }),
        word: structure_of(matrix, analysis, rng)
            .map(|structure| structure.word)
            .into(),
        beyond_first_axis: if scenario.beyond_first_axis {
            beyond(rng).into()
        } else {
            Computed::absent("step 3 is tried alone in scenarios made for it only")
        },
    }
}

/// The names of a design, made once.
pub(super) struct Names {
    methods: Vec<String>,
    malfunctions: Vec<String>,
}

impl Names {
    pub(super) fn of(design: &Design) -> Self {
        let names = |kind: &str, count: u64| (1..=count).map(|i| format!("{kind}{i:04}")).collect();
        Self {
            methods: names("method", design.methods),
            malfunctions: names("malfunction", design.malfunctions),
        }
    }

    /// Draws the sessions of one data set, cell by cell.
    pub(super) fn matrix(
        &self,
        truth: &Truth,
        noise: &Noise,
        design: &Design,
        rng: &mut ChaCha8Rng,
    ) -> Result<Matrix, NotComputed> {
        let sessions = usize::try_from(design.sessions).expect("a checked design fits into memory");
        let mut cells = vec![vec![Vec::new(); self.malfunctions.len()]; self.methods.len()];
        let places = truth.means.iter().zip(&truth.spreads).enumerate();
        for (place, (&mean, &spread)) in places {
            let mut cell = vec![0.0; sessions];
            noise.fill(place, mean, spread, &mut cell, rng);
            cells[place % self.methods.len()][place / self.methods.len()] = cell;
        }
        Matrix::new(&self.methods, &self.malfunctions, &cells)
    }
}
