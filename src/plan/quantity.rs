//! Knows how people write sizes and durations: `4GiB`, `512MiB`, `90m`, `2h`.
//! Must not know what they limit.
//! Start at `Size` and `Span`.

use serde::Deserialize;

/// Bytes, written as a whole number with KiB, MiB or GiB.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Size(pub u64);

/// Seconds, written as a whole number with s, m or h.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Span(pub u64);

impl TryFrom<String> for Size {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        scaled(
            &text,
            &[("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30)],
        )
        .map(Self)
        .ok_or_else(|| format!("`{text}` is no size such as 512MiB or 4GiB"))
    }
}

impl TryFrom<String> for Span {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        scaled(&text, &[("s", 1), ("m", 60), ("h", 3600)])
            .map(Self)
            .ok_or_else(|| format!("`{text}` is no duration such as 90s, 30m or 2h"))
    }
}

fn scaled(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let (number, factor) = units
        .iter()
        .find_map(|(unit, factor)| Some((text.strip_suffix(unit)?, factor)))?;
    let number: u64 = number.trim_end().parse().map_or(0, |number| number);
    number.checked_mul(*factor).filter(|scaled| *scaled > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_durations_need_a_unit_and_a_number_above_zero() {
        assert_eq!(Size::try_from("4GiB".to_owned()), Ok(Size(4 << 30)));
        assert_eq!(Span::try_from("90m".to_owned()), Ok(Span(5400)));
        for text in [
            "4",
            "GiB",
            "0GiB",
            "-1GiB",
            "99999999999999999999GiB",
            "4GB",
        ] {
            assert!(Size::try_from(text.to_owned()).is_err(), "{text}");
        }
        assert!(Span::try_from("2d".to_owned()).is_err());
    }
}
