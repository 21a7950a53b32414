//! Rows of tables with named columns, whatever file they lie in: one reading of a cell for all of them.
//!
//! Columns are found by name and each may be absent. A row that has none of a fact is told apart from a row in which
//! the fact is null, so that nothing missing turns into a zero.

mod assemble;
mod cell;
mod facts;
mod json;
mod parquet;
mod text;

use std::io::BufReader;
use std::path::Path;
use std::sync::Arc;

pub(super) use assemble::{AssembleError, BlockFacts, Joined, PlacedLog, log, outcome, transaction};
pub(super) use cell::Cell;
pub(super) use facts::Facts;
use parquet::Column;

use super::SourceError;

/// Rows read at a time; with what a row may hold, the bound of what a reader keeps in memory.
const ROWS: usize = 256;

/// The cells of a row as text; `None` is null.
pub(super) type TextRow = Box<[Option<Box<str>>]>;

/// Some consecutive rows of one file, all with the same columns.
pub(super) struct Chunk {
    pub names: Arc<[String]>,
    cells: Cells,
}

enum Cells {
    Columns(Vec<Column>, usize),
    Text(Vec<TextRow>),
}

/// The chunks of a file, in order.
pub(super) type Chunks = Box<dyn Iterator<Item = Result<Chunk, SourceError>> + Send>;

/// One row.
#[derive(Clone, Copy)]
pub(super) struct Row<'a> {
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

/// Opens a file by its extension: `parquet`, `csv`, `json` or `ndjson`, the last three also with `gz`.
pub(super) fn open(file: &Path) -> Result<Chunks, SourceError> {
    if file.extension().is_some_and(|extension| extension == "parquet") {
        return parquet::open(file);
    }
    let reader = super::files::reader(file).map_err(|error| super::unreadable(file, &error))?;
    let reader = BufReader::with_capacity(1 << 18, reader);
    match format(file) {
        Some("csv") => text::csv(file, reader),
        Some("json" | "ndjson" | "jsonl") => json::open(file, reader),
        _ => Err(malformed(file, "not a .parquet, .csv, .json or .ndjson file")),
    }
}

/// The extension that tells the format, with `gz` left out.
pub(super) fn format(file: &Path) -> Option<&str> {
    let name = file.file_name()?.to_str()?;
    Some(name.strip_suffix(".gz").unwrap_or(name).rsplit_once('.')?.1)
}

/// What is in the file cannot be taken for what it should be.
pub(super) fn malformed(file: &Path, cause: impl ToString) -> SourceError {
    SourceError::Malformed { file: file.into(), cause: cause.to_string() }
}
