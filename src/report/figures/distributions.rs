//! Knows the score distributions: every session a point, one line of them per arm, raw and un-clipped.
//! Must not know cells or tests.
//! Start at `Distributions::of`.

use std::collections::BTreeMap;

use evalxrl_analysis::score_table::Roles;

use super::axis::Axis;
use super::canvas::{Anchor, CHARACTER, Canvas};
use super::heatmap::set;
use super::palette::{GRID, INK, MUTED, POINT};
use super::{Drawing, FigureError};

const LABEL: f64 = 12.0;
const PLOT: f64 = 560.0;
const TOP: f64 = 12.0;
const RADIUS: f64 = 3.5;
/// Scores beyond these ends are drawn at the edge, so that one wild session does not flatten all others.
const ENDS: (f64, f64) = (-3.0, 3.0);

/// Score distributions ready to be drawn.
#[derive(Debug, Clone)]
pub(in crate::report) struct Distributions {
    arms: Vec<(String, Vec<f64>)>,
    label_width: f64,
    beyond: usize,
}

impl Distributions {
    /// Takes (arm, raw score) of every session: the baseline first, then methods, then the arms that bound them.
    pub(in crate::report) fn of<'a>(sessions: impl Iterator<Item = (&'a str, f64)>) -> Self {
        let roles = Roles::default();
        let mut arms: BTreeMap<(u8, &str), Vec<f64>> = BTreeMap::new();
        for (arm, raw) in sessions {
            let place = (set(roles.of(arm)), arm);
            arms.entry(place).or_default().push(raw);
        }
        let arms: Vec<(String, Vec<f64>)> = arms
            .into_iter()
            .map(|((_, arm), mut scores)| {
                scores.sort_by(f64::total_cmp);
                (arm.to_owned(), scores)
            })
            .collect();
        let longest = arms.iter().map(|(arm, _)| arm.chars().count()).max();
        let beyond = arms
            .iter()
            .flat_map(|(_, scores)| scores)
            .filter(|raw| outside(**raw))
            .count();
        Self {
            arms,
            label_width: longest.unwrap_or(0) as f64 * LABEL * CHARACTER + 24.0,
            beyond,
        }
    }

    /// How many sessions lie beyond the ends of the axis.
    pub(in crate::report) fn beyond(&self) -> usize {
        self.beyond
    }

    fn axis(&self) -> Axis {
        let scores = self.arms.iter().flat_map(|(_, scores)| scores.iter());
        let drawn = scores.map(|raw| raw.clamp(ENDS.0, ENDS.1));
        let left = self.label_width;
        Axis::over(drawn, left + RADIUS, left + PLOT)
    }

    /// Points of one arm: those that would cover each other are stacked, lowest level first.
    fn levels(axis: &Axis, scores: &[f64]) -> Vec<(f64, usize)> {
        let mut taken: Vec<f64> = Vec::new();
        scores
            .iter()
            .map(|raw| {
                let x = axis.at(*raw);
                let free = taken.iter().position(|last| x - last >= 2.0 * RADIUS);
                match free {
                    Some(level) => {
                        taken[level] = x;
                        (x, level)
                    }
                    None => {
                        taken.push(x);
                        (x, taken.len() - 1)
                    }
                }
            })
            .collect()
    }

    /// Distance of levels: full where few are stacked, squeezed where many are, so that an arm stays below 90 units.
    fn spacing(levels: usize) -> f64 {
        (2.0 * RADIUS).min(84.0 / levels.max(1) as f64)
    }

    fn layout(&self) -> (Axis, Vec<ArmLayout>, f64) {
        let axis = self.axis();
        let mut top = TOP;
        let mut arms = Vec::new();
        for (_, scores) in &self.arms {
            let points = Self::levels(&axis, scores);
            let levels = points.iter().map(|(_, level)| level + 1).max().unwrap_or(1);
            let spacing = Self::spacing(levels);
            let height = (levels as f64 * spacing + 14.0).max(30.0);
            arms.push(ArmLayout {
                points,
                spacing,
                base: top + height - 8.0,
            });
            top += height;
        }
        (axis, arms, top)
    }
}

struct ArmLayout {
    points: Vec<(f64, usize)>,
    spacing: f64,
    base: f64,
}

fn outside(raw: f64) -> bool {
    raw < ENDS.0 || raw > ENDS.1
}

impl Drawing for Distributions {
    fn size(&self) -> (u32, u32) {
        let (_, _, bottom) = self.layout();
        let width = self.label_width + PLOT + 24.0;
        (width.ceil() as u32, (bottom + 50.0).ceil() as u32)
    }

    fn draw(&self, canvas: &dyn Canvas) -> Result<(), FigureError> {
        let (axis, arms, bottom) = self.layout();
        axis.draw(
            canvas,
            (TOP, bottom),
            "repair score, raw (0 as broken, 1 as clean)",
        )?;
        for ((name, scores), arm) in self.arms.iter().zip(&arms) {
            let right = self.label_width + PLOT;
            let line = arm.base + 5.0;
            canvas.line(&[(self.label_width, line), (right, line)], GRID, 1.0)?;
            let at = (self.label_width - 12.0, arm.base - 5.0);
            canvas.text(at, name, LABEL, Anchor::End, INK)?;
            for ((x, level), raw) in arm.points.iter().zip(scores) {
                let y = arm.base - *level as f64 * arm.spacing;
                if outside(*raw) {
                    let tip = if *raw < 0.0 { -5.0 } else { 5.0 };
                    let shape = [(*x + tip, y), (*x - tip, y - 4.0), (*x - tip, y + 4.0)];
                    canvas.polygon(&shape, MUTED)?;
                } else {
                    canvas.disc((*x, y), RADIUS - 0.5, POINT)?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_session_is_a_point_and_equal_scores_are_stacked() {
        let sessions = [("a", 0.0), ("a", 0.0), ("a", 1.0), ("b", -9.0)];
        let drawn = Distributions::of(sessions.into_iter());
        let (_, arms, _) = drawn.layout();
        assert_eq!(arms[0].points.len() + arms[1].points.len(), 4);
        assert_eq!(arms[0].points[0].1, 0);
        assert_eq!(arms[0].points[1].1, 1);
        assert_eq!(drawn.beyond(), 1);
    }
}
