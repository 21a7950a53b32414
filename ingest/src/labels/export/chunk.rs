//! What is read of an export, in parts that fit into memory.

use alloy_primitives::B256;

use super::error::ExportError;
use crate::labels::LabelRecords;

/// Contracts of a part, at most.
const MAX_CONTRACTS: usize = 2_000;
/// Signatures of a part, at most.
const MAX_SIGNATURES: usize = 50_000;
/// Bytes of ABIs, settings and source texts after which a part ends.
const MAX_CHUNK_BYTES: usize = 32 << 20;

/// Takes the parts; fails if they are not written any more.
pub(super) type TakeRecords<'t> = dyn FnMut(LabelRecords) -> Result<(), ExportError> + 't;

/// The part that is being filled, and who takes it.
pub(super) struct Chunks<'t> {
    records: LabelRecords,
    bytes: usize,
    take: &'t mut TakeRecords<'t>,
}

impl<'t> Chunks<'t> {
    pub fn new(take: &'t mut TakeRecords<'t>) -> Self {
        Self { records: LabelRecords::default(), bytes: 0, take }
    }

    /// The part that is being filled.
    pub fn records(&mut self) -> &mut LabelRecords {
        &mut self.records
    }

    /// Adds the text of a source file.
    pub fn text(&mut self, hash: B256, text: &str) -> Result<(), ExportError> {
        self.records.contents.insert(hash, text.into());
        self.added(text.len())
    }

    /// Hands the part on if it is full, after something of so many bytes was added.
    pub fn added(&mut self, bytes: usize) -> Result<(), ExportError> {
        self.bytes += bytes;
        let contracts = self.records.sources.len().max(self.records.abis.len());
        let signatures = self.records.events.len() + self.records.functions.len();
        if self.bytes >= MAX_CHUNK_BYTES || contracts >= MAX_CONTRACTS || signatures >= MAX_SIGNATURES {
            self.end()
        } else {
            Ok(())
        }
    }

    /// Hands on what is left.
    pub fn end(&mut self) -> Result<(), ExportError> {
        self.bytes = 0;
        (self.take)(std::mem::take(&mut self.records))
    }
}
