//! Names, tags, ENS names, ABIs and signatures from files, for `trawl-ingest labels`.
//!
//! Everything is read and checked before anything is written: a file with a bad row changes nothing. What is found is
//! held in memory until then, less than a kilobyte a label or signature and three times the text of an ABI.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use alloy_primitives::Selector;
use trawl_core::primitives::{Address, B256};
use trawl_core::store::StoreError;

pub mod abi;
mod csv;
mod folder;
mod json;
mod record;
mod signatures;
pub mod write;

/// Why labels are not loaded.
#[derive(Debug, thiserror::Error)]
pub enum LabelsError {
    /// Something in a file is not what it must be.
    #[error("{} is refused at {at}: {reason}; nothing was written", file.display())]
    Refused {
        /// The file.
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
        /// Why.
        source: std::io::Error,
    },
    /// Files that name a chain, and nobody said which one this is.
    #[error(
        "{} is of chain {found}, and the database does not tell which chain it holds: load blocks first, or say \
         --chain-id",
        file.display()
    )]
    UnknownChain {
        /// The file.
        file: PathBuf,
        /// The chain it names.
        found: u64,
    },
    /// ClickHouse does not do what it should.
    #[error(transparent)]
    Store(#[from] StoreError),
}

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

/// What is said of an address under one type and slug.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Said {
    /// The text; an empty one takes an earlier one back.
    pub value: String,
    /// Kind of a tag; empty for what is no tag.
    pub tag_type: String,
    /// Of a tag: the highest is shown first.
    pub ordinal: u32,
    /// Of a tag: a JSON object, or empty.
    pub meta: String,
}

/// Address, `label_type` and slug: what there is one newest word of.
pub type Key = (Address, &'static str, String);

/// Everything that the files say.
#[derive(Debug, Default)]
pub struct Found {
    /// Labels, with the file each is from; of a key the last one counts.
    pub labels: BTreeMap<Key, (Said, String)>,
    /// ABIs, with the file each is from.
    pub abis: BTreeMap<Address, (abi::Abi, String)>,
    /// Events of the dictionary, with the file each is from.
    pub events: BTreeMap<(B256, String), String>,
    /// Functions of the dictionary, with the file each is from.
    pub functions: BTreeMap<(Selector, String), String>,
    /// Files and rows that were passed over, by reason.
    pub passed_over: BTreeMap<&'static str, u64>,
    chain_id: Option<u64>,
    /// Contracts that a deployment made, whose ABIs are in files of their own.
    deployed: Vec<(Address, String, String)>,
    /// ABIs without an address and the names of their contracts, by that name and by the name of the file; nothing
    /// where several have a name.
    nameless: BTreeMap<String, Option<(abi::Abi, String)>>,
}

/// Where a fact is from.
#[derive(Debug, Clone, Copy)]
struct Place<'p> {
    file: &'p Path,
    /// What the path, or the caller, says of an ABI in it.
    address: Option<Address>,
    chain_id: Option<u64>,
    /// What was not asked for by name may be something else, and is then passed over.
    found: ByChance,
}

/// Whether a file was named, or found in a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ByChance {
    Yes,
    No,
}

impl Place<'_> {
    fn refused(&self, at: impl Into<String>, reason: impl Into<String>) -> LabelsError {
        LabelsError::Refused { file: self.file.into(), at: at.into(), reason: reason.into() }
    }

    fn name(&self) -> String {
        self.file.display().to_string()
    }
}

impl Found {
    /// Reads files and folders for a chain; what they say of other chains is passed over.
    pub fn read(sources: &[Source], chain_id: Option<u64>) -> Result<Self, LabelsError> {
        let mut found = Self { chain_id, ..Self::default() };
        for source in sources {
            let path = &source.path;
            let error = |source| LabelsError::File { file: path.clone(), source };
            if std::fs::metadata(path).map_err(error)?.is_dir() {
                folder::read(&mut found, path)?;
            } else {
                let place = Place { file: path, address: source.address, chain_id: None, found: ByChance::No };
                found.file(&place)?;
            }
        }
        found.join();
        Ok(found)
    }

    /// Whether the files say nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty() && self.abis.is_empty() && self.events.is_empty() && self.functions.is_empty()
    }

    fn file(&mut self, place: &Place<'_>) -> Result<(), LabelsError> {
        let name = place.file.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        let name = name.trim_end_matches(".gz");
        let text = folder::text(place.file)?;
        let first = text.trim_start().bytes().next();
        match name.rsplit('.').next() {
            Some("csv") => csv::read(self, place, &text, b','),
            Some("tsv") => csv::read(self, place, &text, b'\t'),
            Some("txt") => signatures::read_lines(self, place, &text),
            _ if matches!(first, Some(b'{' | b'[')) => json::read(self, place, &text),
            Some("json" | "jsonl" | "ndjson") => json::read(self, place, &text),
            _ => {
                Err(place
                    .refused("its name", "end it with .csv, .tsv, .json, .jsonl or .txt, so that its form is known"))
            }
        }
    }

    /// Whether something of a chain belongs to the chain of the database.
    fn is_here(&mut self, place: &Place<'_>, chain_id: Option<u64>) -> Result<bool, LabelsError> {
        match (chain_id, self.chain_id) {
            (None, _) => Ok(true),
            (Some(found), None) => Err(LabelsError::UnknownChain { file: place.file.into(), found }),
            (Some(found), Some(expected)) if found != expected => {
                self.pass_over("of other chains");
                Ok(false)
            }
            _ => Ok(true),
        }
    }

    fn pass_over(&mut self, reason: &'static str) {
        *self.passed_over.entry(reason).or_default() += 1;
    }

    fn say(&mut self, place: &Place<'_>, key: Key, said: Said) {
        self.labels.insert(key, (said, place.name()));
    }

    fn abi(&mut self, place: &Place<'_>, address: Address, name: Option<String>, abi: abi::Abi) {
        if let Some(name) = name.filter(|name| !name.is_empty()) {
            self.say(place, (address, "contract_name", String::new()), Said { value: name, ..Said::default() });
        }
        self.abis.insert(address, (abi, place.name()));
    }

    /// Keeps an ABI until a deployment names its contract.
    fn without_address(&mut self, place: &Place<'_>, name: Option<String>, abi: &abi::Abi) {
        let stem = place.file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let name = name.unwrap_or_else(|| stem.clone());
        for key in std::collections::BTreeSet::from([name.clone(), stem]) {
            let known = self.nameless.entry(key).or_insert_with(|| Some((abi.clone(), name.clone())));
            // Of two ABIs of a name nobody knows which one it is.
            known.take_if(|(known, _)| known.digest != abi.digest);
        }
    }

    /// Gives contracts that were deployed the ABIs of their names.
    fn join(&mut self) {
        for (address, name, source) in std::mem::take(&mut self.deployed) {
            if let Some((abi, name)) = self.nameless.get(&name).cloned().flatten() {
                let said = Said { value: name, ..Said::default() };
                self.labels.insert((address, "contract_name", String::new()), (said, source.clone()));
                self.abis.insert(address, (abi, source));
            } else {
                self.pass_over("deployments of which no one ABI has the name");
            }
        }
        let nameless = std::mem::take(&mut self.nameless).len() as u64;
        if nameless > 0 && self.abis.is_empty() {
            self.passed_over.insert("names of ABIs that no file gives an address", nameless);
        }
    }
}
