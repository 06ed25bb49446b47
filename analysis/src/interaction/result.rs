//! Knows how the results of H1 are written down.
//! Must not know how they are computed.
//! Start at `H1`.

use serde::{Deserialize, Serialize};

use crate::axes::AxesSummary;
use crate::clusters::Clusters;
use crate::computed::Computed;
use crate::effect_size::EffectSize;
use crate::estimate::PValue;
use crate::scale::Scale;
use crate::structure::{H1Verdict, Structure};

/// H1 on every scale, with its verdict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct H1 {
    /// The answer; both scales must agree.
    pub verdict: Computed<H1Verdict>,
    /// On the clipped scale.
    pub clipped: Computed<Interaction>,
    /// On the raw scale, winsorised.
    pub raw: Computed<Interaction>,
    /// Sensitivity: on the raw scale as stored.
    pub raw_unwinsorised: Computed<Interaction>,
    /// Sensitivity: clipped, every missing planned session taken as 0; absent where none is missing.
    pub missing_as_zero: Computed<Interaction>,
}

/// H1 on one scale.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Interaction {
    /// The scale of the scores.
    pub scale: Scale,
    /// Ids of the methods in the matrix, sorted.
    pub methods: Vec<String>,
    /// Ids of the malfunctions in the matrix, sorted.
    pub malfunctions: Vec<String>,
    /// Sessions in the matrix.
    pub sessions: u64,
    /// Whether every cell has the same number of sessions.
    pub balanced: bool,
    /// (method, malfunction) without a session.
    pub empty_cells: Vec<(String, String)>,
    /// (method, malfunction) with one session: without residual, left out of the residuals of `wild`.
    pub single_session_cells: Vec<(String, String)>,
    /// Sums of squares and F.
    pub decomposition: Decomposition,
    /// How large the interaction is, with intervals.
    pub effect_size: Computed<EffectSize>,
    /// One entry per test, the pre-registered primary first.
    pub tests: Vec<InteractionTest>,
    /// The decomposition within blocks; absent without block labels.
    pub blocked: Computed<BlockedDecomposition>,
    /// Singular values, first share beside that of noise, Tukey's degree of freedom.
    pub axes: Computed<AxesSummary>,
    /// The steps of the verdict on this scale.
    pub structure: Computed<Structure>,
    /// Groups of methods and of malfunctions; they decide nothing.
    pub clusters: Computed<Clusters>,
}

impl Interaction {
    /// Finds a test by name.
    pub fn test(&self, name: TestName) -> Option<&InteractionTest> {
        self.tests.iter().find(|test| test.name == name)
    }
}

/// Sums of squares in squared score units.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Decomposition {
    /// SS_M; only where every cell has the same number of sessions.
    pub ss_method: Computed<f64>,
    /// SS_K; only where every cell has the same number of sessions.
    pub ss_malfunction: Computed<f64>,
    /// SS_I.
    pub ss_interaction: f64,
    /// SS of method and interaction together: y ~ malfunction against cells.
    pub ss_method_and_interaction: f64,
    /// SSE: within cells.
    pub sse: f64,
    /// Degrees of freedom of SS_I.
    pub df_interaction: u64,
    /// Degrees of freedom of method and interaction together.
    pub df_method_and_interaction: u64,
    /// Degrees of freedom of SSE.
    pub df_error: u64,
    /// SS_T = Σ(Y − Ȳ)².
    pub ss_total: f64,
    /// MSE = SSE/df_E.
    pub mse: Computed<f64>,
    /// F_I.
    pub f_interaction: Computed<f64>,
    /// F_any.
    pub f_any: Computed<f64>,
    /// P(F(df, df_E) > F_any); descriptive, `session_any` decides.
    pub p_any_parametric: Computed<f64>,
    /// ω²_p, not truncated; its intervals are with the effect size.
    pub partial_omega_squared: Computed<f64>,
    /// (MS_I − MSE)/N, not truncated at 0; balanced only.
    pub variance_of_interaction: Computed<f64>,
    /// σ̂_γ²/(σ̂_γ² + σ̂_α²): the share of interaction in what methods do; balanced only.
    pub interaction_share: Computed<f64>,
}

/// Sums of squares over complete blocks: those with exactly one session of every method on their malfunction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BlockedDecomposition {
    /// Complete blocks over all malfunctions.
    pub blocks: u64,
    /// Sessions left out: of incomplete blocks, or without a block.
    pub dropped_sessions: u64,
    /// SS_I over complete blocks.
    pub ss_interaction: f64,
    /// Degrees of freedom of SS_I.
    pub df_interaction: u64,
    /// SSE_b = Σ(Y − c_mk − b_kn + c_.k)².
    pub sse: f64,
    /// Σ_k (N_k − 1)(M − 1), with N_k complete blocks of malfunction k.
    pub df_error: u64,
    /// (SS_I/df_I)/(SSE_b/df).
    pub f: Computed<f64>,
}

/// One test of H1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InteractionTest {
    /// Which test.
    pub name: TestName,
    /// What it is for.
    pub role: TestRole,
    /// The observed statistic: SS_I for `literal`, `blocked_literal` and `cell_label_permutation` (of cell means, weighted
    /// by their sessions), F_any for `session_any`, F within blocks for `blocked_f`, F_I otherwise.
    pub statistic: Computed<f64>,
    /// Its p-value.
    pub p: Computed<PValue>,
    /// What a reader must know beside the p-value; null where nothing.
    pub note: Option<String>,
}

/// The tests of H1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TestName {
    /// Session labels permuted within each malfunction; SS_I.
    Literal,
    /// Signs of scaled residuals; F_I.
    Wild,
    /// As `literal`; F_I.
    SessionF,
    /// As `literal`; F_any: does the method matter in any malfunction?
    SessionAny,
    /// Residuals of the additive fit permuted within each malfunction; F_I.
    FreedmanLane,
    /// F distribution; F_I.
    Parametric,
    /// F distribution with Box's degrees of freedom, which let variances differ between cells; F_I.
    AtsBox,
    /// Session labels permuted within each block of a malfunction; SS_I.
    BlockedLiteral,
    /// As `blocked_literal`; F within blocks.
    BlockedF,
    /// Means of cells permuted within each malfunction; SS_I.
    CellLabelPermutation,
}

impl TestName {
    /// Every test, in the order of findings.
    pub const ALL: [Self; 10] = [
        Self::Literal,
        Self::Wild,
        Self::SessionAny,
        Self::SessionF,
        Self::FreedmanLane,
        Self::Parametric,
        Self::AtsBox,
        Self::BlockedLiteral,
        Self::BlockedF,
        Self::CellLabelPermutation,
    ];
}

/// What a test is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TestRole {
    /// Registered before the run, and always printed.
    Primary,
    /// Decides whether additivity is rejected.
    Decides,
    /// Decides whether the method matters at all.
    AnyEffect,
    /// Printed beside.
    Sensitivity,
    /// Answers no question of H1; shown because it is often asked for.
    Diagnostic,
}
