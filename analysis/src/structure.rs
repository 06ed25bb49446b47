//! Knows the verdict of H1: is the method × malfunction matrix uniform, of a single axis, or structured?
//! Must not know how sums of squares are tested.
//! Start at `structure`.

use serde::{Deserialize, Serialize};

use crate::axes::Axes;
use crate::computed::{Computed, NotComputed};
use crate::estimate::PValue;
use crate::interaction::{Interaction, Matrix, Observed, TestName, session_label_tests, wild_test};
use crate::plan::AnalysisPlan;
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
    /// p of `literal` on the clipped scale.
    pub literal_p: Computed<PValue>,
    /// p of `wild` on the clipped scale.
    pub wild_p: Computed<PValue>,
    /// Where `literal` and `wild` disagree at α on the clipped scale: why; null where they agree.
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

/// The steps of the verdict on one scale.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Structure {
    /// Where the steps end.
    pub word: StructureWord,
    /// The level of each step.
    pub alpha: f64,
    /// Malfunctions left out, because a cell is empty.
    pub left_out: Vec<String>,
    /// N of step 3: sessions per cell, or the harmonic mean of them.
    pub sessions_per_cell: f64,
    /// Whether N is a harmonic mean of unequal numbers.
    pub harmonic: bool,
    /// Step 1: F_any by session labels.
    pub any_effect: PValue,
    /// Step 2: `wild`; absent where step 1 ended or it cannot be computed.
    pub additivity: Computed<PValue>,
    /// Step 3: F_2 beyond the first axis; absent where an earlier step ended or M = 2.
    pub beyond_first_axis: Computed<BeyondFirstAxis>,
    /// Singular values of C_mk = c_mk − c_.k, descending, in score units.
    pub singular_values: Vec<f64>,
    /// s_1²/Σs².
    pub first_share: Computed<f64>,
    /// The mean of `first_share` under `wild` null data: what noise alone gives.
    pub first_share_under_noise: Computed<f64>,
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

/// The p-values of the first two steps on the whole matrix.
pub(crate) struct Steps {
    pub any_effect: Computed<PValue>,
    pub additivity: Computed<PValue>,
}

/// Goes through the steps on one matrix; the streams are those of session labels, wild signs, beyond the first axis, the
/// axis, noise. Where malfunctions are left out, the first two steps are computed anew on what remains.
pub(crate) fn structure(
    whole: &Matrix,
    steps: &Steps,
    plan: &AnalysisPlan,
    streams: &[Streams; 5],
) -> Result<Structure, NotComputed> {
    let (matrix, left_out) = whole.complete_part();
    let again;
    let steps = if left_out.is_empty() {
        steps
    } else {
        let observed = Observed::new(&matrix)?;
        let any = session_label_tests(&observed, plan, &streams[0]).any;
        let f_any = observed.design.f_any(observed.sums.any, observed.sse);
        again = Steps {
            any_effect: f_any.map(|_| any).into(),
            additivity: wild_test(&matrix, plan, &streams[1]).map(|(_, p)| p).into(),
        };
        &again
    };
    let any_effect = steps.any_effect.as_result()?.clone();
    let axes = Axes::new(&matrix)?;
    let noise = axes.share_under_noise(&matrix, plan, &streams[4]);
    let mut found = Structure {
        word: StructureWord::Uniform,
        alpha: plan.alpha,
        left_out,
        sessions_per_cell: axes.sessions_per_cell,
        harmonic: matrix.balanced().is_none(),
        additivity: Computed::absent("step 1 ended the verdict"),
        beyond_first_axis: Computed::absent("an earlier step ended the verdict"),
        first_axis: Computed::absent("no step needed the first axis"),
        first_share: axes.first_share().into(),
        singular_values: axes.singular_values.clone(),
        first_share_under_noise: noise.into(),
        any_effect,
    };
    if found.any_effect.value > plan.alpha {
        return Ok(found);
    }
    found.additivity = steps.additivity.clone();
    if found.additivity.as_result()?.value > plan.alpha {
        found.word = StructureWord::SingleAxisParallel;
        return Ok(found);
    }
    found.beyond_first_axis = axes.beyond_first(&matrix, plan, &streams[2]).into();
    if found
        .beyond_first_axis
        .value()
        .is_some_and(|beyond| beyond.p.value <= plan.alpha)
    {
        found.word = StructureWord::Structured;
        return Ok(found);
    }
    let entries = axes.first_axis(&matrix, plan, &streams[3]);
    let mixed =
        entries.iter().any(|entry| entry.low > 0.0) && entries.iter().any(|entry| entry.high < 0.0);
    found.word = if mixed {
        StructureWord::StructuredCrossover
    } else {
        StructureWord::SingleAxisStrength
    };
    found.first_axis = Computed::Value(entries);
    Ok(found)
}

/// Joins the words of both scales into the verdict.
pub(crate) fn verdict(
    clipped: &Computed<Interaction>,
    raw: &Computed<Interaction>,
    alpha: f64,
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
    let rejects = |p: &Computed<PValue>| p.value().map(|p| p.value <= alpha);
    let disagreement = match (rejects(&literal_p), rejects(&wild_p)) {
        (Some(false), Some(true)) => Some(
            "the literal test does not reject and the wild test does: the literal null also excludes main effects, \
             and with a main effect of methods it is conservative",
        ),
        (Some(true), Some(false)) => Some(
            "the literal test rejects and the wild test does not: the literal null assumes that sessions are \
             exchangeable between methods, so a main effect or unequal variances can reject it without interaction",
        ),
        _ => None,
    };
    Ok(H1Verdict {
        word,
        clipped: on_clipped,
        raw: on_raw,
        supported: matches!(
            word,
            StructureWord::Structured | StructureWord::StructuredCrossover
        ),
        literal_p,
        wild_p,
        disagreement: disagreement.map(str::to_owned),
    })
}
