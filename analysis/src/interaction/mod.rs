//! Knows H1: does the method × malfunction matrix have structure beyond main effects?
//! Must not know the other hypotheses.
//! Start at `interaction`.

mod ats_box;
mod blocked;
mod cell_labels;
mod cross;
mod deal;
mod decomposition;
mod design;
mod matrix;
mod result;
mod run;
mod session_labels;
mod wild;

use rand_core::RngCore;

pub use ats_box::{AtsBox, ats_box};
pub use decomposition::balanced_sums_of_squares;
pub use matrix::Matrix;
pub use result::{
    BlockedDecomposition, Decomposition, H1, Interaction, InteractionTest, TestName, TestRole,
};
pub use run::run_tests;

pub(crate) use decomposition::Observed;
pub(crate) use design::{cell_sums, column_centred};
pub(crate) use run::{Run, TestStreams};
pub(crate) use wild::{scaled_residuals, wild_means};

use crate::axes::summary;
use crate::clusters::clusters;
use crate::computed::{Computed, NotComputed};
use crate::effect_size::effect_size;
use crate::plan::AnalysisPlan;
use crate::randomness::{NamedSeeds, Streams, generator};
use crate::scale::Scale;
use crate::score_table::Stratum;
use crate::structure::{Structure, structure, verdict};

/// Computes H1 on every scale, with keys `h1/{scale}` and `h1/missing_as_zero`.
pub fn h1(stratum: &Stratum, plan: &AnalysisPlan, seeds: &impl NamedSeeds) -> H1 {
    let on = |scale: Scale| -> Computed<Interaction> {
        let mut rng = generator(seeds, &format!("h1/{}", scale.name()));
        interaction(stratum, scale, plan, &mut rng).into()
    };
    let clipped = on(Scale::Clipped);
    let raw = on(Scale::Raw);
    let missing = stratum.cells().any(|(_, method, cell)| {
        stratum.roles().enters_hypotheses(method) && (cell.rows.len() as u64) < cell.planned
    });
    let missing_as_zero = if missing {
        let mut rng = generator(seeds, "h1/missing_as_zero");
        Matrix::of_stratum(stratum, Scale::Clipped, plan, true)
            .and_then(|matrix| interaction_of(&matrix, Scale::Clipped, plan, &mut rng))
            .into()
    } else {
        Computed::absent("no planned session is missing")
    };
    H1 {
        verdict: verdict(&clipped, &raw, plan).into(),
        raw_unwinsorised: on(Scale::RawUnwinsorised),
        clipped,
        raw,
        missing_as_zero,
    }
}

/// Computes H1 of a stratum on one scale.
///
/// # Errors
/// A matrix that has no interaction to test.
pub fn interaction(
    stratum: &Stratum,
    scale: Scale,
    plan: &AnalysisPlan,
    rng: &mut impl RngCore,
) -> Result<Interaction, NotComputed> {
    let matrix = Matrix::of_stratum(stratum, scale, plan, false)?;
    interaction_of(&matrix, scale, plan, rng)
}

///
/// # Errors
/// A matrix that has no interaction to test.
pub fn interaction_of(
    matrix: &Matrix,
    scale: Scale,
    plan: &AnalysisPlan,
    rng: &mut impl RngCore,
) -> Result<Interaction, NotComputed> {
    let streams = TestStreams::draw(rng);
    let axes: [Streams; 2] = std::array::from_fn(|_| Streams::draw(rng));
    let [noise, effect, resamples, nulls] = std::array::from_fn(|_| Streams::draw(rng));
    let observed = Observed::new(matrix)?;
    let run = Run::new(matrix, &observed, plan, &streams);
    Ok(Interaction {
        scale,
        methods: matrix.methods().to_vec(),
        malfunctions: matrix.malfunctions().to_vec(),
        sessions: matrix.sessions() as u64,
        balanced: matrix.balanced().is_some(),
        empty_cells: matrix.cells_of_size(0),
        single_session_cells: matrix.cells_of_size(1),
        decomposition: observed.describe(matrix),
        effect_size: effect_size(&observed, plan, &effect).into(),
        tests: run::order(plan)
            .into_iter()
            .map(|name| run.test(name))
            .collect(),
        blocked: run.blocked().map(blocked::Blocked::describe).into(),
        axes: summary(matrix, plan, &noise).into(),
        structure: structure(matrix, &run, plan, &axes).into(),
        clusters: clusters(matrix, plan, [&resamples, &nulls]).into(),
    })
}

/// Computes the verdict of one matrix alone, step by step and no further than needed. Draws seven keys, as `interaction_of`
/// draws its first seven, so that both give the same verdict.
///
/// # Errors
/// A matrix that has no interaction to test, or a first step that cannot be taken.
pub fn structure_of(
    matrix: &Matrix,
    plan: &AnalysisPlan,
    rng: &mut impl RngCore,
) -> Result<Structure, NotComputed> {
    let streams = TestStreams::draw(rng);
    let axes: [Streams; 2] = std::array::from_fn(|_| Streams::draw(rng));
    let observed = Observed::new(matrix)?;
    let run = Run::new(matrix, &observed, plan, &streams);
    structure(matrix, &run, plan, &axes)
}
