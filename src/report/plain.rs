//! Knows how a table is laid out as plain text in a given number of columns.
//! Must not know which tables there are, nor a terminal.
//! Start at `Table::plain`.

use super::inert::inert_line;
use super::table::{Column, Kind, Table};

/// Text columns are never squeezed below this.
const LEAST: usize = 8;

/// Text columns are read without effort down to this.
const EASY: usize = 13;

/// Between columns.
const GAP: &str = "  ";

/// In front of a row that decides; as wide as `PLAIN`.
const DECIDES: &str = "* ";
const PLAIN: &str = "  ";

impl Table {
    /// The table as text of at most `width` columns: title, head, rows (deciding ones marked `*`), what each row assumes,
    /// and the note. Cells of text are broken over lines where they do not fit.
    pub(super) fn plain(&self, width: usize) -> String {
        let mut lines = vec![inert_line(&self.title)];
        let shown: Vec<usize> = (0..self.columns.len())
            .filter(|&index| self.columns[index].kind != Kind::Prose)
            .collect();
        let head: Vec<String> = shown
            .iter()
            .map(|&index| inert_line(&self.columns[index].label))
            .collect();
        let cells: Vec<Vec<String>> = self
            .rows
            .iter()
            .map(|row| {
                let texts = shown.iter().map(|&index| row.cells[index].shown());
                texts.map(|text| inert_line(&text)).collect()
            })
            .collect();
        let columns: Vec<&Column> = shown.iter().map(|&index| &self.columns[index]).collect();
        let widths = widths(&columns, &head, &cells, width);
        lines.extend(row(&columns, &widths, PLAIN, &head));
        let rule: Vec<String> = widths.iter().map(|width| "-".repeat(*width)).collect();
        lines.push(format!("{PLAIN}{}", rule.join(GAP)));
        for (each, texts) in self.rows.iter().zip(&cells) {
            let mark = if each.strong { DECIDES } else { PLAIN };
            lines.extend(row(&columns, &widths, mark, texts));
        }
        if self.rows.is_empty() {
            lines.push(format!("{PLAIN}none"));
        }
        for remark in self.remarks() {
            lines.extend(folded(&remark, width, PLAIN));
        }
        lines.extend(folded(&inert_line(&self.note), width, PLAIN));
        lines.push(String::new());
        lines.join("\n")
    }

    /// Whether so many columns hold the table with text columns that are read without effort.
    pub(super) fn fits(&self, width: usize) -> bool {
        let needed: Vec<usize> = (0..self.columns.len())
            .filter(|&index| self.columns[index].kind != Kind::Prose)
            .map(|index| {
                let column = &self.columns[index];
                let cells = self.rows.iter().map(|row| row.cells[index].shown());
                let longest = cells.map(|cell| cell.chars().count()).max().unwrap_or(0);
                if column.is_numeric() {
                    longest.max(longest_word(&column.label))
                } else {
                    longest.min(EASY).max(longest_word(&column.label))
                }
            })
            .collect();
        let gaps = GAP.len() * needed.len().saturating_sub(1);
        PLAIN.len() + needed.iter().sum::<usize>() + gaps <= width
    }

    /// Each sentence of the prose columns once, behind the names of the rows it belongs to.
    fn remarks(&self) -> Vec<String> {
        let named = self
            .columns
            .iter()
            .position(|column| column.key == "test")
            .unwrap_or(0);
        let mut sentences: Vec<(String, Vec<String>)> = Vec::new();
        for (index, column) in self.columns.iter().enumerate() {
            if column.kind != Kind::Prose {
                continue;
            }
            for row in &self.rows {
                let sentence = inert_line(&row.cells[index].shown());
                let name = inert_line(&row.cells[named].shown());
                match sentences.iter_mut().find(|(known, _)| *known == sentence) {
                    Some((_, names)) if names.contains(&name) => {}
                    Some((_, names)) => names.push(name),
                    None => sentences.push((sentence, vec![name])),
                }
            }
        }
        sentences
            .into_iter()
            .map(|(sentence, names)| format!("{}: {sentence}", names.join(", ")))
            .collect()
    }
}

/// As wide as the widest cell and the longest word of the head; text columns give way, the widest first.
fn widths(columns: &[&Column], head: &[String], cells: &[Vec<String>], width: usize) -> Vec<usize> {
    let mut widths: Vec<usize> = (0..columns.len())
        .map(|index| {
            let longest = cells.iter().map(|row| row[index].chars().count()).max();
            longest.unwrap_or(0).max(longest_word(&head[index]))
        })
        .collect();
    let room = width.saturating_sub(PLAIN.len() + GAP.len() * columns.len().saturating_sub(1));
    while widths.iter().sum::<usize>() > room {
        let text = (0..columns.len())
            .filter(|&index| !columns[index].is_numeric() && widths[index] > LEAST)
            .max_by_key(|&index| widths[index]);
        match text {
            Some(index) => widths[index] -= 1,
            None => break,
        }
    }
    widths
}

fn longest_word(text: &str) -> usize {
    let words = text.split(' ').map(|word| word.chars().count());
    words.max().unwrap_or(0)
}

/// One row, over as many lines as its tallest cell needs.
fn row(columns: &[&Column], widths: &[usize], mark: &str, texts: &[String]) -> Vec<String> {
    let cells: Vec<Vec<String>> = texts
        .iter()
        .zip(widths)
        .map(|(text, width)| broken(text, *width))
        .collect();
    let height = cells.iter().map(Vec::len).max().unwrap_or(1);
    (0..height)
        .map(|line| {
            let parts: Vec<String> = cells
                .iter()
                .zip(columns.iter().zip(widths))
                .map(|(cell, (column, width))| {
                    let part = cell.get(line).map_or("", String::as_str);
                    if column.is_numeric() {
                        format!("{part:>width$}")
                    } else {
                        format!("{part:<width$}")
                    }
                })
                .collect();
            let mark = if line == 0 { mark } else { PLAIN };
            format!("{mark}{}", parts.join(GAP)).trim_end().to_owned()
        })
        .collect()
}

/// A text in lines of at most `width` characters: broken at spaces, then behind dashes, then anywhere.
pub(super) fn broken(text: &str, width: usize) -> Vec<String> {
    let width = width.max(1);
    let mut lines = vec![String::new()];
    for part in text.split_inclusive([' ', '-', '+', '_', '/']) {
        let mut rest: Vec<char> = part.chars().collect();
        let last = lines.last_mut().expect("there is always a line");
        let needed = part.trim_end().chars().count();
        if !last.is_empty() && last.chars().count() + needed > width {
            lines.push(String::new());
        }
        while rest.len() > width
            && rest.iter().collect::<String>().trim_end().chars().count() > width
        {
            let tail = rest.split_off(width);
            let last = lines.last_mut().expect("there is always a line");
            last.extend(rest);
            lines.push(String::new());
            rest = tail;
        }
        let last = lines.last_mut().expect("there is always a line");
        last.extend(rest);
    }
    lines
        .iter()
        .map(|line| line.trim_end().to_owned())
        .collect()
}

/// A sentence in lines of at most `width` characters, each after `indent`; nothing for an empty one.
pub(super) fn folded(text: &str, width: usize, indent: &str) -> Vec<String> {
    if text.is_empty() {
        return Vec::new();
    }
    let mut lines: Vec<String> = vec![indent.to_owned()];
    for word in text.split(' ') {
        for part in broken(word, width.saturating_sub(indent.len())) {
            let last = lines.last_mut().expect("there is always a line");
            let begun = last.len() > indent.len();
            if begun && last.chars().count() + 1 + part.chars().count() > width {
                lines.push(format!("{indent}{part}"));
            } else {
                if begun {
                    last.push(' ');
                }
                last.push_str(&part);
            }
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::table::{Cell, Row};

    fn table() -> Table {
        let of = |test: &str, p: f64, strong: bool| Row {
            strong,
            cells: vec![
                Cell::text(test),
                Cell::PValue(p),
                Cell::text("Sessions are exchangeable."),
            ],
        };
        Table {
            name: "tests".to_owned(),
            title: "Tests".to_owned(),
            note: "A note.".to_owned(),
            columns: vec![
                Column::new("test", "test", Kind::Text),
                Column::new("p", "p", Kind::PValue),
                Column::new("assumes", "what it assumes", Kind::Prose),
            ],
            rows: vec![
                of("permutation of means", 0.25, true),
                of("rank sum", 0.0312, false),
            ],
        }
    }

    #[test]
    fn a_deciding_row_is_marked_and_every_assumption_is_told_once() {
        let text = table().plain(60);
        assert_eq!(
            text,
            "Tests\n\
            \x20 test                       p\n\
            \x20 --------------------  ------\n\
            * permutation of means   0.250\n\
            \x20 rank sum              0.0312\n\
            \x20 permutation of means, rank sum: Sessions are\n\
            \x20 exchangeable.\n\
            \x20 A note.\n"
                .replace(
                    "Sessions are\n  exchangeable.",
                    "Sessions are exchangeable."
                )
        );
    }

    #[test]
    fn text_gives_way_until_the_table_fits() {
        let text = table().plain(22);
        assert!(
            text.lines().all(|line| line.chars().count() <= 22),
            "{text}"
        );
        assert!(text.contains("* permutation"), "{text}");
        assert!(text.contains("0.250"), "{text}");
    }

    #[test]
    fn words_are_broken_at_spaces_dashes_and_only_then_inside() {
        assert_eq!(
            broken("treasure-grid-sign-flip", 14),
            ["treasure-grid-", "sign-flip"]
        );
        assert_eq!(broken("mean over all", 9), ["mean over", "all"]);
        assert_eq!(broken("abcdefghij", 4), ["abcd", "efgh", "ij"]);
    }
}
