//! Knows H1: does the method × malfunction matrix have structure beyond main effects?
//! Must not know the other hypotheses.
//! Start at `interaction`.

mod decomposition;
mod design;
mod matrix;
mod result;
mod session_labels;
mod wild;

use rand_core::RngCore;

pub use decomposition::balanced_sums_of_squares;
pub use matrix::Matrix;
pub use result::{Decomposition, H1, Interaction, InteractionTest, TestName, TestRole};

pub(crate) use decomposition::Observed;
pub(crate) use design::column_centred;
pub(crate) use session_labels::session_label_tests;
pub(crate) use wild::{scaled_residuals, wild_means, wild_test};

use crate::computed::{Computed, NotComputed};
use crate::estimate::PValue;
use crate::moments::f_upper_tail;
use crate::plan::AnalysisPlan;
use crate::randomness::{NamedSeeds, Streams, generator};
use crate::scale::Scale;
use crate::score_table::Stratum;
use crate::structure::{Steps, structure, verdict};

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
        verdict: verdict(&clipped, &raw, plan.alpha).into(),
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

/// Computes H1 of a matrix. Draws five keys: session labels, wild signs, beyond the first axis, the axis, noise.
///
/// # Errors
/// A matrix that has no interaction to test.
pub fn interaction_of(
    matrix: &Matrix,
    scale: Scale,
    plan: &AnalysisPlan,
    rng: &mut impl RngCore,
) -> Result<Interaction, NotComputed> {
    let streams: [Streams; 5] = std::array::from_fn(|_| Streams::draw(rng));
    let [labels, signs, ..] = &streams;
    let observed = Observed::new(matrix)?;
    let decomposition = observed.describe(matrix);
    let label_tests = session_label_tests(&observed, plan, labels);
    let wild = wild_test(matrix, plan, signs);
    let f = &decomposition.f_interaction;
    let on_f = |p: PValue| f.clone().map(|_| p);
    let (wild_f, wild_p) = match wild.clone() {
        Ok((f, p)) => (Computed::Value(f), Computed::Value(p)),
        Err(reason) => (
            Computed::NotComputed(reason.clone()),
            Computed::NotComputed(reason),
        ),
    };
    let parametric = f.clone().map(|f| {
        let df = decomposition.df_interaction as f64;
        PValue::from_distribution(f_upper_tail(f, df, decomposition.df_error as f64))
    });
    let test = |name, role, statistic, p| InteractionTest {
        name,
        role,
        statistic,
        p,
    };
    let any_p = decomposition.f_any.clone().map(|_| label_tests.any);
    let tests = vec![
        test(
            TestName::Literal,
            TestRole::Primary,
            Computed::Value(decomposition.ss_interaction),
            Computed::Value(label_tests.literal),
        ),
        test(TestName::Wild, TestRole::Decides, wild_f, wild_p),
        test(
            TestName::SessionAny,
            TestRole::AnyEffect,
            decomposition.f_any.clone(),
            any_p.clone(),
        ),
        test(
            TestName::SessionF,
            TestRole::Sensitivity,
            f.clone(),
            on_f(label_tests.session_f),
        ),
        test(
            TestName::Parametric,
            TestRole::Sensitivity,
            f.clone(),
            parametric,
        ),
    ];
    let steps = Steps {
        any_effect: any_p,
        additivity: wild.map(|(_, p)| p).into(),
    };
    Ok(Interaction {
        scale,
        methods: matrix.methods().to_vec(),
        malfunctions: matrix.malfunctions().to_vec(),
        sessions: matrix.sessions() as u64,
        balanced: matrix.balanced().is_some(),
        empty_cells: matrix.cells_of_size(0),
        single_session_cells: matrix.cells_of_size(1),
        decomposition,
        tests,
        structure: structure(matrix, &steps, plan, &streams).into(),
    })
}
