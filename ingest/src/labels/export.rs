//! The export of Sourcify's database: verified contracts of all chains and signatures, as Parquet.
//!
//! It is read table by table in the order in which one names rows of the next, and handed on in parts, so that memory
//! grows with the contracts of the chain and not with the export: the files `contracts`, `sources` and `signatures` say
//! how. What a part has is checked before it is handed on, and not the whole before any of it.
//!
//! The forms are those of <https://docs.sourcify.dev/docs/repository/download-dataset/> (names of files, and that rows
//! of `sourcify_matches` recur), of the script that writes the files (`config.py` and `main.py` of
//! <https://github.com/sourcifyeth/parquet-export>: `uuid` and `json` are text, `bytea` is binary, `chain_id` a 64-bit
//! integer, times are nanoseconds without a zone, JSON of a null is the text `null`) and of the database
//! (`services/database` of <https://github.com/argotorg/sourcify>: kinds of signatures moved from `signatures` to
//! `compiled_contracts_signatures`; `sourcify_matches` lost `metadata`, which is not read). In 2026-09 the export
//! lacked the tables of signatures and matches for some days, so contracts are loaded without them.

use std::path::Path;

mod chunk;
mod column;
mod compilations;
mod contracts;
mod error;
mod files;
mod matches;
mod signatures;
mod sources;
mod table;

pub use error::{ExportError, Location};

use super::label_records::LabelRecords;
use chunk::Chunks;
use contracts::Contracts;
use files::ExportFiles;
use sources::SourceFiles;

/// An export on disk.
#[derive(Debug)]
pub struct Export {
    files: ExportFiles,
    /// The chain whose contracts are read.
    chain_id: Option<u64>,
}

impl Export {
    /// The export in a folder; `None` if no file in it has the name of a table.
    ///
    /// # Errors
    ///
    /// If a table that contracts need is not there, or the chain is unknown.
    pub fn find(folder: &Path, chain_id: Option<u64>) -> Result<Option<Self>, ExportError> {
        let Some(files) = ExportFiles::find(folder)? else { return Ok(None) };
        if files.has_contracts() {
            files.require_contracts()?;
            if chain_id.is_none() {
                return Err(ExportError::UnknownChain { folder: files.folder });
            }
        }
        Ok(Some(Self { files, chain_id }))
    }

    /// Hands on what the export has of the chain, in parts of 2,000 contracts or 32 MiB.
    ///
    /// # Errors
    ///
    /// If a file is damaged or of an unknown form, or `take` fails.
    pub fn read(&self, mut take: impl FnMut(LabelRecords) -> Result<(), ExportError>) -> Result<(), ExportError> {
        let mut chunks = Chunks::new(&mut take);
        if let Some(chain_id) = self.chain_id.filter(|_| self.files.has_contracts()) {
            let contracts = Contracts::read(&self.files, chain_id)?;
            let sources = SourceFiles::read(&self.files, &contracts, &mut chunks)?;
            compilations::read(&self.files, &contracts, &sources, &mut chunks)?;
        }
        signatures::read(&self.files, &mut chunks)?;
        chunks.end()
    }
}
