//! The contents of the files, collected until all of them are read.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use alloy_primitives::Selector;
use trawl_core::primitives::{Address, B256};

use super::abi::Abi;
use super::error::LabelsError;
use super::source::{ContractSource, SourceRecord};

/// The value of an address under one type and slug.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LabelValue {
    /// The text; an empty one takes an earlier one back.
    pub value: String,
    /// Kind of a tag; empty for what is no tag.
    pub tag_type: String,
    /// Of a tag: the highest is shown first.
    pub ordinal: u32,
    /// Of a tag: a JSON object, or empty.
    pub meta: String,
}

/// Address, `label_type` and slug: each has one newest value.
pub type Key = (Address, &'static str, String);

/// Everything in the files.
#[derive(Debug, Default)]
pub struct LabelRecords {
    /// Labels, with the file each is from; of a key the last one counts.
    pub labels: BTreeMap<Key, (LabelValue, String)>,
    /// ABIs, with the file each is from.
    pub abis: BTreeMap<Address, (Abi, String)>,
    /// Source code, with the file each is from.
    pub sources: BTreeMap<Address, (ContractSource, String)>,
    /// Texts of source files by their Keccak-256.
    pub contents: BTreeMap<B256, String>,
    /// Events of the dictionary, with the file each is from.
    pub events: BTreeMap<(B256, String), String>,
    /// Functions of the dictionary, with the file each is from.
    pub functions: BTreeMap<(Selector, String), String>,
    /// Files and rows that were passed over, by reason.
    pub passed_over: BTreeMap<&'static str, u64>,
    /// The chain of the database.
    pub(super) chain_id: Option<u64>,
    /// Contracts that a deployment made, whose ABIs are in files of their own.
    pub(super) deployed: Vec<(Address, String, String)>,
    /// Artifacts without an address, by the name of the contract and by that of the file; nothing where several have a
    /// name.
    nameless: BTreeMap<String, Option<UnnamedArtifact>>,
}

/// What a compiler says of a contract that it does not know the address of.
#[derive(Debug, Clone)]
struct UnnamedArtifact {
    abi: Abi,
    name: String,
    source: Option<SourceRecord>,
}

/// Where a fact is from.
#[derive(Debug, Clone, Copy)]
pub(super) struct FactOrigin<'p> {
    pub file: &'p Path,
    /// The contract of an ABI in it, from the path or the caller.
    pub address: Option<Address>,
    pub chain_id: Option<u64>,
    /// A file that was not named may be of another form, and is then skipped.
    pub found: ByChance,
}

/// Whether a file was named, or found in a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ByChance {
    Yes,
    No,
}

impl FactOrigin<'_> {
    pub fn refused(&self, at: impl Into<String>, reason: impl Into<String>) -> LabelsError {
        LabelsError::Refused { file: self.file.into(), at: at.into(), reason: reason.into() }
    }

    pub fn name(&self) -> String {
        self.file.display().to_string()
    }
}

impl LabelRecords {
    /// Nothing yet, for a database that holds this chain, where that is known.
    pub(super) fn of_chain(chain_id: Option<u64>) -> Self {
        Self { chain_id, ..Self::default() }
    }

    /// Whether the files hold nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let has_contracts = !self.abis.is_empty() || !self.sources.is_empty();
        !has_contracts && self.labels.is_empty() && self.events.is_empty() && self.functions.is_empty()
    }

    /// Whether something of a chain belongs to the chain of the database.
    pub(super) fn is_here(&mut self, origin: &FactOrigin<'_>, chain_id: Option<u64>) -> Result<bool, LabelsError> {
        match (chain_id, self.chain_id) {
            (None, _) => Ok(true),
            (Some(found), None) => Err(LabelsError::UnknownChain { file: origin.file.into(), found }),
            (Some(found), Some(expected)) if found != expected => {
                self.pass_over("of other chains");
                Ok(false)
            }
            _ => Ok(true),
        }
    }

    pub(super) fn pass_over(&mut self, reason: &'static str) {
        *self.passed_over.entry(reason).or_default() += 1;
    }

    pub(super) fn label(&mut self, origin: &FactOrigin<'_>, key: Key, value: LabelValue) {
        self.labels.insert(key, (value, origin.name()));
    }

    pub(super) fn abi(&mut self, origin: &FactOrigin<'_>, address: Address, name: Option<String>, abi: Abi) {
        if let Some(name) = name.filter(|name| !name.is_empty()) {
            self.label(
                origin,
                (address, "contract_name", String::new()),
                LabelValue { value: name, ..LabelValue::default() },
            );
        }
        self.abis.insert(address, (abi, origin.name()));
    }

    /// Adds the source code of a contract.
    pub(super) fn source(&mut self, origin: String, address: Address, record: SourceRecord) {
        self.contents.extend(record.contents);
        self.sources.insert(address, (record.source, origin));
    }

    /// Keeps an ABI and its source until a deployment names its contract.
    pub(super) fn without_address(
        &mut self,
        origin: &FactOrigin<'_>,
        name: Option<String>,
        abi: &Abi,
        source: Option<&SourceRecord>,
    ) {
        let stem = origin.file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let name = name.unwrap_or_else(|| stem.clone());
        for key in BTreeSet::from([name.clone(), stem]) {
            let artifact = || UnnamedArtifact { abi: abi.clone(), name: name.clone(), source: source.cloned() };
            let known = self.nameless.entry(key).or_insert_with(|| Some(artifact()));
            // Two ABIs of one name are ambiguous, and so are two sources of one ABI.
            known.take_if(|known| known.abi.digest != abi.digest);
            let digest = |record: &SourceRecord| record.source.digest();
            if let Some(known) = known
                && known.source.as_ref().map(digest) != source.map(digest)
            {
                known.source = None;
            }
        }
    }

    /// Gives contracts that were deployed the ABIs of their names.
    pub(super) fn join(&mut self) {
        for (address, name, source) in std::mem::take(&mut self.deployed) {
            if let Some(artifact) = self.nameless.get(&name).cloned().flatten() {
                let value = LabelValue { value: artifact.name, ..LabelValue::default() };
                self.labels.insert((address, "contract_name", String::new()), (value, source.clone()));
                if let Some(record) = artifact.source {
                    self.source(source.clone(), address, record);
                }
                self.abis.insert(address, (artifact.abi, source));
            } else {
                self.pass_over("deployments whose name matches no single ABI");
            }
        }
        let nameless = std::mem::take(&mut self.nameless).len() as u64;
        if nameless > 0 && self.abis.is_empty() {
            self.passed_over.insert("names of ABIs without an address in any file", nameless);
        }
    }
}
