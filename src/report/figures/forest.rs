//! Knows the forest plot: lift of every method with its interval, placebo and oracle as reference lines.
//! Must not know how an interval is obtained.
//! Start at `Forest::of`.

use evalxrl_analysis::findings::StratumFindings;
use evalxrl_analysis::scale::Scale;
use evalxrl_analysis::score_table::Role;

use super::axis::Axis;
use super::canvas::{Anchor, CHARACTER, Canvas};
use super::palette::{GRID, INK, MUTED, POINT};
use super::{Drawing, FigureError};
use crate::report::numerals;

const ROW: f64 = 30.0;
const LABEL: f64 = 12.0;
const PLOT: f64 = 400.0;
const NUMBERS: f64 = 180.0;
const TOP: f64 = 30.0;

/// A forest plot ready to be drawn.
#[derive(Debug, Clone)]
pub(in crate::report) struct Forest {
    rows: Vec<ForestRow>,
    references: Vec<(&'static str, f64)>,
    label_width: f64,
    title: &'static str,
}

#[derive(Debug, Clone)]
struct ForestRow {
    method: String,
    bound: bool,
    lift: Option<Ends>,
}

#[derive(Debug, Clone, Copy)]
struct Ends {
    estimate: f64,
    ends: Option<[f64; 2]>,
}

impl Forest {
    /// Raw lift; methods first, then the arms that bound them.
    pub(in crate::report) fn of(stratum: &StratumFindings) -> Self {
        let mut rows = Vec::new();
        let mut references = Vec::new();
        for lift in &stratum.lifts.methods {
            if lift.scale != Scale::Raw {
                continue;
            }
            let ends = lift.mean.value().map(|difference| Ends {
                estimate: difference.estimate,
                ends: difference
                    .percentile
                    .value()
                    .map(|found| [found.low, found.high]),
            });
            let line = match lift.role {
                Role::CheatOracle => Some("cheat oracle"),
                Role::Placebo => Some("placebo"),
                _ => None,
            };
            references.extend(line.zip(ends.map(|ends| ends.estimate)));
            rows.push(ForestRow {
                method: lift.method.clone(),
                bound: matches!(lift.role, Role::CheatOracle | Role::OptimalRepair),
                lift: ends,
            });
        }
        rows.sort_by(|a, b| (a.bound, &a.method).cmp(&(b.bound, &b.method)));
        Self::new(rows, references, "lift over no-method, raw score")
    }

    /// One line per (name, estimate, ends of its interval), in the order given.
    pub(in crate::report) fn of_values<'a>(
        values: impl Iterator<Item = (&'a str, f64, Option<[f64; 2]>)>,
        title: &'static str,
    ) -> Self {
        let rows = values.map(|(name, estimate, ends)| ForestRow {
            method: name.to_owned(),
            bound: false,
            lift: Some(Ends { estimate, ends }),
        });
        Self::new(rows.collect(), Vec::new(), title)
    }

    fn new(
        rows: Vec<ForestRow>,
        references: Vec<(&'static str, f64)>,
        title: &'static str,
    ) -> Self {
        let longest = rows.iter().map(|row| row.method.chars().count()).max();
        Self {
            rows,
            references,
            label_width: longest.unwrap_or(0) as f64 * LABEL * CHARACTER + 24.0,
            title,
        }
    }

    fn bottom(&self) -> f64 {
        TOP + self.rows.len().max(1) as f64 * ROW + 6.0
    }
}

impl Drawing for Forest {
    fn size(&self) -> (u32, u32) {
        let width = self.label_width + PLOT + NUMBERS;
        (width.ceil() as u32, (self.bottom() + 46.0).ceil() as u32)
    }

    fn draw(&self, canvas: &dyn Canvas) -> Result<(), FigureError> {
        let ends = self.rows.iter().filter_map(|row| row.lift);
        let values = ends.flat_map(|each| {
            let [low, high] = each.ends.unwrap_or([each.estimate; 2]);
            [low, high, each.estimate]
        });
        let left = self.label_width;
        let axis = Axis::over(values, left, left + PLOT);
        let bottom = self.bottom();
        axis.draw(canvas, (TOP, bottom), self.title)?;
        for (index, (name, value)) in self.references.iter().enumerate() {
            let x = axis.at(*value);
            canvas.dashes((x, TOP - 4.0), (x, bottom), MUTED, 1.0)?;
            // Names on two levels, so that close lines do not write over each other.
            let y = if index % 2 == 0 {
                TOP - 10.0
            } else {
                TOP - 22.0
            };
            canvas.text((x, y), name, 10.0, Anchor::Middle, MUTED)?;
        }
        for (index, row) in self.rows.iter().enumerate() {
            let y = TOP + (index as f64 + 0.5) * ROW + 3.0;
            let begins_bounds = row.bound && index > 0 && !self.rows[index - 1].bound;
            if begins_bounds {
                let line = y - ROW / 2.0;
                canvas.line(&[(4.0, line), (left + PLOT, line)], GRID, 1.0)?;
            }
            canvas.text((left - 12.0, y), &row.method, LABEL, Anchor::End, INK)?;
            let numbers = left + PLOT + 14.0;
            let Some(ends) = row.lift else {
                canvas.text((numbers, y), "not computed", LABEL, Anchor::Start, MUTED)?;
                continue;
            };
            let colour = if row.bound { MUTED } else { POINT };
            if let Some(span) = ends.ends {
                let span = span.map(|end| (axis.at(end), y));
                canvas.line(&span, colour, 2.0)?;
                for (x, _) in span {
                    canvas.line(&[(x, y - 5.0), (x, y + 5.0)], colour, 2.0)?;
                }
            }
            canvas.disc((axis.at(ends.estimate), y), 5.0, colour)?;
            let text = numerals::estimate(ends.estimate, ends.ends);
            canvas.text((numbers, y), &text, LABEL, Anchor::Start, INK)?;
        }
        Ok(())
    }
}
