//! Knows small panels of curves with bands, one panel per method, each over the curve of a reference arm.
//! Must not know what a curve means.
//! Start at `Panels`.

use super::canvas::{Anchor, Canvas, wrapped};
use super::palette::{BAND, GRID, INK, MUTED, POINT};
use super::{Drawing, FigureError};
use crate::report::numerals;

const ACROSS: usize = 3;
const LEFT: f64 = 44.0;
const PLOT: (f64, f64) = (190.0, 120.0);
const HEADING: f64 = 40.0;
const FOOT: f64 = 40.0;
const GAP: f64 = 18.0;
const LEGEND: f64 = 30.0;
const LABEL: f64 = 11.0;
const TICK: f64 = 10.0;

/// Curves ready to be drawn.
#[derive(Debug, Clone)]
pub(in crate::report) struct Panels {
    pub(in crate::report) panels: Vec<Panel>,
    /// Drawn in every panel, below its own curve.
    pub(in crate::report) reference: Option<Panel>,
    /// What the horizontal axis means.
    pub(in crate::report) across: &'static str,
    /// What the vertical axis means.
    pub(in crate::report) up: &'static str,
    /// Whether a value holds until the next one, instead of being joined to it.
    pub(in crate::report) steps: bool,
    /// The right end of the horizontal axis, which begins at 0.
    pub(in crate::report) end: f64,
    /// Whether horizontal positions are counts.
    pub(in crate::report) counts: bool,
}

/// One curve.
#[derive(Debug, Clone)]
pub(in crate::report) struct Panel {
    pub(in crate::report) name: String,
    pub(in crate::report) points: Vec<(f64, f64)>,
    /// Lower and upper end at each point.
    pub(in crate::report) band: Option<[Vec<f64>; 2]>,
}

/// The place of one panel's plot and its vertical range.
struct Frame {
    left: f64,
    top: f64,
    end: f64,
    range: (f64, f64),
}

impl Frame {
    fn x(&self, value: f64) -> f64 {
        self.left + (value / self.end).clamp(0.0, 1.0) * PLOT.0
    }

    fn y(&self, value: f64) -> f64 {
        let (low, high) = self.range;
        let share = (value.clamp(low, high) - low) / (high - low);
        self.top + (1.0 - share) * PLOT.1
    }
}

impl Panels {
    /// 0 and 1 are always on it; beyond them in steps of a half.
    fn range(&self) -> (f64, f64) {
        let all = self.panels.iter().chain(&self.reference);
        let values = all.flat_map(|panel| {
            let bands = panel.band.iter().flatten().flatten().copied();
            panel.points.iter().map(|(_, y)| *y).chain(bands)
        });
        let (low, high) = values.fold((0.0_f64, 1.0_f64), |(low, high), value| {
            (low.min(value), high.max(value))
        });
        (
            (low * 2.0 + 1e-9).floor() / 2.0,
            (high * 2.0 - 1e-9).ceil() / 2.0,
        )
    }

    fn width_of_panel() -> f64 {
        LEFT + PLOT.0 + GAP
    }

    fn height_of_panel() -> f64 {
        HEADING + PLOT.1 + FOOT
    }

    /// Corner points of a curve.
    fn path(&self, frame: &Frame, points: &[(f64, f64)]) -> Vec<(f64, f64)> {
        let mut path: Vec<(f64, f64)> = Vec::with_capacity(2 * points.len() + 1);
        for (x, y) in points {
            let at = (frame.x(*x), frame.y(*y));
            if let Some((_, before)) = path.last().copied().filter(|_| self.steps) {
                path.push((at.0, before));
            }
            path.push(at);
        }
        if let Some((_, last)) = path.last().copied().filter(|_| self.steps) {
            path.push((frame.x(self.end), last));
        }
        path
    }

    fn curve(
        &self,
        canvas: &dyn Canvas,
        frame: &Frame,
        panel: &Panel,
        own: bool,
    ) -> Result<(), FigureError> {
        let xs = panel.points.iter().map(|(x, _)| *x);
        if let (true, Some([low, high])) = (own, &panel.band) {
            let ends = |values: &[f64]| {
                let points: Vec<(f64, f64)> = xs.clone().zip(values.iter().copied()).collect();
                self.path(frame, &points)
            };
            let mut outline = ends(low);
            outline.extend(ends(high).into_iter().rev());
            if outline.len() > 2 {
                canvas.polygon(&outline, BAND)?;
            }
        }
        let path = self.path(frame, &panel.points);
        if own {
            canvas.line(&path, POINT, 2.0)
        } else {
            dashed(canvas, &path)
        }
    }

    fn grid(&self, canvas: &dyn Canvas, frame: &Frame) -> Result<(), FigureError> {
        let (low, high) = frame.range;
        let halves = ((high - low) * 2.0).round() as u32;
        let every = (halves / 4).max(1);
        for step in (0..=halves).step_by(every as usize) {
            let value = low + f64::from(step) / 2.0;
            let y = frame.y(value);
            let colour = if value.abs() < 1e-9 { MUTED } else { GRID };
            canvas.line(&[(frame.left, y), (frame.left + PLOT.0, y)], colour, 1.0)?;
            let at = (frame.left - 6.0, y);
            canvas.text(at, &numerals::decimals(value, 1), TICK, Anchor::End, MUTED)?;
        }
        for share in [0.0, 0.5, 1.0] {
            let x = frame.left + share * PLOT.0;
            let bottom = frame.top + PLOT.1;
            canvas.line(&[(x, bottom), (x, bottom + 4.0)], MUTED, 1.0)?;
            let value = share * self.end;
            let text = if self.counts {
                format!("{value:.0}")
            } else {
                numerals::decimals(value, 1)
            };
            canvas.text((x, bottom + 12.0), &text, TICK, Anchor::Middle, MUTED)?;
        }
        Ok(())
    }
}

/// A path of dashes that go on round its corners, six units long with four between.
fn dashed(canvas: &dyn Canvas, path: &[(f64, f64)]) -> Result<(), FigureError> {
    const ON: f64 = 6.0;
    const OFF: f64 = 4.0;
    let mut into = 0.0;
    for pair in path.windows(2) {
        let (from, to) = (pair[0], pair[1]);
        let length = (to.0 - from.0).hypot(to.1 - from.1);
        let point = |along: f64| {
            let share = along / length;
            (
                from.0 + share * (to.0 - from.0),
                from.1 + share * (to.1 - from.1),
            )
        };
        let mut along = 0.0;
        while along < length {
            let left = if into < ON {
                ON - into
            } else {
                ON + OFF - into
            };
            let next = (along + left).min(length);
            if into < ON {
                canvas.line(&[point(along), point(next)], MUTED, 1.0)?;
            }
            into = (into + next - along) % (ON + OFF);
            // Less than a hundredth of a unit is nothing to draw, and must not keep the loop going.
            along = next.max(along + 0.01);
        }
    }
    Ok(())
}

impl Drawing for Panels {
    fn size(&self) -> (u32, u32) {
        let across = self.panels.len().clamp(1, ACROSS);
        let down = self.panels.len().div_ceil(ACROSS).max(1);
        let width = (across as f64 * Self::width_of_panel()).max(520.0);
        let height = down as f64 * Self::height_of_panel() + LEGEND;
        (width.ceil() as u32, height.ceil() as u32)
    }

    fn draw(&self, canvas: &dyn Canvas) -> Result<(), FigureError> {
        let y = LEGEND / 2.0;
        canvas.line(&[(6.0, y), (34.0, y)], POINT, 2.0)?;
        canvas.text((40.0, y), self.up, LABEL, Anchor::Start, INK)?;
        if let Some(reference) = &self.reference {
            let x = 52.0 + self.up.chars().count() as f64 * LABEL * super::canvas::CHARACTER;
            canvas.dashes((x, y), (x + 28.0, y), MUTED, 1.0)?;
            canvas.text((x + 34.0, y), &reference.name, LABEL, Anchor::Start, INK)?;
        }
        let range = self.range();
        let line = (PLOT.0 / (LABEL * super::canvas::CHARACTER)) as usize;
        for (index, panel) in self.panels.iter().enumerate() {
            let left = (index % ACROSS) as f64 * Self::width_of_panel() + LEFT;
            let top = LEGEND + (index / ACROSS) as f64 * Self::height_of_panel() + HEADING;
            let frame = Frame {
                left,
                top,
                end: self.end,
                range,
            };
            let mut heading = wrapped(&panel.name, line);
            heading.truncate(2);
            for (row, text) in heading.iter().enumerate() {
                let up = (heading.len() - 1 - row) as f64 * 13.0;
                canvas.text((left, top - 12.0 - up), text, LABEL, Anchor::Start, INK)?;
            }
            self.grid(canvas, &frame)?;
            // The band is painted before the reference, which stays visible over it.
            self.curve(canvas, &frame, panel, true)?;
            if let Some(reference) = &self.reference {
                self.curve(canvas, &frame, reference, false)?;
            }
            let at = (left + PLOT.0 / 2.0, top + PLOT.1 + 27.0);
            canvas.text(at, self.across, TICK, Anchor::Middle, MUTED)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn panels(count: usize) -> Panels {
        let panel = |name: &str| Panel {
            name: name.to_owned(),
            points: vec![(0.0, 0.25), (0.5, 0.75), (1.0, -0.1)],
            band: Some([vec![0.0, 0.5, -0.2], vec![0.5, 1.0, 0.1]]),
        };
        Panels {
            panels: (0..count)
                .map(|index| panel(&format!("m{index}")))
                .collect(),
            reference: Some(panel("no-method")),
            across: "threshold",
            up: "share",
            steps: true,
            end: 1.0,
            counts: false,
        }
    }

    #[test]
    fn panels_fill_rows_of_three_and_the_range_holds_every_band() {
        let (width, one) = panels(3).size();
        assert_eq!(panels(4).size().0, width);
        assert!(panels(4).size().1 > one);
        assert_eq!(panels(1).range(), (-0.5, 1.0));
    }

    #[test]
    fn a_step_holds_its_value_until_the_next_and_the_last_until_the_end() {
        let drawn = panels(1);
        let frame = Frame {
            left: 0.0,
            top: 0.0,
            end: 1.0,
            range: (0.0, 1.0),
        };
        let path = drawn.path(&frame, &[(0.0, 0.0), (0.5, 1.0)]);
        let (right, bottom) = PLOT;
        assert_eq!(
            path,
            [
                (0.0, bottom),
                (right / 2.0, bottom),
                (right / 2.0, 0.0),
                (right, 0.0)
            ]
        );
    }
}
