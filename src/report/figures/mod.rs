//! Knows the figures of a report and how each becomes a vector and a pixel file from one drawing.
//! Must not know files or findings beyond what a figure draws.
//! Start at `Figure::render`.

mod axis;
mod canvas;
mod distributions;
mod forest;
mod heatmap;
mod palette;
mod panels;

use plotters::prelude::{BitMapBackend, IntoDrawingArea, SVGBackend};

pub(super) use distributions::Distributions;
pub(super) use forest::Forest;
pub(super) use heatmap::{Heatmap, exceeds_oracle};
pub(super) use panels::{Panel, Panels};

use canvas::Canvas;

/// How many pixels of the PNG stand for one unit of the drawing.
const PIXELS: u32 = 2;

/// Something that can be drawn on any backend.
pub(super) trait Drawing {
    /// Width and height in units (CSS pixels of the vector file).
    fn size(&self) -> (u32, u32);

    /// Draws everything.
    fn draw(&self, canvas: &dyn Canvas) -> Result<(), FigureError>;
}

/// A drawing that failed, with what the backend said.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("figure {name} cannot be drawn: {reason}")]
pub struct FigureError {
    /// Which figure.
    pub name: String,
    /// What the backend said.
    pub reason: String,
}

impl FigureError {
    #[expect(
        clippy::needless_pass_by_value,
        reason = "an error is handed over where it is mapped"
    )]
    fn of(reason: impl ToString) -> Self {
        Self {
            name: String::new(),
            reason: reason.to_string(),
        }
    }

    fn in_figure(mut self, name: &str) -> Self {
        name.clone_into(&mut self.name);
        self
    }
}

/// A rendered figure.
#[derive(Debug, Clone)]
pub(super) struct Figure {
    /// File stem.
    pub(super) name: String,
    /// What it says, for somebody who does not see it.
    pub(super) description: String,
    /// The vector file.
    pub(super) svg: String,
    /// The same with colours that follow the page's theme, for use inside HTML.
    pub(super) inline: String,
    /// The pixel file.
    pub(super) png: Vec<u8>,
}

impl Figure {
    pub(super) fn render(
        name: String,
        title: &'static str,
        description: String,
        drawing: &dyn Drawing,
    ) -> Result<Self, FigureError> {
        let svg = vector(drawing).map_err(|error| error.in_figure(&name))?;
        let png = pixels(drawing).map_err(|error| error.in_figure(&name))?;
        let inline = inline(&svg, &name, title, &description, drawing.size().0);
        Ok(Self {
            name,
            description,
            svg,
            inline,
            png,
        })
    }
}

fn vector(drawing: &dyn Drawing) -> Result<String, FigureError> {
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, drawing.size()).into_drawing_area();
        let canvas = canvas::vector(&area);
        canvas.fill(palette::PAPER)?;
        drawing.draw(&canvas)?;
        area.present().map_err(FigureError::of)?;
    }
    Ok(text)
}

fn pixels(drawing: &dyn Drawing) -> Result<Vec<u8>, FigureError> {
    let (width, height) = drawing.size();
    let (width, height) = (width * PIXELS, height * PIXELS);
    let mut buffer = vec![0; width as usize * height as usize * 3];
    {
        let area = BitMapBackend::with_buffer(&mut buffer, (width, height)).into_drawing_area();
        let canvas = canvas::pixels(&area, f64::from(PIXELS))?;
        canvas.fill(palette::PAPER)?;
        drawing.draw(&canvas)?;
        area.present().map_err(FigureError::of)?;
    }
    canvas::png(&buffer, width, height)
}

/// The vector file for use inside a page: colours that stand for ink and paper follow the theme, and a reader who does
/// not see gets a title and a description.
fn inline(svg: &str, name: &str, title: &str, description: &str, width: u32) -> String {
    let mut text = svg.to_owned();
    for (colour, variable) in palette::THEMED {
        text = text.replace(
            &format!("\"{}\"", palette::hex(colour)),
            &format!("\"var({variable})\""),
        );
    }
    let escape = |text: &str| {
        text.replace('&', "&amp;")
            .replace('<', "&lt;")
            .replace('>', "&gt;")
            .replace('"', "&quot;")
    };
    let start = text.find("<svg").unwrap_or(0);
    let text = &text[start..];
    let Some(end) = text.find('>') else {
        return String::new();
    };
    // A wide figure shrinks to this before it scrolls; below it, its small text could not be read.
    let least = width * 7 / 10;
    format!(
        "{} style=\"--least:{least}px\" role=\"img\" aria-labelledby=\"{name}-title {name}-description\">\n\
         <title id=\"{name}-title\">{}</title>\n<desc id=\"{name}-description\">{}</desc>{}",
        &text[..end],
        escape(title),
        escape(description),
        &text[end + 1..]
    )
}
