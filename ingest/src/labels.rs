//! Names, tags, ENS names, ABIs, source code and signatures from files, for `trawl-ingest labels`.
//!
//! Everything is read and checked before anything is written: a file with a bad row changes nothing. Only an [`export`]
//! is too large for that. What is found is held in memory until then, less than a kilobyte a label or signature, three times the text of an ABI, and each
//! different text of a source file once.

use std::path::PathBuf;
use std::str::FromStr;

use trawl_core::primitives::Address;

pub mod abi;
pub mod bundled;
mod csv;
mod error;
pub mod export;
mod folder;
mod json;
mod label_records;
mod record;
mod signatures;
pub mod source;
pub mod write;

pub use error::LabelsError;
use label_records::{ByChance, FactOrigin};
pub use label_records::{Key, LabelRecords, LabelValue};

/// What to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// A file or a folder.
    pub path: PathBuf,
    /// The contract that an ABI in it belongs to.
    pub address: Option<Address>,
}

impl FromStr for Source {
    type Err = std::convert::Infallible;

    /// `FILE`, `DIR` or `ADDRESS=FILE`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let named = text.split_once('=').and_then(|(address, path)| Some((record::address(address).ok()?, path)));
        Ok(match named {
            Some((address, path)) => Self { path: path.into(), address: Some(address) },
            None => Self { path: text.into(), address: None },
        })
    }
}

impl LabelRecords {
    /// Reads files and folders for a chain; what they hold of other chains is skipped.
    pub fn read(sources: &[Source], chain_id: Option<u64>) -> Result<Self, LabelsError> {
        let mut found = Self::of_chain(chain_id);
        for source in sources {
            let path = &source.path;
            let error = |source| LabelsError::File { file: path.clone(), source };
            if std::fs::metadata(path).map_err(error)?.is_dir() {
                for folder::Artifact { file, address, chain_id } in folder::artifacts(path)? {
                    found.file(&FactOrigin { file: &file, address, chain_id, found: ByChance::Yes })?;
                }
            } else {
                let origin = FactOrigin { file: path, address: source.address, chain_id: None, found: ByChance::No };
                found.file(&origin)?;
            }
        }
        found.join();
        Ok(found)
    }

    fn file(&mut self, origin: &FactOrigin<'_>) -> Result<(), LabelsError> {
        let name = origin.file.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        let name = name.trim_end_matches(".gz");
        let text = folder::text(origin.file)?;
        let first = text.trim_start().bytes().next();
        match name.rsplit('.').next() {
            Some("csv") => csv::read(self, origin, &text, b','),
            Some("tsv") => csv::read(self, origin, &text, b'\t'),
            Some("txt") => signatures::read_lines(self, origin, &text),
            _ if matches!(first, Some(b'{' | b'[')) => json::read(self, origin, &text),
            Some("json" | "jsonl" | "ndjson") => json::read(self, origin, &text),
            _ => {
                Err(origin
                    .refused("its name", "end it with .csv, .tsv, .json, .jsonl or .txt, so that its form is known"))
            }
        }
    }
}
