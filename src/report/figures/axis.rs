//! Knows a horizontal axis: its range, its round tick values and where a value lies.
//! Must not know what is drawn along it.
//! Start at `Axis::over`.

use super::FigureError;
use super::canvas::{Anchor, Canvas};
use super::palette::{GRID, INK, MUTED};
use crate::report::numerals;

/// A linear axis from `left` to `right` in units.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Axis {
    low: f64,
    high: f64,
    step: f64,
    left: f64,
    right: f64,
}

impl Axis {
    /// Covers the values, widened to round ends; 0 and 1 are always on it.
    pub(super) fn over(values: impl Iterator<Item = f64>, left: f64, right: f64) -> Self {
        let (least, most) = values.fold((0.0_f64, 1.0_f64), |(low, high), value| {
            (low.min(value), high.max(value))
        });
        let span = most - least;
        let step = [0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0]
            .into_iter()
            .find(|step| span / step <= 6.0)
            .unwrap_or(span / 5.0);
        Self {
            low: (least / step - 1e-9).floor() * step,
            high: (most / step + 1e-9).ceil() * step,
            step,
            left,
            right,
        }
    }

    /// Where a value lies; values beyond an end lie on it.
    pub(super) fn at(&self, value: f64) -> f64 {
        let share = (value.clamp(self.low, self.high) - self.low) / (self.high - self.low);
        self.left + share * (self.right - self.left)
    }

    fn ticks(&self) -> impl Iterator<Item = f64> + '_ {
        let count = ((self.high - self.low) / self.step).round() as i32;
        (0..=count).map(|index| self.low + f64::from(index) * self.step)
    }

    /// Draws grid lines from `top` to `bottom`, tick labels below and the title below them.
    pub(super) fn draw(
        &self,
        canvas: &dyn Canvas,
        (top, bottom): (f64, f64),
        title: &str,
    ) -> Result<(), FigureError> {
        for tick in self.ticks() {
            let x = self.at(tick);
            let zero = tick.abs() < 1e-9;
            let colour = if zero { MUTED } else { GRID };
            canvas.line(&[(x, top), (x, bottom)], colour, 1.0)?;
            let text = numerals::score(tick);
            canvas.text((x, bottom + 12.0), &text, 11.0, Anchor::Middle, MUTED)?;
        }
        let middle = f64::midpoint(self.left, self.right);
        canvas.text((middle, bottom + 30.0), title, 12.0, Anchor::Middle, INK)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_has_round_ends_that_hold_every_value() {
        let axis = Axis::over([-0.13, 1.04].into_iter(), 0.0, 100.0);
        let ticks: Vec<f64> = axis.ticks().collect();
        assert_eq!(ticks, [-0.25, 0.0, 0.25, 0.5, 0.75, 1.0, 1.25]);
        assert!((axis.at(-0.25) - 0.0).abs() < 1e-9);
        assert!((axis.at(1.25) - 100.0).abs() < 1e-9);
        assert!((axis.at(9.0) - 100.0).abs() < 1e-9);
    }
}
