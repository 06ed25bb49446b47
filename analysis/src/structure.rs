//! Knows the verdict of H1: is the method × malfunction matrix uniform, of a single axis, or structured?
//! Must not know how sums of squares are tested.
//! Start at `structure`.

use serde::{Deserialize, Serialize};

use crate::axes::Axes;
use crate::computed::{Computed, NotComputed};
use crate::estimate::PValue;
use crate::interaction::{Interaction, Matrix, Observed, Run, TestName};
use crate::plan::{AnalysisPlan, Blocks};
use crate::randomness::Streams;

/// The verdict of H1 over both scales.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct H1Verdict {
    /// The word; `undecided` where the scales disagree.
    pub word: StructureWord,
    /// The word on the clipped scale.
    pub clipped: StructureWord,
    /// The word on the raw scale.
    pub raw: StructureWord,
    /// Whether H1 is supported: `structured` or `structured_crossover`.
    pub supported: bool,
    /// The word as a sentence fragment.
    pub statement: String,
    /// The pre-registered primary: `literal`, or `blocked_literal` where the plan uses blocks.
    pub primary: TestName,
    /// p of the primary on the clipped scale.
    pub primary_p: Computed<PValue>,
    /// p of `literal` on the clipped scale.
    pub literal_p: Computed<PValue>,
    /// p of `wild` on the clipped scale.
    pub wild_p: Computed<PValue>,
    /// Where the primary and `wild` disagree at α on the clipped scale: why; null where they agree.
    pub disagreement: Option<String>,
}

/// The words of H1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StructureWord {
    /// No effect of method detected.
    Uniform,
    /// Methods differ by the same amount on every malfunction, as far as detected.
    SingleAxisParallel,
    /// Methods differ in strength only (rank 1, one sign).
    SingleAxisStrength,
    /// More than one axis.
    Structured,
    /// One axis, on which the order of methods reverses between malfunctions.
    StructuredCrossover,
    /// `clipped` and `raw` disagree.
    Undecided,
}

impl StructureWord {
    /// Says what the word claims; what was not rejected was not detected at this power, never shown to be absent.
    pub fn statement(self) -> &'static str {
        match self {
            Self::Uniform => "uniform: an effect of the method was not detected at this power",
            Self::SingleAxisParallel => {
                "single axis, parallel: methods differ, and an interaction with the malfunction was not detected at this power"
            }
            Self::SingleAxisStrength => {
                "single axis, strength: methods differ in strength only, and more than one axis was not detected at this power"
            }
            Self::Structured => "structured: which method helps depends on the malfunction",
            Self::StructuredCrossover => {
                "structured, crossover: the order of methods reverses between malfunctions"
            }
            Self::Undecided => "undecided: clipped and raw scores lead to different words",
        }
    }
}

/// The steps of the verdict on one scale.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Structure {
    /// Where the steps end.
    pub word: StructureWord,
    /// The word as a sentence fragment.
    pub statement: String,
    /// The level of each step.
    pub alpha: f64,
    /// Step 1: F_any by session labels.
    pub any_effect: PValue,
    /// Step 2: `wild`; absent where step 1 ended or it cannot be computed.
    pub additivity: Computed<PValue>,
    /// Step 3: F_2 beyond the first axis; absent where an earlier step ended or M = 2.
    pub beyond_first_axis: Computed<BeyondFirstAxis>,
    /// The first axis over malfunctions; absent where no step needed it.
    pub first_axis: Computed<Vec<AxisEntry>>,
}

/// What is left beyond the first axis.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BeyondFirstAxis {
    /// F_2.
    pub f: f64,
    /// (M − 2)(K − 1).
    pub df: u64,
    /// By residual bootstrap.
    pub p: PValue,
}

/// The first axis at one malfunction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AxisEntry {
    /// Id of the malfunction.
    pub malfunction: String,
    /// Entry of v_1, unit-free.
    pub value: f64,
    /// Lower end over stratified resamples.
    pub low: f64,
    /// Upper end over stratified resamples.
    pub high: f64,
}

/// Goes through the steps on the malfunctions without an empty cell; the streams are those of beyond the first axis and of
/// the axis. `run` is the whole matrix's; where malfunctions are left out, the first two steps are computed anew on what
/// remains, with the same keys.
pub(crate) fn structure(
    whole: &Matrix,
    run: &Run<'_>,
    plan: &AnalysisPlan,
    streams: &[Streams; 2],
) -> Result<Structure, NotComputed> {
    let (matrix, left_out) = whole.complete_part();
    if left_out.is_empty() {
        return steps(whole, run, plan, streams);
    }
    let observed = Observed::new(&matrix)
        .map_err(|reason| NotComputed::because(format!("complete malfunctions only: {reason}")))?;
    steps(&matrix, &run.on(&matrix, &observed), plan, streams)
}

fn steps(
    matrix: &Matrix,
    run: &Run<'_>,
    plan: &AnalysisPlan,
    streams: &[Streams; 2],
) -> Result<Structure, NotComputed> {
    let [beyond, axis] = streams;
    let (_, any_effect) = run.any()?;
    let mut found = Structure {
        word: StructureWord::Uniform,
        statement: String::new(),
        alpha: plan.alpha,
        additivity: Computed::absent("step 1 ended the verdict"),
        beyond_first_axis: Computed::absent("an earlier step ended the verdict"),
        first_axis: Computed::absent("no step needed the first axis"),
        any_effect,
    };
    found.word = found.walk(matrix, run, plan, [beyond, axis])?;
    found.statement = found.word.statement().to_owned();
    Ok(found)
}

impl Structure {
    /// Takes the steps, writing each down, up to the word.
    fn walk(
        &mut self,
        matrix: &Matrix,
        run: &Run<'_>,
        plan: &AnalysisPlan,
        [beyond, axis]: [&Streams; 2],
    ) -> Result<StructureWord, NotComputed> {
        if self.any_effect.value > plan.alpha {
            return Ok(StructureWord::Uniform);
        }
        self.additivity = run.wild().map(|(_, p)| p).into();
        if self.additivity.as_result()?.value > plan.alpha {
            return Ok(StructureWord::SingleAxisParallel);
        }
        let axes = Axes::new(matrix)?;
        self.beyond_first_axis = axes.beyond_first(matrix, plan, beyond).into();
        let beyond = self.beyond_first_axis.value();
        if beyond.is_some_and(|beyond| beyond.p.value <= plan.alpha) {
            return Ok(StructureWord::Structured);
        }
        if matrix.methods().len() > 2 {
            self.beyond_first_axis.as_result()?;
        }
        let entries = axes.first_axis(matrix, plan, axis);
        let above = entries.iter().any(|entry| entry.low > 0.0);
        let below = entries.iter().any(|entry| entry.high < 0.0);
        self.first_axis = Computed::Value(entries);
        Ok(if above && below {
            StructureWord::StructuredCrossover
        } else {
            StructureWord::SingleAxisStrength
        })
    }
}

/// Joins the words of both scales into the verdict.
pub(crate) fn verdict(
    clipped: &Computed<Interaction>,
    raw: &Computed<Interaction>,
    plan: &AnalysisPlan,
) -> Result<H1Verdict, NotComputed> {
    let leading = clipped.as_result()?;
    let on_clipped = leading.structure.as_result()?.word;
    let on_raw = raw.as_result()?.structure.as_result()?.word;
    let word = if on_clipped == on_raw {
        on_clipped
    } else {
        StructureWord::Undecided
    };
    let p = |name: TestName| {
        leading.test(name).map_or_else(
            || Computed::absent("the test was not run"),
            |test| test.p.clone(),
        )
    };
    let (literal_p, wild_p) = (p(TestName::Literal), p(TestName::Wild));
    let primary = match plan.blocks {
        Blocks::Ignore => TestName::Literal,
        Blocks::Use => TestName::BlockedLiteral,
    };
    let primary_p = p(primary);
    let rejects = |p: &Computed<PValue>| p.value().map(|p| p.value <= plan.alpha);
    let disagreement = match (rejects(&primary_p), rejects(&wild_p)) {
        (Some(false), Some(true)) => Some(
            "the primary does not reject and the wild test does: the null of the primary also excludes main effects, \
             and with a main effect of methods it is conservative",
        ),
        (Some(true), Some(false)) => Some(
            "the primary rejects and the wild test does not: the null of the primary assumes that sessions are \
             exchangeable between methods, so a main effect or unequal variances can reject it without interaction",
        ),
        _ => None,
    };
    Ok(H1Verdict {
        word,
        statement: word.statement().to_owned(),
        clipped: on_clipped,
        raw: on_raw,
        supported: matches!(
            word,
            StructureWord::Structured | StructureWord::StructuredCrossover
        ),
        primary,
        primary_p,
        literal_p,
        wild_p,
        disagreement: disagreement.map(str::to_owned),
    })
}
