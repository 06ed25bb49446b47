//! Knows the colours of figures: a diverging scale centred at 0 that colour-blind readers can tell apart, ink and paper.
//! Must not know what is drawn.
//! Start at `diverging`.

use plotters::prelude::RGBColor;

pub(super) const PAPER: RGBColor = RGBColor(0xFF, 0xFF, 0xFE);
pub(super) const INK: RGBColor = RGBColor(0x1B, 0x1F, 0x24);
pub(super) const MUTED: RGBColor = RGBColor(0x5B, 0x64, 0x6E);
pub(super) const GRID: RGBColor = RGBColor(0xD5, 0xD9, 0xDE);
pub(super) const POINT: RGBColor = RGBColor(0x1F, 0x5F, 0xA6);
pub(super) const EMPTY: RGBColor = RGBColor(0xEC, 0xEE, 0xF1);
pub(super) const BAND: RGBColor = RGBColor(0xD3, 0xE2, 0xF4);

/// Text and strokes on a coloured cell, the same in both themes.
pub(super) const ON_LIGHT: RGBColor = RGBColor(0x00, 0x00, 0x00);
pub(super) const ON_DARK: RGBColor = RGBColor(0xFF, 0xFF, 0xFF);

/// Colours that follow the theme of the page, with the name of the style variable.
pub(super) const THEMED: [(RGBColor, &str); 7] = [
    (PAPER, "--paper"),
    (INK, "--ink"),
    (MUTED, "--muted"),
    (GRID, "--grid"),
    (POINT, "--point"),
    (EMPTY, "--empty"),
    (BAND, "--band"),
];

/// Orange below 0, near white at 0, blue above: hues that differ for every common kind of colour blindness.
const STOPS: [(f64, [f64; 3]); 5] = [
    (-1.0, [140.0, 62.0, 8.0]),
    (-0.5, [226.0, 148.0, 84.0]),
    (0.0, [245.0, 244.0, 241.0]),
    (0.5, [122.0, 171.0, 217.0]),
    (1.0, [16.0, 70.0, 138.0]),
];

/// The colour of a value; beyond ±1 as at ±1.
pub(super) fn diverging(value: f64) -> RGBColor {
    let value = value.clamp(-1.0, 1.0);
    let upper = STOPS
        .iter()
        .position(|(at, _)| value <= *at)
        .unwrap_or(STOPS.len() - 1)
        .max(1);
    let ((low, from), (high, to)) = (STOPS[upper - 1], STOPS[upper]);
    let share = (value - low) / (high - low);
    let mixed = |index: usize| (from[index] + share * (to[index] - from[index])).round() as u8;
    RGBColor(mixed(0), mixed(1), mixed(2))
}

/// Text colour with the better contrast.
pub(super) fn text_on(colour: RGBColor) -> RGBColor {
    // Where black and white contrast equally: (1.05)/(L + 0.05) = (L + 0.05)/0.05.
    let equal = (1.05_f64 * 0.05).sqrt() - 0.05;
    if luminance(colour) > equal {
        ON_LIGHT
    } else {
        ON_DARK
    }
}

/// Relative luminance of a colour in sRGB, 0 to 1.
fn luminance(RGBColor(red, green, blue): RGBColor) -> f64 {
    let linear = |part: u8| {
        let value = f64::from(part) / 255.0;
        if value <= 0.040_45 {
            value / 12.92
        } else {
            ((value + 0.055) / 1.055).powf(2.4)
        }
    };
    0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
}

/// As the vector backend writes it.
pub(super) fn hex(RGBColor(red, green, blue): RGBColor) -> String {
    format!("#{red:02X}{green:02X}{blue:02X}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn channels(RGBColor(red, green, blue): RGBColor) -> [u8; 3] {
        [red, green, blue]
    }

    #[test]
    fn the_scale_is_centred_at_zero_and_ends_at_one() {
        assert_eq!(channels(diverging(0.0)), [245, 244, 241]);
        assert_eq!(channels(diverging(7.0)), channels(diverging(1.0)));
        assert_eq!(channels(diverging(-7.0)), channels(diverging(-1.0)));
        assert!(channels(diverging(-0.6))[0] > channels(diverging(-0.6))[2]);
        assert!(channels(diverging(0.6))[2] > channels(diverging(0.6))[0]);
    }

    #[test]
    fn text_on_any_colour_of_the_scale_has_the_contrast_that_small_text_needs() {
        for step in -100..=100 {
            let colour = diverging(f64::from(step) / 100.0);
            let (a, b) = (luminance(colour), luminance(text_on(colour)));
            let contrast = (a.max(b) + 0.05) / (a.min(b) + 0.05);
            assert!(contrast >= 4.5, "{step}: {contrast}");
        }
    }
}
