//! Knows how a numeric literal reads, how it is written, and what it may become.
//! Must not know where a literal stands.
//! Start at `Number::variants`.

use super::candidate::Operator;

/// A numeric literal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Number {
    /// Its value, sign included.
    pub(super) value: f64,
    /// Whether it is written as a whole number.
    pub(super) whole: bool,
}

impl Number {
    /// Reads a literal of Python or TOML, sign included; `None` for imaginary, infinite or not a number.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let text: String = text.chars().filter(|c| !matches!(c, '_' | ' ')).collect();
        let (negative, digits) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(&text)),
        };
        let radix = match digits.get(..2) {
            Some("0x" | "0X") => 16,
            Some("0o" | "0O") => 8,
            Some("0b" | "0B") => 2,
            _ => 10,
        };
        let (value, whole) = if radix != 10 {
            let value = u32::from_str_radix(&digits[2..], radix).ok()?;
            (f64::from(value), true)
        } else if digits.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
            let value = digits.parse::<f64>().ok()?;
            (value, digits.chars().all(|c| c.is_ascii_digit()))
        } else {
            return None;
        };
        value.is_finite().then_some(Self {
            value: if negative { -value } else { value },
            whole,
        })
    }

    /// What each numeric operator makes of it, in the order of the operators.
    pub(super) fn variants(self) -> Vec<(Operator, String)> {
        let c = self.value;
        let mut values = vec![
            (Operator::TimesTen, 10.0 * c),
            (Operator::OverTen, c / 10.0),
            (Operator::Double, 2.0 * c),
            (Operator::Half, c / 2.0),
            (Operator::Negate, -c),
            (Operator::Zero, 0.0),
            (Operator::One, 1.0),
            (Operator::Increment, c + 1.0),
            (Operator::Decrement, c - 1.0),
        ];
        if 0.0 < c && c < 1.0 {
            values.extend([
                (Operator::TenthBelowOne, 1.0 - (1.0 - c) / 10.0),
                (Operator::HalfBelowOne, 1.0 - (1.0 - c) / 2.0),
                (Operator::Root, c.sqrt()),
            ]);
        }
        values
            .into_iter()
            .filter_map(|(operator, value)| Some((operator, self.replaced(value)?)))
            .collect()
    }

    /// Another value written in this literal's manner; `None` when it is the same value or not finite.
    pub(super) fn replaced(self, value: f64) -> Option<String> {
        let value = rounded(value);
        (value.is_finite() && value != self.value).then(|| {
            if self.whole {
                shown(value)
            } else {
                // Debug keeps the point: 10.0, 0.5, 1e-5.
                format!("{:?}", value + 0.0)
            }
        })
    }
}

/// The shortest text of a value; whole values without a point.
pub(super) fn shown(value: f64) -> String {
    let value = rounded(value) + 0.0;
    if value.fract() == 0.0 && value.abs() < 1e15 {
        format!("{value:.0}")
    } else {
        format!("{value:?}")
    }
}

/// Twelve significant digits, so that 1 − (1 − 0.99)/10 is 0.999.
fn rounded(value: f64) -> f64 {
    format!("{value:.11e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variants(text: &str) -> Vec<String> {
        let number = Number::parse(text).unwrap();
        number
            .variants()
            .into_iter()
            .map(|(_, text)| text)
            .collect()
    }

    #[test]
    fn a_fraction_moves_towards_one_as_well() {
        assert_eq!(
            variants("0.99"),
            [
                "9.9",
                "0.099",
                "1.98",
                "0.495",
                "-0.99",
                "0.0",
                "1.0",
                "1.99",
                "-0.01",
                "0.999",
                "0.995",
                "0.994987437107"
            ]
        );
    }

    #[test]
    fn a_whole_number_stays_whole_where_it_can() {
        assert_eq!(
            variants("40"),
            ["400", "4", "80", "20", "-40", "0", "1", "41", "39"]
        );
        assert!(variants("5").contains(&"2.5".to_owned()));
    }

    #[test]
    fn nothing_becomes_itself() {
        assert_eq!(variants("0"), ["1", "1", "-1"]);
        assert!(!variants("1.0").contains(&"1.0".to_owned()));
    }

    #[test]
    fn literals_of_other_spelling_are_read_by_value() {
        for (text, value) in [
            ("3e-3", 0.003),
            ("1_000", 1000.0),
            ("-0.05", -0.05),
            ("0xff", 255.0),
            (".5", 0.5),
        ] {
            assert_eq!(
                Number::parse(text).map(|number| number.value),
                Some(value),
                "{text}"
            );
        }
        for text in ["1j", "inf", "nan", "-inf", "", "x"] {
            assert_eq!(Number::parse(text), None, "{text}");
        }
    }
}
