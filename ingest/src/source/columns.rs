//! Rows of tables with named columns, whatever file they lie in: one reading of a cell for all of them.
//!
//! Columns are found by name and each may be absent. A row that has none of a fact is distinguished from a row in which
//! the fact is null, so that nothing missing turns into a zero.

mod assemble;
mod cell;
mod column;
mod facts;
mod json;
mod parquet;
mod row;
mod text;

use std::io::BufReader;
use std::path::Path;

pub(super) use assemble::{AssembleError, AssembledBlock, BlockFacts, PlacedLog, log, outcome, transaction};
pub(super) use cell::Cell;
pub(super) use facts::Facts;
pub(super) use row::{Chunk, Chunks, Row, TextRow, malformed};

use super::SourceError;

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

/// The extension that names the format, with `gz` left out.
pub(super) fn format(file: &Path) -> Option<&str> {
    let name = file.file_name()?.to_str()?;
    Some(name.strip_suffix(".gz").unwrap_or(name).rsplit_once('.')?.1)
}
