//! Knows which figures a stratum has and what each says to somebody who does not see it.
//! Must not know how a figure is drawn.
//! Start at `Drawings::of`.

use std::collections::BTreeMap;

use evalxrl_analysis::aggregate::{MethodAggregates, Profile};
use evalxrl_analysis::computed::Computed;
use evalxrl_analysis::findings::StratumFindings;
use evalxrl_analysis::scale::Scale;
use evalxrl_analysis::score_table::{Role, Roles};

use super::document::Document;
use super::figures::{Distributions, Figure, FigureError, Forest, Heatmap, Panel, Panels};

/// The figures of one stratum; the later ones where its data have them.
#[derive(Debug, Clone)]
pub(super) struct Drawings {
    pub(super) heatmap: Figure,
    pub(super) forest: Figure,
    pub(super) distributions: Figure,
    pub(super) profiles: Option<Figure>,
    pub(super) truncation: Option<Figure>,
    pub(super) shapley: Option<Figure>,
}

impl Drawings {
    pub(super) fn of(
        document: &Document<'_>,
        stratum: &StratumFindings,
        classes: &BTreeMap<String, String>,
        suffix: &str,
    ) -> Result<Self, FigureError> {
        Ok(Self {
            heatmap: Figure::render(
                format!("heatmap{suffix}"),
                "Mean lift by malfunction and method",
                "Rows are malfunctions by environment and class, columns are arms; a cell shows the mean lift over \
                 no-method on the raw score and the number of sessions. The column of no-method shows its mean score. \
                 The table below holds the same values."
                    .to_owned(),
                &Heatmap::of(stratum, classes),
            )?,
            forest: Figure::render(
                format!("forest{suffix}"),
                "Lift of every method",
                "One line per method: mean lift over no-method on the raw score with its bootstrap interval; dashed \
                 lines mark the cheat oracle and, where it was run, the placebo. The table below holds the same values."
                    .to_owned(),
                &Forest::of(stratum),
            )?,
            distributions: distributions(document, stratum, suffix)?,
            profiles: profiles(&stratum.aggregates.methods, suffix)?,
            truncation: truncation(document, stratum, suffix)?,
            shapley: shapley(stratum, suffix)?,
        })
    }

    /// The figure that belongs to a part, where it has one.
    pub(super) fn of_part(&self, anchor: &str) -> Option<&Figure> {
        match anchor {
            "aggregates" => self.profiles.as_ref(),
            "truncation" => self.truncation.as_ref(),
            "shapley" => self.shapley.as_ref(),
            _ => None,
        }
    }

    pub(super) fn all(self) -> impl Iterator<Item = Figure> {
        [self.heatmap, self.forest, self.distributions]
            .into_iter()
            .chain(self.profiles)
            .chain(self.truncation)
            .chain(self.shapley)
    }
}

fn distributions(
    document: &Document<'_>,
    stratum: &StratumFindings,
    suffix: &str,
) -> Result<Figure, FigureError> {
    let arms: Vec<&str> = stratum
        .cells
        .iter()
        .map(|cell| cell.method.as_str())
        .collect();
    let roles = Roles::default();
    // The same sessions as in the analysis: those of the coder, and arms that join every stratum.
    let sessions = document
        .sessions
        .iter()
        .map(|entry| entry.session)
        .filter(|row| {
            let method = row.key.method.as_str();
            let own = Some(row.key.coder.as_str()) == stratum.coder.as_deref();
            let budget = stratum.invocations.map(|budget| budget.to_string());
            let crossed = roles.of(method) == Role::Xrl;
            arms.contains(&method)
                && (own || roles.of(method) == Role::OptimalRepair)
                && (!crossed || budget.as_deref() == Some(row.key.invocations.to_string().as_str()))
        });
    let points = Distributions::of(sessions.map(|row| (row.key.method.as_str(), row.raw)));
    let beyond = match points.beyond() {
        0 => String::new(),
        count => format!(
            " {count} of them lie beyond the ends of the axis and are drawn as triangles there."
        ),
    };
    Figure::render(
        format!("distributions{suffix}"),
        "Raw scores of every session by arm",
        format!(
            "One point per session, one line per arm, on the un-clipped score.{beyond} The table of cells below gives \
             mean and spread."
        ),
        &points,
    )
}

fn profiles(methods: &[MethodAggregates], suffix: &str) -> Result<Option<Figure>, FigureError> {
    let raw = methods.iter().filter(|each| each.scale == Scale::Raw);
    let curve = |each: &MethodAggregates| {
        let profile = each.score_profile.value()?;
        Some(Panel {
            name: each.method.clone(),
            points: profile
                .thresholds
                .iter()
                .copied()
                .zip(profile.shares.iter().copied())
                .collect(),
            band: band(profile),
        })
    };
    let reference = raw
        .clone()
        .find(|each| each.role == Role::NoMethod)
        .and_then(curve);
    let mut others: Vec<&MethodAggregates> =
        raw.filter(|each| each.role != Role::NoMethod).collect();
    others.sort_by_key(|each| each.role != Role::Xrl);
    let panels: Vec<Panel> = others.into_iter().filter_map(curve).collect();
    if panels.is_empty() {
        return Ok(None);
    }
    let end = panels
        .iter()
        .flat_map(|panel| &panel.points)
        .map(|(x, _)| *x)
        .fold(f64::MIN_POSITIVE, f64::max);
    let drawing = Panels {
        panels,
        reference,
        across: "threshold, raw score",
        up: "share of sessions above",
        steps: false,
        end,
        counts: false,
    };
    Figure::render(
        format!("profiles{suffix}"),
        "Performance profile of every method",
        "One panel per arm: the share of sessions whose raw score lies above each threshold, malfunctions weighted \
         equally, with a pointwise band; the dashed curve is no-method. A higher curve is better. The table below holds \
         the same values."
            .to_owned(),
        &drawing,
    )
    .map(Some)
}

fn band(profile: &Profile) -> Option<[Vec<f64>; 2]> {
    let (low, high) = profile.low.value().zip(profile.high.value())?;
    Some([low.clone(), high.clone()])
}

fn truncation(
    document: &Document<'_>,
    stratum: &StratumFindings,
    suffix: &str,
) -> Result<Option<Figure>, FigureError> {
    let mut all = document.budget_curves.truncation.iter();
    let own = all
        .find(|curves| curves.coder == stratum.coder && curves.invocations == stratum.invocations);
    let Some((Computed::Value(curves), Computed::Value(budget))) =
        own.map(|own| (&own.curves, &own.budget))
    else {
        return Ok(None);
    };
    let raw = || curves.iter().filter(|curve| curve.scale == Scale::Raw);
    let panel = |curve: &evalxrl_analysis::budget_curve::TruncationCurve| Panel {
        name: curve.method.clone(),
        // Before the first submission every session stands at 0.
        points: std::iter::once((0.0, 0.0))
            .chain(
                curve
                    .calls
                    .iter()
                    .map(|calls| *calls as f64)
                    .zip(curve.means.iter().copied()),
            )
            .collect(),
        band: curve
            .low
            .value()
            .zip(curve.high.value())
            .map(|(low, high)| {
                [low, high].map(|ends| std::iter::once(0.0).chain(ends.iter().copied()).collect())
            }),
    };
    let reference = raw().find(|curve| curve.role == Role::NoMethod).map(panel);
    let mut others: Vec<_> = raw().filter(|curve| curve.role != Role::NoMethod).collect();
    others.sort_by_key(|curve| curve.role != Role::Xrl);
    let panels: Vec<Panel> = others.into_iter().map(panel).collect();
    if panels.is_empty() {
        return Ok(None);
    }
    let drawing = Panels {
        panels,
        reference,
        across: "tool calls",
        up: "mean score, raw",
        steps: true,
        end: budget.steps as f64,
        counts: true,
    };
    Figure::render(
        format!("truncation{suffix}"),
        "Score by number of tool calls",
        "One panel per arm: the mean raw score if only sessions that had submitted after so many tool calls counted and \
         all others were 0, with a pointwise band; the dashed curve is no-method. The table below holds the same values."
            .to_owned(),
        &drawing,
    )
    .map(Some)
}

fn shapley(stratum: &StratumFindings, suffix: &str) -> Result<Option<Figure>, FigureError> {
    let Some(found) = stratum.shapley.value() else {
        return Ok(None);
    };
    let values = found.raw.values.iter().map(|value| {
        let ends = value.percentile.value().map(|ends| [ends.low, ends.high]);
        (value.method.as_str(), value.value, ends)
    });
    Figure::render(
        format!("shapley{suffix}"),
        "Shapley value of every method",
        "One line per method: what it adds to the mean raw score of a joint dossier, over all orders of adding methods, \
         with its bootstrap interval. The table below holds the same values."
            .to_owned(),
        &Forest::of_values(values, "Shapley value, raw score"),
    )
    .map(Some)
}
