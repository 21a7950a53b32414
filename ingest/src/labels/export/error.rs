//! Why an export is not loaded.

use std::path::{Path, PathBuf};

/// Why an export is not loaded.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// A table is not there.
    #[error(
        "{} has no file of the table `{table}`, which contracts are loaded with: download it too, named \
         {table}_FROM_TO.parquet as the export names it",
        folder.display()
    )]
    Table {
        /// The folder of the export.
        folder: PathBuf,
        /// Name of the table.
        table: &'static str,
    },
    /// Two files claim the same rows.
    #[error(
        "{} and {} are both the same rows of the table `{table}`: give the folder of one export",
        file.display(), other.display()
    )]
    SameRows {
        /// Name of the table.
        table: &'static str,
        /// One of the files.
        file: PathBuf,
        /// The other one.
        other: PathBuf,
    },
    /// A table lacks a column.
    #[error(
        "{}: the table `{}` has no column `{}`, so this form of the export is unknown",
        at.file.display(), at.table, at.column
    )]
    Column {
        /// The column that was sought.
        at: Box<Location>,
    },
    /// A column is of a type that no known version of the export has.
    #[error(
        "{}: the column `{}` of the table `{}` is of the type {found}, not {expected}, so this form of the export is \
         unknown",
        at.file.display(), at.column, at.table
    )]
    Type {
        /// The name of the column.
        at: Box<Location>,
        /// The type that it has.
        found: String,
        /// The types that are known.
        expected: &'static str,
    },
    /// A cell does not hold what its column holds.
    #[error(
        "{}: the column `{}` of the table `{}` holds {found}, not {expected}",
        at.file.display(), at.column, at.table
    )]
    Value {
        /// The name of the column.
        at: Box<Location>,
        /// What is in the cell.
        found: String,
        /// What must be.
        expected: &'static str,
    },
    /// A text has another hash than the export states.
    #[error(
        "{}: the column `{}` of the table `{}` states the hash {stated} of a text whose hash is {computed}: the file \
         is damaged, download it again",
        at.file.display(), at.column, at.table
    )]
    Hash {
        /// The column of the hash.
        at: Box<Location>,
        /// The hash in it.
        stated: String,
        /// That of the text beside it.
        computed: String,
    },
    /// A file is no Parquet, or damaged.
    #[error("{} cannot be read as Parquet: {cause}: download it again", file.display())]
    Malformed {
        /// The file that was read.
        file: PathBuf,
        /// What its decoder says.
        cause: String,
    },
    /// A file or folder cannot be opened.
    #[error("{} cannot be read", file.display())]
    File {
        /// The file or folder.
        file: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// An export has contracts of many chains.
    #[error(
        "{} has contracts of many chains, and the chain of the database is not known: load blocks first, or give \
         --chain-id",
        folder.display()
    )]
    UnknownChain {
        /// The folder of the export.
        folder: PathBuf,
    },
    /// Writing failed, so that reading ends.
    #[error("what was read is not written")]
    Abandoned,
}

/// Where something is in an export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    /// Path of the file.
    pub file: PathBuf,
    /// Name of the table.
    pub table: &'static str,
    /// Name of the column.
    pub column: &'static str,
}

impl ExportError {
    pub(super) fn malformed(file: &Path, cause: impl ToString) -> Self {
        Self::Malformed { file: file.into(), cause: cause.to_string() }
    }
}
