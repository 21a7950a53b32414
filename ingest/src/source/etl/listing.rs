//! Which files of a folder hold what: by name, and streams by their first row.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::source::columns::{self, Cell};
use crate::source::{SourceError, unreadable};

/// What a row is of. The order is that in which a block is put together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Block,
    Transaction,
    Receipt,
    Log,
}

impl fmt::Display for Kind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Block => "block",
            Self::Transaction => "transaction",
            Self::Receipt => "receipt",
            Self::Log => "log",
        })
    }
}

/// What a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dataset {
    /// Rows of one kind.
    Of(Kind),
    /// Rows of many kinds, distinguished by `type`: what `ethereumetl stream` writes.
    Stream,
}

/// A file to read.
#[derive(Debug, Clone)]
pub(super) struct DataFile {
    pub path: PathBuf,
    pub dataset: Dataset,
    pub size: u64,
}

/// The files in and below `folder` that are of use, in order of their paths.
pub(super) fn files(folder: &Path) -> Result<Vec<DataFile>, SourceError> {
    let mut found = Vec::new();
    walk(folder, &mut found)?;
    found.sort_by(|one, other| one.path.cmp(&other.path));
    let has_blocks = |file: &DataFile| matches!(file.dataset, Dataset::Of(Kind::Block) | Dataset::Stream);
    if !found.iter().any(has_blocks) {
        return Err(columns::malformed(folder, "no blocks.csv, blocks.json or stream of ethereum-etl in or below it"));
    }
    Ok(found)
}

fn walk(folder: &Path, found: &mut Vec<DataFile>) -> Result<(), SourceError> {
    for entry in std::fs::read_dir(folder).map_err(|error| unreadable(folder, &error))? {
        let entry = entry.map_err(|error| unreadable(folder, &error))?;
        let path = entry.path();
        // The type of the entry itself: a link to a folder above would lead in circles.
        let kind = entry.file_type().map_err(|error| unreadable(&path, &error))?;
        if kind.is_dir() {
            walk(&path, found)?;
        } else if let Some(dataset) = dataset(&path)? {
            let size = std::fs::metadata(&path).map_err(|error| unreadable(&path, &error))?.len();
            found.push(DataFile { path, dataset, size });
        }
    }
    Ok(())
}

/// What `file` holds; `None` if it is of no use here.
fn dataset(file: &Path) -> Result<Option<Dataset>, SourceError> {
    let Some(format @ ("csv" | "json" | "ndjson" | "jsonl")) = columns::format(file) else { return Ok(None) };
    let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    Ok(match stem(name) {
        "blocks" => Some(Dataset::Of(Kind::Block)),
        "transactions" => Some(Dataset::Of(Kind::Transaction)),
        "receipts" => Some(Dataset::Of(Kind::Receipt)),
        "logs" => Some(Dataset::Of(Kind::Log)),
        "token_transfers" | "traces" | "contracts" | "tokens" | "geth_traces" => None,
        _ if format == "csv" => None,
        _ => is_stream(file)?.then_some(Dataset::Stream),
    })
}

/// The name without range and extension: `blocks_00000000_00009999.csv` is of `blocks`.
fn stem(name: &str) -> &str {
    let stem = name.split('.').next().unwrap_or_default();
    stem.trim_end_matches(|character: char| character.is_ascii_digit() || character == '_')
}

fn is_stream(file: &Path) -> Result<bool, SourceError> {
    // A file of something else need not be readable.
    let Some(Ok(chunk)) = columns::open(file)?.next() else { return Ok(false) };
    let row = chunk.row(0);
    Ok(matches!(row.cell(&["type"]), Cell::Text(_)) && matches!(row.cell(&["item_id"]), Cell::Text(_)))
}

#[cfg(test)]
mod tests {
    #[test]
    fn names_are_read_without_ranges() {
        for (name, stem) in [
            ("blocks.csv", "blocks"),
            ("blocks_00000000_00009999.csv", "blocks"),
            ("logs.json.gz", "logs"),
            ("token_transfers_1_2.csv", "token_transfers"),
            ("stream.ndjson.gz", "stream"),
        ] {
            assert_eq!(super::stem(name), stem);
        }
    }
}
