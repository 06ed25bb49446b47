//! Knows statistics of cell means: their mean, their median, and the optimality gap.
//! Must not know resamples.
//! Start at `mean_of_cells`.

use crate::computed::{NotComputed, finite};
use crate::moments::mean;

/// The cells that have sessions.
///
/// # Errors
/// None has.
pub(super) fn filled<C: AsRef<[f64]>>(cells: &[C]) -> Result<Vec<&[f64]>, NotComputed> {
    let filled: Vec<&[f64]> = cells
        .iter()
        .map(AsRef::as_ref)
        .filter(|cell| !cell.is_empty())
        .collect();
    if filled.is_empty() {
        return Err(NotComputed::because("no session"));
    }
    Ok(filled)
}

/// K⁻¹Σ_k c_k over cells by malfunction (`cells[k]` are the scores of malfunction k); cells without sessions are left out.
///
/// # Errors
/// No session, or scores too large for floating point.
pub fn mean_of_cells<C: AsRef<[f64]>>(cells: &[C]) -> Result<f64, NotComputed> {
    finite(mean(&means(&filled(cells)?)))
}

/// Median of the cell means; the middle two are averaged.
///
/// # Errors
/// No session, or scores too large for floating point.
pub fn median_of_cells<C: AsRef<[f64]>>(cells: &[C]) -> Result<f64, NotComputed> {
    finite(median(&mut means(&filled(cells)?)))
}

/// K⁻¹Σ_k mean_n(γ − min(Y, γ)), by how much scores fall short of a target γ on average (Agarwal et al., "Deep
/// reinforcement learning at the edge of the statistical precipice", 2021).
///
/// # Errors
/// No session, or scores too large for floating point.
pub fn optimality_gap<C: AsRef<[f64]>>(cells: &[C], target: f64) -> Result<f64, NotComputed> {
    mean_of_cells(
        &filled(cells)?
            .into_iter()
            .map(|cell| shortfalls(cell, target))
            .collect::<Vec<_>>(),
    )
}

/// γ − min(Y, γ) of each session.
pub(super) fn shortfalls(cell: &[f64], target: f64) -> Vec<f64> {
    cell.iter()
        .map(|score| target - score.min(target))
        .collect()
}

pub(super) fn means(cells: &[&[f64]]) -> Vec<f64> {
    cells.iter().map(|cell| mean(cell)).collect()
}

/// Median of values (not empty), which are sorted.
pub(super) fn median(values: &mut [f64]) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len() % 2 == 1 {
        values[middle]
    } else {
        f64::midpoint(values[middle - 1], values[middle])
    }
}
