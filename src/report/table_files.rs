//! Knows how a table becomes CSV and LaTeX.
//! Must not know which tables there are.
//! Start at `Table::csv` and `Table::tex`.

use std::path::Path;

use super::table::{Cell, Column, Kind, Table};
use super::{ReportError, numerals, put};

impl Column {
    fn alignment(&self) -> &'static str {
        match self.kind {
            Kind::Text => "l",
            Kind::Prose => "p{6cm}",
            _ => "r",
        }
    }
}

impl Table {
    /// Writes `<name>.csv` and `<name>.tex` into a folder.
    pub(super) fn write(&self, folder: &Path) -> Result<(), ReportError> {
        put(&folder.join(format!("{}.csv", self.name)), &self.csv()?)?;
        put(
            &folder.join(format!("{}.tex", self.name)),
            self.tex().as_bytes(),
        )
    }

    /// CSV with full precision; an interval takes three columns, an absent value is an empty cell.
    pub(super) fn csv(&self) -> Result<Vec<u8>, csv::Error> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(self.columns.iter().flat_map(|column| {
            match column.kind {
                Kind::Interval => ["", "_low", "_high"]
                    .map(|end| format!("{}{end}", column.key))
                    .to_vec(),
                Kind::Range => ["_low", "_high"]
                    .map(|end| format!("{}{end}", column.key))
                    .to_vec(),
                _ => vec![column.key.clone()],
            }
        }))?;
        for row in &self.rows {
            let cells = row.cells.iter().zip(&self.columns);
            writer.write_record(cells.flat_map(|(cell, column)| csv_cells(cell, column.kind)))?;
        }
        writer
            .into_inner()
            .map_err(|error| csv::Error::from(error.into_error()))
    }

    /// A LaTeX table in the manner of package `booktabs`; needs nothing else.
    pub(super) fn tex(&self) -> String {
        let alignment: String = self
            .columns
            .iter()
            .map(Column::alignment)
            .collect::<Vec<_>>()
            .concat();
        let heading: Vec<String> = self.columns.iter().map(|c| tex_text(&c.label)).collect();
        let mut lines = vec![
            "% needs \\usepackage{booktabs}".to_owned(),
            "\\begin{table}".to_owned(),
            "\\centering".to_owned(),
            format!("\\caption{{{}}}", tex_text(&self.title)),
            format!("\\begin{{tabular}}{{{alignment}}}"),
            "\\toprule".to_owned(),
            format!("{} \\\\", heading.join(" & ")),
            "\\midrule".to_owned(),
        ];
        for row in &self.rows {
            let cells: Vec<String> = row
                .cells
                .iter()
                .map(|cell| {
                    let text = tex_text(&cell.shown());
                    if row.strong {
                        format!("\\textbf{{{text}}}")
                    } else {
                        text
                    }
                })
                .collect();
            lines.push(format!("{} \\\\", cells.join(" & ")));
        }
        for line in ["\\bottomrule", "\\end{tabular}", "\\end{table}", ""] {
            lines.push(line.to_owned());
        }
        lines.join("\n")
    }
}

fn csv_cells(cell: &Cell, kind: Kind) -> Vec<String> {
    match cell {
        Cell::Text(text) | Cell::Link { text, .. } => vec![text.clone()],
        Cell::Count(count) => vec![count.to_string()],
        Cell::Number(value) | Cell::Fine(value) | Cell::Signed(value) | Cell::PValue(value) => {
            vec![numerals::float(*value)]
        }
        Cell::Interval { estimate, ends } => {
            let end = |index: usize| ends.map(|ends| ends[index]);
            [Some(*estimate), end(0), end(1)]
                .map(|value| value.map_or_else(String::new, numerals::float))
                .to_vec()
        }
        Cell::Range { low, high } => [low, high].map(|value| numerals::float(*value)).to_vec(),
        Cell::Absent(_) if kind == Kind::Interval => vec![String::new(); 3],
        Cell::Absent(_) if kind == Kind::Range => vec![String::new(); 2],
        Cell::Absent(_) => vec![String::new()],
    }
}

/// Escapes what LaTeX reads as a command; signs beyond ASCII that the default encoding lacks become commands.
fn tex_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in super::inert::inert_line(text).chars() {
        match character {
            '\\' => out.push_str("\\textbackslash{}"),
            '{' | '}' | '$' | '&' | '#' | '%' | '_' => {
                out.push('\\');
                out.push(character);
            }
            '~' => out.push_str("\\textasciitilde{}"),
            '^' => out.push_str("\\textasciicircum{}"),
            '<' => out.push_str("\\textless{}"),
            '>' => out.push_str("\\textgreater{}"),
            '\u{2212}' => out.push_str("$-$"),
            '–' => out.push_str("--"),
            '×' => out.push_str("$\\times$"),
            'ω' => out.push_str("$\\omega$"),
            '²' => out.push_str("$^2$"),
            '…' => out.push_str("\\dots{}"),
            // The first cell of a row must not look like the optional argument of the line before it.
            '[' => out.push_str("{[}"),
            ']' => out.push_str("{]}"),
            plain if plain.is_ascii() => out.push(plain),
            _ => out.push('?'),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::table::Row;

    fn table() -> Table {
        Table {
            name: "lifts".to_owned(),
            title: "Lift & more".to_owned(),
            note: String::new(),
            columns: vec![
                Column::new("method", "method", Kind::Text),
                Column::new("lift", "lift", Kind::Interval),
                Column::new("p", "p", Kind::PValue),
            ],
            rows: vec![
                Row::of(vec![
                    Cell::text("a_b"),
                    Cell::Interval {
                        estimate: -0.123_4,
                        ends: Some([-0.5, 0.25]),
                    },
                    Cell::PValue(0.25),
                ]),
                Row::of(vec![
                    Cell::text("c,\"d\""),
                    Cell::Absent("one session".to_owned()),
                    Cell::Absent("one session".to_owned()),
                ]),
            ],
        }
    }

    #[test]
    fn csv_keeps_full_precision_and_leaves_absent_values_empty() {
        let text = String::from_utf8(table().csv().unwrap()).unwrap();
        assert_eq!(
            text,
            "method,lift,lift_low,lift_high,p\na_b,-0.1234,-0.5,0.25,0.25\n\"c,\"\"d\"\"\",,,,\n"
        );
    }

    #[test]
    fn latex_escapes_what_it_would_read_as_commands() {
        let text = table().tex();
        assert!(text.contains("a\\_b & $-$0.12 {[}$-$0.50, 0.25{]} & 0.250 \\\\"));
        assert!(text.contains("\\caption{Lift \\& more}"));
        assert_eq!(
            tex_text("\\input{x}\u{1b}"),
            "\\textbackslash{}input\\{x\\}?"
        );
    }
}
