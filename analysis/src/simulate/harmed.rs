//! Knows the size, the false discoveries and the power of H3 when some cells are harmed.
//! Must not know H1.
//! Start at `rates`.

use rand_chacha::ChaCha8Rng;

use super::design::{DEFAULT_SD, Design, HarmPlan, SimulationPlan};
use super::noise::Noise;
use super::primary::Comparison;
use super::result::{HarmRates, HarmTestRates, Rate};
use crate::computed::{Computed, NotComputed};
use crate::harm::HarmTestName;
use crate::moments::mean;
use crate::multiplicity::benjamini_hochberg;
use crate::randomness::{Streams, below};
use crate::signed_rank::{ZeroRule, signed_rank};
use crate::two_sample::{Effort, welch};

/// The mean of the baseline and of every cell that is not harmed.
const BASELINE: f64 = 0.5;

/// The tests that are simulated, the primary first. Sessions are paired by their number, without a shared block effect.
pub(super) const TESTS: [HarmTestName; 4] = [
    HarmTestName::PermutationMean,
    HarmTestName::Welch,
    HarmTestName::SignedRankWilcox,
    HarmTestName::SignedRankPratt,
];

/// Assignments are counted as the analysis counts them; beyond, fewer are drawn than there.
pub(super) const EFFORT: Effort = Effort {
    exact_limit: 5_000_000,
    draws: 9_999,
};

/// What one test did on one data set.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Discoveries {
    /// Unharmed cells with p ≤ q before adjustment.
    pub below_q: u64,
    /// Unharmed cells discovered.
    pub wrong: u64,
    /// Harmed cells discovered.
    pub right: u64,
}

impl Discoveries {
    pub(super) fn false_share(&self) -> f64 {
        self.wrong as f64 / (self.wrong + self.right).max(1) as f64
    }
}

/// The cells of H3, all but the harmed ones with the mean of the baseline.
#[derive(Debug, Clone)]
pub(super) struct Setting<'a> {
    pub design: Design,
    pub noise: &'a Noise,
    pub harmed: u64,
    /// In score units.
    pub effect: f64,
    pub q: f64,
    /// Whether p-values up to q are all needed, and not only those that an adjustment can reject.
    pub with_size: bool,
}

impl Setting<'_> {
    /// # Errors
    /// Noise whose scores cannot lie so low.
    pub(super) fn check(&self) -> Result<(), NotComputed> {
        if self.harmed > 0 && !self.noise.reaches(BASELINE - self.effect) {
            return Err(NotComputed::because(format!(
                "scores with {} noise cannot have a mean {} below {BASELINE}",
                self.noise.name(),
                self.effect
            )));
        }
        Ok(())
    }

    /// Draws one data set and runs some tests on it, each with its own adjustment.
    pub(super) fn run(&self, tests: &[HarmTestName], rng: &mut ChaCha8Rng) -> Vec<Discoveries> {
        let size = |size: u64| usize::try_from(size).expect("a checked design fits into memory");
        let (methods, sessions) = (size(self.design.methods), size(self.design.sessions));
        let cells = size(self.design.cells());
        let harmed = self.places(cells, rng);
        let draw = |place: usize, mean: f64, rng: &mut ChaCha8Rng| {
            let mut scores = vec![0.0; sessions];
            self.noise.fill(place, mean, DEFAULT_SD, &mut scores, rng);
            scores
        };
        let baselines: Vec<Vec<f64>> = (0..size(self.design.malfunctions))
            .map(|malfunction| draw(cells + malfunction, BASELINE, rng))
            .collect();
        let scores: Vec<Vec<f64>> = harmed
            .iter()
            .enumerate()
            .map(|(place, &is_harmed)| {
                let lower = if is_harmed { self.effect } else { 0.0 };
                draw(place, BASELINE - lower, rng)
            })
            .collect();
        let pairs: Vec<[&[f64]; 2]> = scores
            .iter()
            .enumerate()
            .map(|(place, scores)| [scores.as_slice(), baselines[place / methods].as_slice()])
            .collect();
        let negative: Vec<bool> = pairs
            .iter()
            .map(|[scores, baseline]| mean(scores) < mean(baseline))
            .collect();
        tests
            .iter()
            .map(|&test| {
                let p = match test {
                    HarmTestName::PermutationMean => self.primary(&pairs, rng),
                    _ => pairs.iter().map(|pair| beside(test, *pair)).collect(),
                };
                self.count(&p, &harmed, &negative)
            })
            .collect()
    }

    /// The p-values of the primary, 1 where one lies so high that no adjustment rejects it: above q·(number of p ≤ q)/m,
    /// or above q itself where the size of the test is asked for.
    fn primary(&self, pairs: &[[&[f64]; 2]], rng: &mut ChaCha8Rng) -> Vec<Option<f64>> {
        let open: Vec<Option<Comparison>> = pairs
            .iter()
            .map(|[scores, baseline]| {
                let comparison = Comparison::new(scores, baseline);
                (!comparison.is_above(self.q, rng)).then_some(comparison)
            })
            .collect();
        let ceiling = if self.with_size {
            self.q
        } else {
            let candidates = open.iter().flatten().count();
            self.q * candidates as f64 / pairs.len() as f64 * (1.0 + 1e-9)
        };
        open.iter()
            .map(|open| {
                let p = open.as_ref().map(|open| open.p(ceiling, EFFORT, rng));
                Some(p.unwrap_or(1.0))
            })
            .collect()
    }

    /// Chooses the harmed cells without replacement.
    fn places(&self, cells: usize, rng: &mut ChaCha8Rng) -> Vec<bool> {
        let mut order: Vec<usize> = (0..cells).collect();
        let mut harmed = vec![false; cells];
        let asked = usize::try_from(self.harmed).expect("no more cells are harmed than there are");
        for place in 0..asked.min(cells) {
            let left = u32::try_from(cells - place).expect("designs are small");
            order.swap(place, place + below(rng, left) as usize);
            harmed[order[place]] = true;
        }
        harmed
    }

    fn count(&self, p: &[Option<f64>], harmed: &[bool], negative: &[bool]) -> Discoveries {
        let mut found = Discoveries::default();
        let adjusted = benjamini_hochberg(p, self.q, Some(p.len()))
            .expect("p-values lie in [0, 1], and q was checked");
        let cells = p.iter().zip(adjusted).zip(harmed.iter().zip(negative));
        for ((p, adjusted), (&is_harmed, &is_negative)) in cells {
            let discovered = is_negative && adjusted.is_some_and(|adjusted| adjusted.rejected);
            if is_harmed {
                found.right += u64::from(discovered);
            } else {
                found.wrong += u64::from(discovered);
                found.below_q += u64::from(p.is_some_and(|p| p <= self.q));
            }
        }
        found
    }
}

/// The p-value of a test beside the primary.
fn beside(test: HarmTestName, [scores, baseline]: [&[f64]; 2]) -> Option<f64> {
    let paired = |rule| {
        let differences: Vec<f64> = scores.iter().zip(baseline).map(|(s, b)| s - b).collect();
        signed_rank(&differences, rule).map_or(None, |found| Some(found.less.value))
    };
    match test {
        HarmTestName::Welch => {
            welch(scores, baseline).map_or(None, |welch| Some(welch.p_less().value))
        }
        HarmTestName::SignedRankWilcox => paired(ZeroRule::Wilcox),
        HarmTestName::SignedRankPratt => paired(ZeroRule::Pratt),
        _ => None,
    }
}

/// Simulates H3 with some cells harmed.
///
/// # Errors
/// An effect that the noise cannot have.
pub(super) fn rates(
    plan: &SimulationPlan,
    harm: &HarmPlan,
    streams: &Streams,
) -> Result<HarmRates, NotComputed> {
    let default = Noise::Normal { sd: DEFAULT_SD };
    let noise = plan.noise.as_ref().unwrap_or(&default);
    let setting = Setting {
        design: plan.design,
        noise,
        harmed: harm.harmed,
        effect: harm.effect.in_score_units(noise.sd()),
        q: plan.q,
        with_size: true,
    };
    setting.check()?;
    let cells = plan.design.cells();
    let found = super::datasets(harm.datasets, streams, |rng| setting.run(&TESTS, rng));
    let tests = TESTS
        .iter()
        .enumerate()
        .map(|(index, &test)| {
            let shares = |share: &dyn Fn(&Discoveries) -> f64| {
                let shares: Vec<f64> = found.iter().map(|found| share(&found[index])).collect();
                Rate::of_shares(&shares)
            };
            let any = found
                .iter()
                .filter(|found| found[index].wrong + found[index].right > 0)
                .count();
            HarmTestRates {
                test,
                size: if harm.harmed < cells {
                    let unharmed = (cells - harm.harmed) as f64;
                    Computed::Value(shares(&|found| found.below_q as f64 / unharmed))
                } else {
                    Computed::absent("every cell is harmed")
                },
                false_discovery: shares(&Discoveries::false_share),
                power_any: if harm.harmed > 0 {
                    let count = found.iter().filter(|found| found[index].right > 0).count();
                    Computed::Value(Rate::of_count(count as u64, harm.datasets))
                } else {
                    Computed::absent("no cell is harmed")
                },
                power_per_cell: if harm.harmed > 0 {
                    let harmed = harm.harmed as f64;
                    Computed::Value(shares(&|found| found.right as f64 / harmed))
                } else {
                    Computed::absent("no cell is harmed")
                },
                any_discovery: Rate::of_count(any as u64, harm.datasets),
            }
        })
        .collect();
    Ok(HarmRates {
        cells,
        harmed: harm.harmed,
        effect: setting.effect,
        effect_in_sds: setting.effect / noise.sd(),
        tests,
    })
}
