//! Knows the heatmap: mean lift of every malfunction (rows) under every method (columns), with value and N in the cell.
//! Must not know how a lift is computed.
//! Start at `Heatmap::of`.

use std::collections::BTreeMap;

use evalxrl_analysis::findings::StratumFindings;
use evalxrl_analysis::lift::CellLift;
use evalxrl_analysis::scale::Scale;
use evalxrl_analysis::score_table::Role;

use super::canvas::{Anchor, CHARACTER, Canvas, wrapped};
use super::palette::{EMPTY, INK, MUTED, diverging, text_on};
use super::{Drawing, FigureError};
use crate::report::numerals;
use plotters::prelude::RGBColor;

const ROW: f64 = 38.0;
const GROUP: f64 = 26.0;
const GAP: f64 = 16.0;
const LABEL: f64 = 12.0;
const ROW_LABEL: f64 = 11.0;
/// Longest line of a row's label, characters; three lines fit into a row.
const LABEL_LINE: usize = 20;
const HEADING: f64 = 10.0;
const CELL: f64 = 96.0;

/// A heatmap ready to be drawn.
#[derive(Debug, Clone)]
pub(in crate::report) struct Heatmap {
    columns: Vec<Column>,
    groups: Vec<Group>,
    label_width: f64,
}

#[derive(Debug, Clone)]
struct Column {
    heading: Vec<String>,
    /// Baseline, methods, reference arms: each set stands apart from the next.
    set: u8,
}

#[derive(Debug, Clone)]
struct Group {
    label: String,
    rows: Vec<(Vec<String>, Vec<HeatCell>)>,
}

#[derive(Debug, Clone, Default)]
struct HeatCell {
    value: Option<f64>,
    baseline: bool,
    sessions: u64,
    planned: u64,
    above_oracle: bool,
}

/// Baseline first, then methods, then the arms that bound them.
pub(super) fn set(role: Role) -> u8 {
    match role {
        Role::NoMethod => 0,
        Role::Xrl | Role::Placebo => 1,
        Role::CheatOracle | Role::OptimalRepair => 2,
    }
}

impl Heatmap {
    /// `classes` gives the class of a malfunction.
    pub(in crate::report) fn of(
        stratum: &StratumFindings,
        classes: &BTreeMap<String, String>,
    ) -> Self {
        let mut methods: Vec<(u8, &str)> = stratum
            .cells
            .iter()
            .map(|cell| (set(cell.role), cell.method.as_str()))
            .collect();
        methods.sort_unstable();
        methods.dedup();
        let width = (CELL / (HEADING * CHARACTER)) as usize - 1;
        let mut rows: BTreeMap<(String, &str), Vec<HeatCell>> = BTreeMap::new();
        for cell in &stratum.cells {
            let class = classes.get(&cell.malfunction).map_or("", String::as_str);
            let group = if class.is_empty() {
                cell.environment.clone()
            } else {
                format!("{} · {class}", cell.environment)
            };
            let row = rows
                .entry((group, cell.malfunction.as_str()))
                .or_insert_with(|| vec![HeatCell::default(); methods.len()]);
            let column = methods
                .iter()
                .position(|(_, method)| *method == cell.method);
            if let Some(place) = column.and_then(|column| row.get_mut(column)) {
                let lift = cell_lift(stratum, &cell.malfunction, &cell.method);
                let baseline = cell.role == Role::NoMethod;
                *place = HeatCell {
                    value: if baseline {
                        cell.raw.value().map(|scores| scores.mean)
                    } else {
                        lift.and_then(|lift| lift.lift.value())
                            .map(|difference| difference.estimate)
                    },
                    baseline,
                    sessions: cell.sessions,
                    planned: cell.planned,
                    above_oracle: cell.role == Role::Xrl && lift.is_some_and(exceeds_oracle),
                };
            }
        }
        let mut groups: Vec<Group> = Vec::new();
        for ((label, malfunction), cells) in rows {
            if groups.last().is_none_or(|group| group.label != label) {
                let rows = Vec::new();
                groups.push(Group { label, rows });
            }
            let group = groups.last_mut().expect("a group was just made");
            group.rows.push((wrapped(malfunction, LABEL_LINE), cells));
        }
        let longest = groups
            .iter()
            .flat_map(|group| &group.rows)
            .flat_map(|(label, _)| label)
            .map(|line| line.chars().count())
            .max();
        Self {
            columns: methods
                .iter()
                .map(|(set, method)| Column {
                    heading: wrapped(method, width),
                    set: *set,
                })
                .collect(),
            groups,
            label_width: longest.unwrap_or(0).max(12) as f64 * ROW_LABEL * CHARACTER + 14.0,
        }
    }

    fn left(&self, column: usize) -> f64 {
        let gaps = self.columns[..=column]
            .windows(2)
            .filter(|pair| pair[0].set != pair[1].set)
            .count();
        self.label_width + column as f64 * CELL + gaps as f64 * GAP
    }

    fn heading_height(&self) -> f64 {
        let lines = self.columns.iter().map(|column| column.heading.len()).max();
        22.0 + lines.unwrap_or(1) as f64 * 14.0
    }

    fn body_height(&self) -> f64 {
        self.groups
            .iter()
            .map(|group| GROUP + group.rows.len() as f64 * ROW)
            .sum()
    }
}

fn cell_lift<'a>(
    stratum: &'a StratumFindings,
    malfunction: &str,
    method: &str,
) -> Option<&'a CellLift> {
    let mut lifts = stratum.lifts.methods.iter();
    lifts
        .find(|lift| lift.scale == Scale::Raw && lift.method == method)?
        .malfunctions
        .iter()
        .find(|cell| cell.malfunction == malfunction)
}

/// Whether the interval of the difference from the cheat oracle lies above 0.
pub(in crate::report) fn exceeds_oracle(lift: &CellLift) -> bool {
    lift.over_oracle
        .value()
        .and_then(|difference| difference.percentile.value())
        .is_some_and(|interval| interval.lies_above(0.0))
}

impl Drawing for Heatmap {
    fn size(&self) -> (u32, u32) {
        let last = self.columns.len().saturating_sub(1);
        let right = if self.columns.is_empty() {
            self.label_width
        } else {
            self.left(last) + CELL
        };
        let height = self.heading_height() + self.body_height() + 88.0;
        ((right + 8.0).max(560.0).ceil() as u32, height.ceil() as u32)
    }

    fn draw(&self, canvas: &dyn Canvas) -> Result<(), FigureError> {
        self.headings(canvas)?;
        let mut top = self.heading_height();
        for group in &self.groups {
            let middle = top + GROUP / 2.0 + 2.0;
            canvas.text((4.0, middle), &group.label, LABEL, Anchor::Start, MUTED)?;
            top += GROUP;
            for (label, cells) in &group.rows {
                let first = top + ROW / 2.0 - (label.len() - 1) as f64 * 6.0;
                for (line, text) in label.iter().enumerate() {
                    let at = (self.label_width - 8.0, first + line as f64 * 12.0);
                    canvas.text(at, text, ROW_LABEL, Anchor::End, INK)?;
                }
                for (column, cell) in cells.iter().enumerate() {
                    let left = self.left(column);
                    let place = [left + 1.0, top + 1.0, CELL - 2.0, ROW - 2.0];
                    draw_cell(canvas, place, cell)?;
                }
                top += ROW;
            }
        }
        legend(canvas, top + 16.0)
    }
}

impl Heatmap {
    fn headings(&self, canvas: &dyn Canvas) -> Result<(), FigureError> {
        let bottom = self.heading_height();
        let sets = ["mean score", "lift of methods", "for comparison"];
        let mut named = None;
        for (index, column) in self.columns.iter().enumerate() {
            let left = self.left(index);
            if named != Some(column.set) {
                named = Some(column.set);
                let title = sets[usize::from(column.set)];
                canvas.text((left + 1.0, 9.0), title, 10.0, Anchor::Start, MUTED)?;
            }
            let middle = left + CELL / 2.0;
            let lines = column.heading.len();
            for (line, text) in column.heading.iter().enumerate() {
                let y = bottom - 9.0 - (lines - 1 - line) as f64 * 14.0;
                canvas.text((middle, y), text, HEADING, Anchor::Middle, INK)?;
            }
        }
        Ok(())
    }
}

fn draw_cell(canvas: &dyn Canvas, place: [f64; 4], cell: &HeatCell) -> Result<(), FigureError> {
    let [left, top, width, height] = place;
    let (colour, ink, faint) = match cell.value {
        Some(value) if !cell.baseline => {
            let colour = diverging(value);
            (colour, text_on(colour), text_on(colour))
        }
        _ => (EMPTY, INK, MUTED),
    };
    if cell.planned == 0 {
        return Ok(());
    }
    canvas.rectangle(place, colour)?;
    if cell.sessions < cell.planned {
        hatch(canvas, place, ink)?;
    }
    let middle = left + width / 2.0;
    let text = match cell.value {
        Some(value) if cell.baseline => numerals::score(value),
        Some(value) => numerals::signed(value),
        None => "–".to_owned(),
    };
    canvas.text((middle, top + 12.0), &text, 13.0, Anchor::Middle, ink)?;
    let count = if cell.sessions < cell.planned {
        format!("N {} of {}", cell.sessions, cell.planned)
    } else {
        format!("N {}", cell.sessions)
    };
    canvas.text(
        (middle, top + height - 9.0),
        &count,
        10.0,
        Anchor::Middle,
        faint,
    )?;
    if cell.above_oracle {
        let (x, y) = (left + width - 9.0, top + 7.0);
        canvas.polygon(&[(x - 5.0, y + 5.0), (x + 5.0, y + 5.0), (x, y - 4.0)], ink)?;
    }
    Ok(())
}

/// Slanted lines along the left and right edge, which leave the middle free for the text.
fn hatch(
    canvas: &dyn Canvas,
    [left, top, width, height]: [f64; 4],
    ink: RGBColor,
) -> Result<(), FigureError> {
    // A stroke is one unit wide and must not leave the cell.
    let (left, top, width, height) = (left + 1.0, top + 1.0, width - 2.0, height - 2.0);
    let band = 16.0;
    for start in [left, left + width - band] {
        let mut offset = -band;
        while offset < height {
            // The line y = top + offset + (x − start), cut to the band.
            let from = (-offset).max(0.0);
            let to = (height - offset).min(band);
            if to > from {
                let point = |x: f64| (start + x, top + offset + x);
                canvas.line(&[point(from), point(to)], ink, 1.0)?;
            }
            offset += 6.0;
        }
    }
    Ok(())
}

fn legend(canvas: &dyn Canvas, top: f64) -> Result<(), FigureError> {
    let steps = 41;
    let width = 4.0;
    for step in 0..steps {
        let value = f64::from(step) / f64::from(steps - 1) * 2.0 - 1.0;
        let left = 4.0 + f64::from(step) * width;
        canvas.rectangle([left, top, width, 12.0], diverging(value))?;
    }
    let right = 4.0 + f64::from(steps) * width;
    let marks = [
        (4.0, -1.0, Anchor::Start),
        (4.0 + right / 2.0 - 2.0, 0.0, Anchor::Middle),
        (right, 1.0, Anchor::End),
    ];
    for (x, value, anchor) in marks {
        canvas.text(
            (x, top + 22.0),
            &numerals::signed(value),
            10.0,
            anchor,
            MUTED,
        )?;
    }
    let x = right + 14.0;
    canvas.text(
        (x, top + 6.0),
        "mean lift, raw score",
        11.0,
        Anchor::Start,
        INK,
    )?;
    let swatch = [4.0, top + 38.0, 40.0, 18.0];
    canvas.rectangle(swatch, EMPTY)?;
    hatch(canvas, swatch, INK)?;
    let y = top + 47.0;
    canvas.text((52.0, y), "sessions missing", 11.0, Anchor::Start, INK)?;
    let x = 190.0;
    canvas.polygon(
        &[(x, y + 5.0), (x + 10.0, y + 5.0), (x + 5.0, y - 4.0)],
        INK,
    )?;
    let text = "interval of the difference lies above the cheat oracle";
    canvas.text((x + 18.0, y), text, 11.0, Anchor::Start, INK)
}
