//! Knows how numbers are written for a reader: scores, differences, intervals, p-values, money, minutes.
//! Must not know what a number means, nor change its value beyond rounding.
//! Start at `score`.

use evalxrl_analysis::estimate::PValue;
use evalxrl_analysis::lift::Difference;

const MINUS: &str = "\u{2212}";

/// Two decimals, with a true minus sign and without a negative zero.
pub(super) fn score(value: f64) -> String {
    decimals(value, 2)
}

/// Two decimals with the sign always shown, except at zero.
pub(super) fn signed(value: f64) -> String {
    let text = score(value);
    if text.starts_with(MINUS) || text == "0.00" {
        text
    } else {
        format!("+{text}")
    }
}

/// So many decimals, with a true minus sign and without a negative zero; powers of ten from a thousand million on.
pub(super) fn decimals(value: f64, places: usize) -> String {
    let text = if value.abs() < 1e9 {
        format!("{value:.places$}")
    } else {
        format!("{value:.places$e}")
    };
    match text.strip_prefix('-') {
        Some(digits) if digits.chars().all(|c| matches!(c, '0' | '.')) => digits.to_owned(),
        Some(digits) => format!("{MINUS}{digits}"),
        None => text,
    }
}

/// `0.31 [0.10, 0.52]`, or `0.31 [no interval]`.
pub(super) fn estimate(value: f64, ends: Option<[f64; 2]>) -> String {
    match ends {
        Some([low, high]) => format!("{} [{}, {}]", score(value), score(low), score(high)),
        None => format!("{} [no interval]", score(value)),
    }
}

/// A difference with its bootstrap interval.
pub(super) fn difference(difference: &Difference) -> String {
    let ends = difference.percentile.value();
    estimate(
        difference.estimate,
        ends.map(|found| [found.low, found.high]),
    )
}

/// Three decimals from 0.1, four below, and powers of ten where four would show 0.
pub(super) fn p_value(value: f64) -> String {
    if value >= 0.0995 {
        format!("{value:.3}")
    } else if value >= 0.0001 {
        format!("{value:.4}")
    } else {
        format!("{value:.1e}").replace('-', MINUS)
    }
}

/// The shortest text that reads back as the same number, always recognisable as a float: `0.0`, `0.1`, `1e300`.
pub(super) fn float(value: f64) -> String {
    // Adding zero turns −0 into 0, which other readers would print with its sign.
    format!("{:?}", value + 0.0)
}

/// How a p-value was obtained: `exact, 3 of 924`, `Monte Carlo, 9999 draws`, `distribution`.
pub(super) fn p_origin(p: &PValue) -> String {
    match (p.exact, p.count, p.total) {
        (true, Some(count), Some(total)) => format!("exact, {count} of {total}"),
        (false, _, Some(total)) => format!("Monte Carlo, {total} draws"),
        _ => "distribution function".to_owned(),
    }
}

/// A fragment as a sentence: a capital in front and a full stop behind.
pub(super) fn sentence(text: &str) -> String {
    let mut characters = text.chars();
    let first = characters.next().map(char::to_uppercase);
    let mut whole: String = first.into_iter().flatten().chain(characters).collect();
    if !whole.ends_with(['.', '!', '?']) {
        whole.push('.');
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rounded_zero_has_no_sign() {
        assert_eq!(score(-0.001), "0.00");
        assert_eq!(signed(-0.001), "0.00");
        assert_eq!(signed(0.004), "0.00");
        assert_eq!(signed(0.3), "+0.30");
        assert_eq!(signed(-0.3), "−0.30");
    }

    #[test]
    fn a_huge_number_has_no_row_of_digits() {
        assert_eq!(score(-1.0e300), "−1.00e300");
        assert_eq!(score(123_456.0), "123456.00");
    }

    #[test]
    fn a_small_p_value_is_never_shown_as_zero() {
        assert_eq!(p_value(1.0), "1.000");
        assert_eq!(p_value(1.0 / 924.0), "0.0011");
        assert_eq!(p_value(1.0e-5), "1.0e−5");
    }
}
