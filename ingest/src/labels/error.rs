//! Why labels are not loaded.

use std::path::PathBuf;

use trawl_core::store::StoreError;

use super::export::ExportError;

/// Why labels are not loaded.
#[derive(Debug, thiserror::Error)]
pub enum LabelsError {
    /// Something in a file is not what it must be.
    #[error("{} is refused at {at}: {reason}; nothing was written", file.display())]
    Refused {
        /// Path of the file.
        file: PathBuf,
        /// Where in it: a line, or an item of a list.
        at: String,
        /// What is wrong.
        reason: String,
    },
    /// It cannot be opened or read.
    #[error("{} cannot be read", file.display())]
    File {
        /// The file or folder.
        file: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// Files that name a chain, while the chain of the database is unknown.
    #[error(
        "{} is of chain {found}, and the chain of the database is not known: load blocks first, or give \
         --chain-id",
        file.display()
    )]
    UnknownChain {
        /// Path of the file.
        file: PathBuf,
        /// The chain it names.
        found: u64,
    },
    /// An export of a service is not what it must be. Parts of it may have been written, and are not visible.
    #[error(transparent)]
    Export(#[from] ExportError),
    /// ClickHouse does not do what it should.
    #[error(transparent)]
    Store(#[from] StoreError),
}
