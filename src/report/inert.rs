//! Knows how text from sessions is made harmless for a terminal and a page.
//! Must not know markup: escaping of `<` and quotes is the template's.
//! Start at `inert`.

use std::borrow::Cow;

/// Replaces characters that act on a terminal or reorder text; newline and tab stay.
///
/// Control characters below U+0020 become their visible pictures (`ESC` → `␛`); others become U+FFFD.
#[must_use]
pub fn inert(text: &str) -> Cow<'_, str> {
    if text.chars().all(|character| picture(character).is_none()) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(
        text.chars()
            .map(|character| picture(character).unwrap_or(character))
            .collect(),
    )
}

/// As `inert`, and on one line.
#[must_use]
pub fn inert_line(text: &str) -> String {
    inert(text).replace(['\n', '\t'], " ")
}

fn picture(character: char) -> Option<char> {
    match character {
        '\n' | '\t' => None,
        '\u{7f}' => Some('\u{2421}'),
        low if low < ' ' => Some(char::from_u32(0x2400 + low as u32).unwrap_or('\u{fffd}')),
        // C1 controls, bidirectional overrides and isolates, invisible joiners, line separators.
        '\u{80}'..='\u{9f}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{feff}' => Some('\u{fffd}'),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminal_escapes_become_pictures_and_words_stay() {
        assert_eq!(inert("\u{1b}]0;title\u{7}"), "␛]0;title␇");
        assert_eq!(inert("\u{9b}31m\u{202e}x\r"), "\u{fffd}31m\u{fffd}x␍");
        assert!(matches!(inert("häß\n\tok"), Cow::Borrowed(_)));
        assert_eq!(inert_line("a\nb\tc"), "a b c");
    }
}
