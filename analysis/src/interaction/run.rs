//! Knows which computation stands behind each test of H1, and runs those that are asked for.
//! Must not know how null data are made.
//! Start at `run_tests`.

use std::cell::OnceCell;

use rand_core::RngCore;

use super::ats_box::ats_box;
use super::blocked::Blocked;
use super::cell_labels::{NOTE, cell_label_test};
use super::decomposition::Observed;
use super::matrix::Matrix;
use super::result::{InteractionTest, TestName, TestRole};
use super::session_labels::{LabelTests, session_label_tests};
use super::wild::wild_test;
use crate::computed::{Computed, NotComputed};
use crate::estimate::PValue;
use crate::moments::f_upper_tail;
use crate::plan::{AnalysisPlan, Blocks};
use crate::randomness::Streams;

/// The keys of the tests, drawn in this order whatever is asked, so that no test depends on another.
#[derive(Debug, Clone)]
pub(crate) struct TestStreams {
    pub(crate) labels: Streams,
    pub(crate) signs: Streams,
    residuals: Streams,
    blocks: Streams,
    cells: Streams,
}

impl TestStreams {
    /// Draws five keys.
    pub(crate) fn draw(rng: &mut impl RngCore) -> Self {
        Self {
            labels: Streams::draw(rng),
            signs: Streams::draw(rng),
            residuals: Streams::draw(rng),
            blocks: Streams::draw(rng),
            cells: Streams::draw(rng),
        }
    }
}

/// Runs the tests that are asked for, in that order; one pass of permutations serves all that share it. Draws five keys.
/// Where the matrix has no interaction to test, every row says why.
pub fn run_tests(
    matrix: &Matrix,
    names: &[TestName],
    plan: &AnalysisPlan,
    rng: &mut impl RngCore,
) -> Vec<InteractionTest> {
    let streams = TestStreams::draw(rng);
    match Observed::new(matrix) {
        Ok(observed) => {
            let run = Run::new(matrix, &observed, plan, &streams);
            names.iter().map(|name| run.test(*name)).collect()
        }
        Err(reason) => names
            .iter()
            .map(|name| InteractionTest {
                name: *name,
                role: role(*name, plan),
                statistic: Computed::NotComputed(reason.clone()),
                p: Computed::NotComputed(reason.clone()),
                note: None,
            })
            .collect(),
    }
}

/// The order of findings: the pre-registered primary first.
pub(crate) fn order(plan: &AnalysisPlan) -> Vec<TestName> {
    let mut names = TestName::ALL.to_vec();
    names.sort_by_key(|name| role(*name, plan) != TestRole::Primary);
    names
}

fn role(name: TestName, plan: &AnalysisPlan) -> TestRole {
    match (name, plan.blocks) {
        (TestName::Literal, Blocks::Ignore) | (TestName::BlockedLiteral, Blocks::Use) => {
            TestRole::Primary
        }
        (TestName::Wild, _) => TestRole::Decides,
        (TestName::SessionAny, _) => TestRole::AnyEffect,
        (TestName::CellLabelPermutation, _) => TestRole::Diagnostic,
        _ => TestRole::Sensitivity,
    }
}

/// The tests of one matrix, each computation done at most once.
pub(crate) struct Run<'a> {
    matrix: &'a Matrix,
    observed: &'a Observed,
    plan: &'a AnalysisPlan,
    streams: &'a TestStreams,
    labels: OnceCell<LabelTests>,
    wild: OnceCell<Result<(f64, PValue), NotComputed>>,
    blocked: OnceCell<Result<Blocked, NotComputed>>,
    blocked_tests: OnceCell<[PValue; 2]>,
}

impl<'a> Run<'a> {
    pub(crate) fn new(
        matrix: &'a Matrix,
        observed: &'a Observed,
        plan: &'a AnalysisPlan,
        streams: &'a TestStreams,
    ) -> Self {
        Self {
            matrix,
            observed,
            plan,
            streams,
            labels: OnceCell::new(),
            wild: OnceCell::new(),
            blocked: OnceCell::new(),
            blocked_tests: OnceCell::new(),
        }
    }

    /// The same tests of another matrix, such as a part of this one.
    pub(crate) fn on<'b>(&'b self, matrix: &'b Matrix, observed: &'b Observed) -> Run<'b> {
        Run::new(matrix, observed, self.plan, self.streams)
    }

    fn labels(&self) -> &LabelTests {
        self.labels
            .get_or_init(|| session_label_tests(self.observed, self.plan, &self.streams.labels))
    }

    /// F_any with its p-value: step 1 of the verdict.
    pub(crate) fn any(&self) -> Result<(f64, PValue), NotComputed> {
        let Observed {
            design, sums, sse, ..
        } = self.observed;
        let f = design.f_any(sums.any, *sse)?;
        Ok((f, self.labels().any.clone()))
    }

    /// F_I over cells with residuals, with its p-value: step 2 of the verdict.
    pub(crate) fn wild(&self) -> Result<(f64, PValue), NotComputed> {
        self.wild
            .get_or_init(|| wild_test(self.matrix, self.plan, &self.streams.signs))
            .clone()
    }

    /// The complete blocks.
    pub(crate) fn blocked(&self) -> Result<&Blocked, NotComputed> {
        self.blocked
            .get_or_init(|| Blocked::new(self.matrix))
            .as_ref()
            .map_err(Clone::clone)
    }

    fn blocked_test(&self, name: TestName) -> Result<(f64, PValue, Option<String>), NotComputed> {
        let blocked = self.blocked()?;
        let found = blocked.describe();
        let statistic = match name {
            TestName::BlockedF => *found.f.as_result()?,
            _ => found.ss_interaction,
        };
        let [literal, f] = self
            .blocked_tests
            .get_or_init(|| blocked.tests(self.plan, &self.streams.blocks))
            .clone();
        let p = if name == TestName::BlockedF {
            f
        } else {
            literal
        };
        Ok((statistic, p, blocked.note()))
    }

    fn f(&self) -> Result<f64, NotComputed> {
        let Observed {
            design, sums, sse, ..
        } = self.observed;
        design.f(sums.interaction, *sse)
    }

    fn statistic_and_p(
        &self,
        name: TestName,
    ) -> Result<(f64, PValue, Option<String>), NotComputed> {
        let ss = self.observed.sums.interaction;
        let plain = |(statistic, p)| (statistic, p, None);
        Ok(match name {
            TestName::Literal => (ss, self.labels().literal.clone(), None),
            TestName::Wild => plain(self.wild()?),
            TestName::SessionAny => plain(self.any()?),
            TestName::SessionF => (self.f()?, self.labels().session_f.clone(), None),
            TestName::FreedmanLane => {
                let f = self.f()?;
                let residuals = self.observed.additive_residuals();
                let tests = session_label_tests(&residuals, self.plan, &self.streams.residuals);
                (f, tests.session_f, None)
            }
            TestName::Parametric => {
                let design = &self.observed.design;
                let (numerator, denominator) = (design.df_interaction, design.df_error);
                let f = self.f()?;
                let p = f_upper_tail(f, numerator as f64, denominator as f64);
                (f, PValue::from_distribution(p), None)
            }
            TestName::AtsBox => {
                let f = self.f()?;
                let found = ats_box(self.matrix, f)?;
                let note = format!(
                    "F distribution with {:.2} and {:.2} degrees of freedom",
                    found.f1, found.f2
                );
                (f, PValue::from_distribution(found.p), Some(note))
            }
            TestName::BlockedLiteral | TestName::BlockedF => self.blocked_test(name)?,
            TestName::CellLabelPermutation => {
                let p = cell_label_test(self.observed, self.plan, &self.streams.cells);
                (ss, p, Some(NOTE.to_owned()))
            }
        })
    }

    /// Runs one test.
    pub(crate) fn test(&self, name: TestName) -> InteractionTest {
        let (statistic, p, note) = match self.statistic_and_p(name) {
            Ok((statistic, p, note)) => (Computed::Value(statistic), Computed::Value(p), note),
            Err(reason) => (
                Computed::NotComputed(reason.clone()),
                Computed::NotComputed(reason),
                None,
            ),
        };
        InteractionTest {
            name,
            role: role(name, self.plan),
            statistic,
            p,
            note,
        }
    }
}
