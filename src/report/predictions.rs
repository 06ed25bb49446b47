//! Knows how what was predicted of a cell before any session compares with what its sessions showed.
//! Must not compute statistics: verdicts are read off intervals that the findings hold.
//! Start at `PredictionFinding::all`.

use evalxrl_analysis::computed::Computed;
use evalxrl_analysis::findings::{Findings, StratumFindings};
use evalxrl_analysis::lift::Difference;
use evalxrl_analysis::scale::Scale;
use evalxrl_analysis::score_table::Invocations;
use serde::Serialize;

use super::run::{Expected, Prediction};

/// A prediction with what was found.
#[derive(Debug, Clone, Serialize)]
pub(super) struct PredictionFinding<'a> {
    pub(super) coder: Option<&'a str>,
    pub(super) invocations: Option<Invocations>,
    pub(super) prediction: &'a Prediction,
    /// Of the raw score; `welch` is the interval that the verdict is read off.
    pub(super) lift: Computed<Difference>,
    /// Whether H3 found the cell to be harmed.
    pub(super) harmed: bool,
    pub(super) found: Found,
}

/// What became of a prediction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Found {
    /// The interval of the lift lies on the predicted side of 0.
    Confirmed,
    /// It lies on the other side.
    Contradicted,
    /// It holds 0, or there is none.
    Undecided,
    /// The cell has no sessions, or there is nothing to compare them with.
    NotRun,
}

impl<'a> PredictionFinding<'a> {
    /// Every prediction in every stratum, in order of strata.
    pub(super) fn all(predictions: &'a [Prediction], findings: &'a Findings) -> Vec<Self> {
        let strata = findings.strata.iter();
        strata
            .flat_map(|stratum| predictions.iter().map(|each| Self::of(each, stratum)))
            .collect()
    }

    fn of(prediction: &'a Prediction, stratum: &'a StratumFindings) -> Self {
        let (malfunction, method) = (prediction.malfunction.as_str(), prediction.method.as_str());
        let lift = stratum
            .lifts
            .methods
            .iter()
            .filter(|lift| lift.scale == Scale::Raw && lift.method == method)
            .flat_map(|lift| &lift.malfunctions)
            .find(|cell| cell.malfunction == malfunction)
            .map_or_else(
                || Computed::absent(format!("{method} was not run on {malfunction}")),
                |cell| cell.lift.clone(),
            );
        let harmed = stratum.h3.value().is_some_and(|harm| {
            let mut cells = harm.harmed.iter();
            cells.any(|cell| cell.malfunction == malfunction && cell.method == method)
        });
        Self {
            coder: stratum.coder.as_deref(),
            invocations: stratum.invocations,
            prediction,
            found: Found::of(prediction.expected, &lift),
            lift,
            harmed,
        }
    }
}

impl Found {
    /// Reads the Welch interval: a percentile interval covers too little below ten sessions, and no verdict uses it.
    fn of(expected: Expected, lift: &Computed<Difference>) -> Self {
        let Some(lift) = lift.value() else {
            return Self::NotRun;
        };
        let (above, below) = match lift.welch.value() {
            Some(interval) => (interval.lies_above(0.0), interval.lies_below(0.0)),
            None => return Self::Undecided,
        };
        match (expected, above, below) {
            (Expected::Reveal, true, _) | (Expected::Mislead, _, true) => Self::Confirmed,
            (Expected::Reveal, _, true) | (Expected::Mislead, true, _) => Self::Contradicted,
            _ => Self::Undecided,
        }
    }
}

#[cfg(test)]
mod tests {
    use evalxrl_analysis::estimate::{Interval, IntervalMethod};

    use super::*;

    fn lift(ends: Option<[f64; 2]>) -> Computed<Difference> {
        let welch = match ends {
            Some([low, high]) => Computed::Value(Interval {
                estimate: f64::midpoint(low, high),
                low,
                high,
                level: 0.95,
                method: IntervalMethod::Welch,
                flags: Vec::new(),
            }),
            None => Computed::absent("one session"),
        };
        Computed::Value(Difference {
            estimate: 0.0,
            malfunctions: 1,
            percentile: Computed::absent("not looked at"),
            welch,
        })
    }

    #[test]
    fn a_prediction_is_read_off_the_side_on_which_the_interval_lies() {
        let of = |expected, ends| Found::of(expected, &lift(ends));
        assert_eq!(of(Expected::Reveal, Some([0.1, 0.2])), Found::Confirmed);
        assert_eq!(
            of(Expected::Reveal, Some([-0.2, -0.1])),
            Found::Contradicted
        );
        assert_eq!(of(Expected::Reveal, Some([-0.1, 0.2])), Found::Undecided);
        assert_eq!(of(Expected::Mislead, Some([-0.2, -0.1])), Found::Confirmed);
        assert_eq!(of(Expected::Mislead, Some([0.1, 0.2])), Found::Contradicted);
        assert_eq!(of(Expected::Mislead, None), Found::Undecided);
        let absent = Computed::absent("no session");
        assert_eq!(Found::of(Expected::Mislead, &absent), Found::NotRun);
    }
}
