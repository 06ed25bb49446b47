//! Knows how texts fall into tokens: words split at `_` and case changes, and numbers by value.
//! Must not know whether a text is a query, a source line or a tool's output.
//! Start at `tokens`.

use super::number;

/// Lower-case words and numbers of a text, in order. A number stands as its value, so that `1e-3` meets `0.001`.
pub(super) fn tokens(text: &str) -> Vec<String> {
    pieces(text)
        .into_iter()
        .map(|piece| match piece {
            Piece::Word(word) => word,
            Piece::Number(value) => number::shown(value),
        })
        .collect()
}

/// The distinct numbers of a text, in order of first occurrence.
pub(super) fn numbers(text: &str) -> Vec<f64> {
    let mut found: Vec<f64> = Vec::new();
    for piece in pieces(text) {
        if let Piece::Number(value) = piece
            && !found.contains(&value)
        {
            found.push(value);
        }
    }
    found
}

enum Piece {
    Word(String),
    Number(f64),
}

fn pieces(text: &str) -> Vec<Piece> {
    let chars: Vec<char> = text.chars().collect();
    let mut found = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        let begins_number = chars[at].is_ascii_digit()
            || (chars[at] == '.' && chars.get(at + 1).is_some_and(char::is_ascii_digit));
        if begins_number {
            let end = number_end(&chars, at);
            let digits: String = chars[at..end].iter().filter(|c| **c != '_').collect();
            if let Ok(value) = digits.parse::<f64>()
                && value.is_finite()
            {
                let signed = if has_sign(&chars, at) { -value } else { value };
                found.push(Piece::Number(signed + 0.0));
            }
            at = end;
        } else if chars[at].is_alphabetic() || chars[at] == '_' {
            let mut end = at;
            while end < chars.len() && (chars[end].is_alphanumeric() || chars[end] == '_') {
                end += 1;
            }
            found.extend(words(&chars[at..end]).into_iter().map(Piece::Word));
            at = end;
        } else {
            at += 1;
        }
    }
    found
}

/// Where the number beginning at `at` ends: digits, at most one point followed by a digit, an exponent.
fn number_end(chars: &[char], at: usize) -> usize {
    let digits = |mut at: usize| {
        while at < chars.len() && (chars[at].is_ascii_digit() || chars[at] == '_') {
            at += 1;
        }
        at
    };
    let mut end = digits(at);
    if chars.get(end) == Some(&'.') && chars.get(end + 1).is_some_and(char::is_ascii_digit) {
        end = digits(end + 1);
    }
    if matches!(chars.get(end), Some('e' | 'E')) {
        let signed = matches!(chars.get(end + 1), Some('+' | '-'));
        let first = end + 1 + usize::from(signed);
        if chars.get(first).is_some_and(char::is_ascii_digit) {
            end = digits(first);
        }
    }
    end
}

/// Whether a minus directly before `at` is a sign: nothing that ends an operand stands directly before it.
fn has_sign(chars: &[char], at: usize) -> bool {
    let Some(minus) = at.checked_sub(1) else {
        return false;
    };
    if !matches!(chars[minus], '-' | '\u{2212}') {
        return false;
    }
    minus.checked_sub(1).is_none_or(|before| {
        let before = chars[before];
        !(before.is_alphanumeric() || matches!(before, '_' | ')' | ']' | '}' | '.' | '-'))
    })
}

fn words(identifier: &[char]) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    for (i, &c) in identifier.iter().enumerate() {
        let before = i.checked_sub(1).map(|before| identifier[before]);
        let after = identifier.get(i + 1);
        let turns = c.is_uppercase()
            && (before.is_some_and(|b| b.is_lowercase() || b.is_numeric())
                || (before.is_some_and(char::is_uppercase)
                    && after.is_some_and(|a| a.is_lowercase())));
        if (c == '_' || turns) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if c != '_' {
            word.extend(c.to_lowercase());
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_split_at_underscores_and_case_changes() {
        assert_eq!(
            tokens("reward_scale TreasureGrid MLPPolicy _x conv2D"),
            [
                "reward", "scale", "treasure", "grid", "mlp", "policy", "x", "conv2", "d"
            ]
        );
    }

    #[test]
    fn numbers_are_kept_by_value() {
        assert_eq!(
            tokens("1e-3 0.001 .5 1_000 10.0 update 24/48"),
            ["0.001", "0.001", "0.5", "1000", "10", "update", "24", "48"]
        );
    }

    #[test]
    fn a_minus_is_a_sign_only_where_no_operand_stands_before_it() {
        assert_eq!(
            numbers("pit = -5.0, x-2, (-3, 4), a - 6, f()-7, 8-9"),
            [-5.0, 2.0, -3.0, 4.0, 6.0, 7.0, 8.0, 9.0]
        );
    }

    #[test]
    fn a_full_stop_after_a_number_ends_the_sentence() {
        assert_eq!(
            tokens("set it to 40. Then"),
            ["set", "it", "to", "40", "then"]
        );
    }
}
