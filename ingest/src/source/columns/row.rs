//! Rows with named cells, and the chunks that files are read by.

use std::path::Path;
use std::sync::Arc;

use super::cell::Cell;
use super::column::Column;
use crate::source::SourceError;

/// Rows read at a time; with what a row may hold, the bound of what a reader keeps in memory.
pub(super) const ROWS: usize = 256;

/// The cells of a row as text; `None` is null.
pub(in crate::source) type TextRow = Box<[Option<Box<str>>]>;

/// Some consecutive rows of one file, all with the same columns.
pub(in crate::source) struct Chunk {
    pub names: Arc<[String]>,
    pub(super) cells: Cells,
}

/// The cells of a chunk, as the file had them.
pub(super) enum Cells {
    Columns(Vec<Column>, usize),
    Text(Vec<TextRow>),
}

/// The chunks of a file, in order.
pub(in crate::source) type Chunks = Box<dyn Iterator<Item = Result<Chunk, SourceError>> + Send>;

/// One row of a chunk, borrowed.
#[derive(Clone, Copy)]
pub(in crate::source) struct Row<'a> {
    names: &'a [String],
    cells: RowCells<'a>,
}

#[derive(Clone, Copy)]
enum RowCells<'a> {
    Columns(&'a [Column], usize),
    Text(&'a [Option<Box<str>>]),
}

impl Chunk {
    /// How many rows.
    pub fn len(&self) -> usize {
        match &self.cells {
            Cells::Columns(_, rows) => *rows,
            Cells::Text(rows) => rows.len(),
        }
    }

    /// The row at `index`, which is below [`Self::len`].
    pub fn row(&self, index: usize) -> Row<'_> {
        let cells = match &self.cells {
            Cells::Columns(columns, _) => RowCells::Columns(columns, index),
            Cells::Text(rows) => RowCells::Text(&rows[index]),
        };
        Row { names: &self.names, cells }
    }

    /// Its rows, if it was read from text.
    pub fn into_text(self) -> Option<Vec<TextRow>> {
        match self.cells {
            Cells::Columns(..) => None,
            Cells::Text(rows) => Some(rows),
        }
    }
}

impl<'a> Row<'a> {
    /// A row of text cells under `names`, as many.
    pub fn of_text(names: &'a [String], cells: &'a [Option<Box<str>>]) -> Self {
        Self { names, cells: RowCells::Text(cells) }
    }

    /// The cell in the first of `columns` that is there.
    pub fn cell(&self, columns: &[&str]) -> Cell<'a> {
        let position = columns.iter().find_map(|column| self.names.iter().position(|name| name == column));
        match (position, self.cells) {
            (None, _) => Cell::Absent,
            (Some(position), RowCells::Columns(all, row)) => {
                all.get(position).map_or(Cell::Absent, |column| column.cell(row))
            }
            (Some(position), RowCells::Text(cells)) => match cells.get(position) {
                None => Cell::Absent,
                Some(None) => Cell::Null,
                Some(Some(text)) => Cell::Text(text),
            },
        }
    }
}

/// What is in the file cannot be taken for what it should be.
pub(in crate::source) fn malformed(file: &Path, cause: impl ToString) -> SourceError {
    SourceError::Malformed { file: file.into(), cause: cause.to_string() }
}
