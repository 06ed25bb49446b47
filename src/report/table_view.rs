//! Knows a table as templates see it: texts, links, and why a cell is empty.
//! Must not know markup.
//! Start at `Table::view`.

use serde::Serialize;

use super::table::{Cell, Kind, Row, Table};

/// A table as templates see it.
#[derive(Debug, Clone, Serialize)]
pub(super) struct TableView {
    name: String,
    title: String,
    note: String,
    columns: Vec<ColumnView>,
    rows: Vec<RowView>,
}

#[derive(Debug, Clone, Serialize)]
struct ColumnView {
    label: String,
    numeric: bool,
    prose: bool,
}

#[derive(Debug, Clone, Serialize)]
struct RowView {
    strong: bool,
    cells: Vec<CellView>,
}

#[derive(Debug, Clone, Serialize)]
struct CellView {
    text: String,
    numeric: bool,
    href: Option<String>,
    reason: Option<String>,
}

impl Table {
    pub(super) fn view(&self) -> TableView {
        TableView {
            name: self.name.clone(),
            title: self.title.clone(),
            note: self.note.clone(),
            columns: self
                .columns
                .iter()
                .map(|column| ColumnView {
                    label: column.label.clone(),
                    numeric: column.is_numeric(),
                    prose: column.kind == Kind::Prose,
                })
                .collect(),
            rows: self.rows.iter().map(|row| self.row_view(row)).collect(),
        }
    }

    fn row_view(&self, row: &Row) -> RowView {
        let cells = row.cells.iter().zip(&self.columns);
        RowView {
            strong: row.strong,
            cells: cells
                .map(|(cell, column)| CellView {
                    text: cell.shown(),
                    numeric: column.is_numeric(),
                    href: match cell {
                        Cell::Link { href, .. } => Some(href.clone()),
                        _ => None,
                    },
                    reason: match cell {
                        Cell::Absent(reason) if !reason.is_empty() => Some(reason.clone()),
                        _ => None,
                    },
                })
                .collect(),
        }
    }
}
