//! Knows the Benjamini–Hochberg adjustment of a family of p-values, absent members included.
//! Must not know where p-values come from.
//! Start at `benjamini_hochberg`.

/// One present member of a family after adjustment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Adjusted {
    /// The adjusted p-value.
    pub value: f64,
    /// Adjusted ≤ q, up to rounding.
    pub rejected: bool,
}

/// Why a family cannot be adjusted.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum MultiplicityError {
    /// A p-value that is none.
    #[error("p-value {value} at position {position} is outside [0, 1]")]
    OutOfRange {
        /// Where, from 0.
        position: usize,
        /// The value.
        value: f64,
    },
    /// A rate that is none.
    #[error("q {0} is outside (0, 1)")]
    Rate(f64),
}

/// Adjusts: adjusted_(i) = min over j ≥ i of min(1, m·p_(j)/j), m = max(`planned`, number present). Absent stays absent.
///
/// # Errors
/// A p-value outside [0, 1] (NaN included), or q outside (0, 1).
pub fn benjamini_hochberg(
    p: &[Option<f64>],
    q: f64,
    planned: Option<usize>,
) -> Result<Vec<Option<Adjusted>>, MultiplicityError> {
    if !(q > 0.0 && q < 1.0) {
        return Err(MultiplicityError::Rate(q));
    }
    let mut present: Vec<(usize, f64)> = Vec::new();
    for (position, value) in p.iter().enumerate() {
        if let Some(value) = *value {
            if !(0.0..=1.0).contains(&value) {
                return Err(MultiplicityError::OutOfRange { position, value });
            }
            present.push((position, value));
        }
    }
    present.sort_by(|first, second| first.1.total_cmp(&second.1));
    let family = planned.unwrap_or(0).max(present.len()) as f64;
    let mut adjusted = vec![None; p.len()];
    let mut smallest = 1.0_f64;
    for (rank, (position, value)) in present.into_iter().enumerate().rev() {
        smallest = smallest.min(family * value / (rank + 1) as f64);
        let rejected = smallest <= q * (1.0 + 1e-12);
        adjusted[position] = Some(Adjusted {
            value: smallest,
            rejected,
        });
    }
    Ok(adjusted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_planned_but_missing_cell_counts() {
        let p = [Some(0.001), None, Some(0.02), Some(0.03), None, Some(0.5)];
        let first = |planned| {
            benjamini_hochberg(&p, 0.05, planned).unwrap()[0]
                .unwrap()
                .value
        };
        assert!((first(None) - 0.004).abs() < 1e-15);
        assert!((first(Some(6)) - 0.006).abs() < 1e-15);
    }

    #[test]
    fn an_impossible_p_value_is_named() {
        let error = benjamini_hochberg(&[Some(0.5), Some(f64::NAN)], 0.05, None).unwrap_err();
        assert_eq!(
            error.to_string(),
            "p-value NaN at position 1 is outside [0, 1]"
        );
    }
}
