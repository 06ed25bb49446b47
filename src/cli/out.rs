//! Knows how a verb prints: data to standard output, talk to standard error.
//! Must not know what is printed.
//! Start at `data` and `talk`.

use std::io::Write;

use super::{Code, Failure};
use crate::report::inert_line;

/// Writes data to standard output; a closed pipe is no failure.
pub(super) fn data(text: &str) -> Result<(), Failure> {
    let written = std::io::stdout().lock().write_all(text.as_bytes());
    match written {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(Failure::new(
            Code::Internal,
            format!("standard output: {error}"),
        )),
        _ => Ok(()),
    }
}

/// Writes one line of talk to standard error.
#[expect(
    clippy::print_stderr,
    reason = "the command line is the one room that prints"
)]
pub(super) fn talk(line: &str) {
    eprintln!("{line}");
}

/// Lays out rows in columns, the first row being the head; what would act on a terminal is shown as pictures.
pub(super) fn table(rows: &[Vec<String>]) -> String {
    let rows: Vec<Vec<String>> = rows
        .iter()
        .map(|row| row.iter().map(|cell| inert_line(cell)).collect())
        .collect();
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter()
            .filter_map(|row| row.get(column))
            .map(|cell| cell.chars().count())
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in &rows {
        let cells: Vec<String> = row
            .iter()
            .zip(&widths)
            .map(|(cell, width)| format!("{cell:width$}"))
            .collect();
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows = [
            vec!["a".to_owned(), "b".to_owned()],
            vec!["longer".to_owned(), "c".to_owned()],
        ];
        assert_eq!(super::table(&rows), "a       b\nlonger  c\n");
    }
}
