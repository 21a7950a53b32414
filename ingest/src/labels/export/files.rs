//! The files of an export: `<table>_<first row>_<end>.parquet`, in folders or not.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::error::ExportError;

/// Deepest folder below the one that is named.
const MAX_DEPTH: usize = 8;

pub(super) const DEPLOYMENTS: &str = "contract_deployments";
pub(super) const VERIFIED: &str = "verified_contracts";
pub(super) const MATCHES: &str = "sourcify_matches";
pub(super) const COMPILED: &str = "compiled_contracts";
pub(super) const COMPILED_SOURCES: &str = "compiled_contracts_sources";
pub(super) const SOURCES: &str = "sources";
pub(super) const SIGNATURES: &str = "signatures";
pub(super) const COMPILED_SIGNATURES: &str = "compiled_contracts_signatures";

/// The tables that are read; an export has others.
const TABLES: [&str; 8] =
    [DEPLOYMENTS, VERIFIED, MATCHES, COMPILED, COMPILED_SOURCES, SOURCES, SIGNATURES, COMPILED_SIGNATURES];
/// The tables without which no contract can be loaded.
const OF_CONTRACTS: [&str; 5] = [DEPLOYMENTS, VERIFIED, COMPILED, COMPILED_SOURCES, SOURCES];

/// Rows of a table, by their numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct RowRange {
    first: u64,
    end: u64,
}

/// The files of an export by table, in the order of their rows.
#[derive(Debug)]
pub(super) struct ExportFiles {
    pub folder: PathBuf,
    tables: BTreeMap<&'static str, BTreeMap<RowRange, PathBuf>>,
}

impl ExportFiles {
    /// The files in a folder and in those below it; `None` if there is none.
    pub fn find(folder: &Path) -> Result<Option<Self>, ExportError> {
        let mut files = Self { folder: folder.into(), tables: BTreeMap::new() };
        files.walk(folder, MAX_DEPTH)?;
        Ok(Some(files).filter(|files| !files.tables.is_empty()))
    }

    fn walk(&mut self, folder: &Path, depth: usize) -> Result<(), ExportError> {
        let error = |source| ExportError::File { file: folder.into(), source };
        for entry in fs::read_dir(folder).map_err(error)? {
            let entry = entry.map_err(error)?;
            // A link could lead out of the folder, or round in a circle.
            let kind = entry.file_type().map_err(error)?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let is_passed_over = name.starts_with('.') || name == "node_modules";
            if kind.is_dir() && depth > 0 && !is_passed_over {
                self.walk(&entry.path(), depth - 1)?;
            } else if kind.is_file() {
                self.add(&name, entry.path())?;
            }
        }
        Ok(())
    }

    fn add(&mut self, name: &str, file: PathBuf) -> Result<(), ExportError> {
        let Some((table, rows)) = TABLES.iter().find_map(|table| Some((*table, rows_of(name, table)?))) else {
            return Ok(());
        };
        let known = self.tables.entry(table).or_default().insert(rows, file.clone());
        known.map_or(Ok(()), |other| Err(ExportError::SameRows { table, file, other }))
    }

    /// The files of a table; none if it is not there.
    pub fn of(&self, table: &str) -> impl Iterator<Item = &Path> {
        self.tables.get(table).into_iter().flat_map(BTreeMap::values).map(PathBuf::as_path)
    }

    /// Whether contracts are to be loaded, and not signatures alone.
    pub fn has_contracts(&self) -> bool {
        OF_CONTRACTS.into_iter().chain([MATCHES]).any(|table| self.tables.contains_key(table))
    }

    /// Refuses an export that lacks a table of contracts, and says which rows of a table are in no file.
    pub fn require_contracts(&self) -> Result<(), ExportError> {
        if let Some(table) = OF_CONTRACTS.into_iter().find(|table| !self.tables.contains_key(table)) {
            return Err(ExportError::Table { folder: self.folder.clone(), table });
        }
        for (table, files) in &self.tables {
            let mut end = 0;
            for rows in files.keys() {
                if rows.first > end {
                    let (from, to) = (end, rows.first);
                    tracing::warn!(table, from, to, "these rows are in no file: contracts may be missing");
                }
                end = end.max(rows.end);
            }
        }
        Ok(())
    }
}

/// The rows that the file of a table has by its name; earlier exports append the compression to it.
fn rows_of(name: &str, table: &str) -> Option<RowRange> {
    let stem = name.strip_suffix(".parquet")?;
    let stem = stem.strip_suffix("_zstd").unwrap_or(stem);
    let (first, end) = stem.strip_prefix(table)?.strip_prefix('_')?.split_once('_')?;
    Some(RowRange { first: first.parse().ok()?, end: end.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_state_table_and_rows() {
        let rows = |first, end| Some(RowRange { first, end });
        assert_eq!(rows_of("sources_10000_20000.parquet", SOURCES), rows(10_000, 20_000));
        assert_eq!(rows_of("contract_deployments_0_1000000_zstd.parquet", DEPLOYMENTS), rows(0, 1_000_000));
        assert_eq!(rows_of("sources.parquet", SOURCES), None);
        assert_eq!(rows_of("compiled_contracts_sources_0_10.parquet", COMPILED), None);
        assert_eq!(rows_of("compiled_contracts_sources_0_10.parquet", COMPILED_SOURCES), rows(0, 10));
        assert_eq!(rows_of("sources_0_10.csv", SOURCES), None);
    }
}
