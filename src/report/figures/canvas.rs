//! Knows how shapes and text reach a backend of `plotters`, in units that do not depend on it.
//! Must not know any figure.
//! Start at `Canvas`.

use ab_glyph::{Font, FontRef, Glyph, PxScale, ScaleFont, point};
use plotters::coord::Shift;
use plotters::prelude::{
    Circle, DrawingArea, DrawingBackend, IntoFont, PathElement, Polygon, RGBColor, Rectangle, Text,
};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, ShapeStyle};

use super::FigureError;
use crate::report::inert::inert_line;

/// A fixed-width face, so that the place a text takes is known without measuring it: `CHARACTER` of its size each.
const FAMILY: &str = "monospace";

/// Width of one character as a share of the text size, rounded up.
pub(super) const CHARACTER: f64 = 0.61;

/// `plotters` sizes are line heights; this many to one unit of text size.
const LINE: f64 = 1.24;

/// How far the baseline lies below the middle of a text, as a share of its size: half the height of a small letter.
const BASELINE: f64 = 0.27;

/// Where a text lies with respect to its point; always centred vertically.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::report) enum Anchor {
    Start,
    Middle,
    End,
}

/// A surface for shapes and text; coordinates in units, from the upper left corner.
pub(in crate::report) trait Canvas {
    fn fill(&self, colour: RGBColor) -> Result<(), FigureError>;
    /// Left, top, width, height.
    fn rectangle(&self, place: [f64; 4], colour: RGBColor) -> Result<(), FigureError>;
    fn line(&self, points: &[(f64, f64)], colour: RGBColor, width: f64) -> Result<(), FigureError>;
    fn polygon(&self, points: &[(f64, f64)], colour: RGBColor) -> Result<(), FigureError>;
    fn disc(&self, centre: (f64, f64), radius: f64, colour: RGBColor) -> Result<(), FigureError>;
    /// `size` is the height of the face in units.
    fn text(
        &self,
        at: (f64, f64),
        text: &str,
        size: f64,
        anchor: Anchor,
        colour: RGBColor,
    ) -> Result<(), FigureError>;

    /// A line of dashes, six units long with four between.
    fn dashes(
        &self,
        from: (f64, f64),
        to: (f64, f64),
        colour: RGBColor,
        width: f64,
    ) -> Result<(), FigureError> {
        let length = (to.0 - from.0).hypot(to.1 - from.1);
        let point = |along: f64| {
            let share = (along / length).min(1.0);
            (
                from.0 + share * (to.0 - from.0),
                from.1 + share * (to.1 - from.1),
            )
        };
        let mut along = 0.0;
        while along < length {
            self.line(&[point(along), point(along + 6.0)], colour, width)?;
            along += 10.0;
        }
        Ok(())
    }
}

struct Area<'a, B: DrawingBackend> {
    area: &'a DrawingArea<B, Shift>,
    scale: f64,
    /// The face that text is painted with; none where the viewer of the file has one.
    face: Option<FontRef<'static>>,
}

/// A canvas for a vector file, one unit to one unit.
pub(super) fn vector<'a, B: DrawingBackend>(area: &'a DrawingArea<B, Shift>) -> impl Canvas + 'a
where
    B::ErrorType: 'static,
{
    let (scale, face) = (1.0, None);
    Area { area, scale, face }
}

/// A canvas of pixels, `scale` to one unit. Text is painted with the embedded face: fonts of the machine are never used,
/// so that pixels do not depend on it.
pub(super) fn pixels<'a, B: DrawingBackend>(
    area: &'a DrawingArea<B, Shift>,
    scale: f64,
) -> Result<impl Canvas + 'a, FigureError>
where
    B::ErrorType: 'static,
{
    let face =
        FontRef::try_from_slice(epaint_default_fonts::HACK_REGULAR).map_err(FigureError::of)?;
    let face = Some(face);
    Ok(Area { area, scale, face })
}

impl<B: DrawingBackend> Area<'_, B> {
    fn pixel(&self, (x, y): (f64, f64)) -> (i32, i32) {
        (
            (x * self.scale).round() as i32,
            (y * self.scale).round() as i32,
        )
    }

    fn corners(&self, [left, top, width, height]: [f64; 4]) -> [(i32, i32); 2] {
        [
            self.pixel((left, top)),
            self.pixel((left + width, top + height)),
        ]
    }

    /// Paints each glyph at its own place, side bearings included.
    fn paint(
        &self,
        face: &FontRef<'_>,
        (x, y): (f64, f64),
        text: &str,
        size: f64,
        anchor: Anchor,
        colour: RGBColor,
    ) -> Result<(), FigureError> {
        let em = face.units_per_em().unwrap_or(1000.0);
        let scale = PxScale::from((size * self.scale) as f32 * face.height_unscaled() / em);
        let scaled = face.as_scaled(scale);
        let advances = text.chars().map(|c| scaled.h_advance(face.glyph_id(c)));
        let width: f32 = advances.sum();
        let start = (x * self.scale) as f32
            - match anchor {
                Anchor::Start => 0.0,
                Anchor::Middle => width / 2.0,
                Anchor::End => width,
            };
        let baseline = ((y + BASELINE * size) * self.scale).round() as f32;
        let mut left = start.round();
        for character in text.chars() {
            let id = face.glyph_id(character);
            let glyph: Glyph = id.with_scale_and_position(scale, point(left, baseline));
            left += scaled.h_advance(id);
            let Some(outline) = face.outline_glyph(glyph) else {
                continue;
            };
            let corner = outline.px_bounds().min;
            let mut failed = None;
            outline.draw(|across, down, coverage| {
                let place = (
                    corner.x as i32 + across as i32,
                    corner.y as i32 + down as i32,
                );
                let ink = colour.mix(f64::from(coverage.clamp(0.0, 1.0)));
                if let Err(error) = self.area.draw_pixel(place, &ink) {
                    failed = Some(FigureError::of(error));
                }
            });
            if let Some(error) = failed {
                return Err(error);
            }
        }
        Ok(())
    }

    fn stroke(&self, colour: RGBColor, width: f64) -> ShapeStyle {
        colour.stroke_width(((width * self.scale).round() as u32).max(1))
    }
}

impl<B: DrawingBackend> Canvas for Area<'_, B> {
    fn fill(&self, colour: RGBColor) -> Result<(), FigureError> {
        self.area.fill(&colour).map_err(FigureError::of)
    }

    fn rectangle(&self, place: [f64; 4], colour: RGBColor) -> Result<(), FigureError> {
        let shape = Rectangle::new(self.corners(place), colour.filled());
        self.area.draw(&shape).map_err(FigureError::of)
    }

    fn line(&self, points: &[(f64, f64)], colour: RGBColor, width: f64) -> Result<(), FigureError> {
        let points: Vec<_> = points.iter().map(|point| self.pixel(*point)).collect();
        let shape = PathElement::new(points, self.stroke(colour, width));
        self.area.draw(&shape).map_err(FigureError::of)
    }

    fn polygon(&self, points: &[(f64, f64)], colour: RGBColor) -> Result<(), FigureError> {
        let points: Vec<_> = points.iter().map(|point| self.pixel(*point)).collect();
        let shape = Polygon::new(points, colour.filled());
        self.area.draw(&shape).map_err(FigureError::of)
    }

    fn disc(&self, centre: (f64, f64), radius: f64, colour: RGBColor) -> Result<(), FigureError> {
        let radius = (radius * self.scale).round() as i32;
        let shape = Circle::new(self.pixel(centre), radius, colour.filled());
        self.area.draw(&shape).map_err(FigureError::of)
    }

    fn text(
        &self,
        at: (f64, f64),
        text: &str,
        size: f64,
        anchor: Anchor,
        colour: RGBColor,
    ) -> Result<(), FigureError> {
        if let Some(face) = &self.face {
            return self.paint(face, at, &inert_line(text), size, anchor, colour);
        }
        let horizontal = match anchor {
            Anchor::Start => HPos::Left,
            Anchor::Middle => HPos::Center,
            Anchor::End => HPos::Right,
        };
        let style = (FAMILY, size * LINE * self.scale)
            .into_font()
            .color(&colour)
            .pos(Pos::new(horizontal, VPos::Center));
        let shape = Text::new(inert_line(text), self.pixel(at), style);
        self.area.draw(&shape).map_err(FigureError::of)
    }
}

/// Writes 8-bit RGB pixels as a PNG file.
pub(super) fn png(buffer: &[u8], width: u32, height: u32) -> Result<Vec<u8>, FigureError> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header().map_err(FigureError::of)?;
    writer.write_image_data(buffer).map_err(FigureError::of)?;
    writer.finish().map_err(FigureError::of)?;
    Ok(bytes)
}

/// Cuts an id into lines of at most `width` characters, at its dashes where that is possible.
pub(super) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for part in text.split_inclusive(['-', '+', '_', ' ']) {
        let mut rest: Vec<char> = part.chars().collect();
        let last = lines.last_mut().expect("there is always a line");
        if !last.is_empty() && last.chars().count() + rest.len() > width {
            lines.push(String::new());
        }
        while rest.len() > width {
            let tail = rest.split_off(width);
            lines
                .last_mut()
                .expect("there is always a line")
                .extend(rest);
            lines.push(String::new());
            rest = tail;
        }
        lines
            .last_mut()
            .expect("there is always a line")
            .extend(rest);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_ids_are_cut_at_dashes_and_inside_a_word_only_where_they_must_be() {
        assert_eq!(
            wrapped("reward-decomposition", 13),
            ["reward-", "decomposition"]
        );
        assert_eq!(wrapped("no-method", 13), ["no-method"]);
        assert_eq!(wrapped("abcdefghij", 4), ["abcd", "efgh", "ij"]);
    }
}
