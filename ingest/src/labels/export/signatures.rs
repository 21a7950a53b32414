//! The dictionary of signatures of all contracts of all chains, a part at a time.
//!
//! Which kind a signature has is in another table, with a row for each compilation that has it; of these, about 20
//! bytes are held for each different signature and kind.

use std::collections::HashSet;

use alloy_primitives::{B256, keccak256};

use super::chunk::Chunks;
use super::column::Column;
use super::error::ExportError;
use super::files::{COMPILED_SIGNATURES, ExportFiles, SIGNATURES};
use super::table::TableForm;
use crate::labels::label_records::{ByChance, FactOrigin};
use crate::labels::signatures;

const FORM: TableForm =
    TableForm { table: SIGNATURES, columns: &["signature_hash_32", "signature", "signature_type"], rows: 8_192 };
const KINDS_FORM: TableForm =
    TableForm { table: COMPILED_SIGNATURES, columns: &["signature_hash_32", "signature_type"], rows: 16_384 };

/// The kinds that are loaded, as the dictionary names them.
const KINDS: [&str; 3] = ["function", "event", "error"];

/// The kinds of signatures, by the first bytes of their hashes and a number for the kind.
#[derive(Default)]
struct SignatureKinds(HashSet<u64>);

impl SignatureKinds {
    fn key(hash: &B256, kind: usize) -> u64 {
        let first = hash.first_chunk::<8>().copied().map_or(0, u64::from_be_bytes);
        (first & !3) | kind as u64
    }

    fn of(&self, hash: &B256) -> Vec<&'static str> {
        let kinds = KINDS.into_iter().enumerate();
        kinds.filter(|(number, _)| self.0.contains(&Self::key(hash, *number))).map(|(_, kind)| kind).collect()
    }
}

/// Hands on the signatures.
pub(super) fn read(files: &ExportFiles, chunks: &mut Chunks<'_>) -> Result<(), ExportError> {
    let kinds = kinds(files)?;
    FORM.read(files.of(SIGNATURES), |batch| {
        let (hashes, texts) = (batch.column("signature_hash_32")?, batch.column("signature")?);
        let types = batch.optional("signature_type");
        let origin = FactOrigin { file: batch.file(), address: None, chain_id: None, found: ByChance::Yes };
        for row in 0..batch.len() {
            let hash = B256::from(hashes.fixed::<32>(row)?);
            let text = texts.known(texts.text(row))?;
            let computed = keccak256(text);
            if hash != computed {
                let (stated, computed) = (hash.to_string(), computed.to_string());
                return Err(ExportError::Hash { at: hashes.location(), stated, computed });
            }
            let stated = match &types {
                Some(types) => Some(kind(types, row)?),
                None => None,
            };
            match stated {
                Some(None) => {}
                Some(Some(kind)) => add(chunks, &origin, text, &[kind], &hash),
                None => add(chunks, &origin, text, &kinds.of(&hash), &hash),
            }
            chunks.added(0)?;
        }
        Ok(())
    })
}

/// Adds a signature under its kinds; without any it is bare. The texts of a dictionary that others fill may be none.
fn add(chunks: &mut Chunks<'_>, origin: &FactOrigin<'_>, text: &str, kinds: &[&str], hash: &B256) {
    let hash = hash.to_string();
    let bare = [None];
    let kinds: Vec<Option<&str>> =
        if kinds.is_empty() { bare.into() } else { kinds.iter().map(|kind| Some(*kind)).collect() };
    for kind in kinds {
        if signatures::add(chunks.records(), origin, text, kind, Some(&hash), "").is_err() {
            chunks.records().pass_over("signatures whose types have no name in an ABI");
        }
    }
}

fn kinds(files: &ExportFiles) -> Result<SignatureKinds, ExportError> {
    let mut kinds = SignatureKinds::default();
    KINDS_FORM.read(files.of(COMPILED_SIGNATURES), |batch| {
        let hashes = batch.column("signature_hash_32")?;
        // One version of the export has the kind beside the signature.
        let Some(types) = batch.optional("signature_type") else { return Ok(()) };
        for row in 0..batch.len() {
            let number = kind(&types, row)?.and_then(|kind| KINDS.iter().position(|known| *known == kind));
            if let Some(number) = number {
                kinds.0.insert(SignatureKinds::key(&B256::from(hashes.fixed::<32>(row)?), number));
            }
        }
        Ok(())
    })?;
    Ok(kinds)
}

/// The kind of a signature; `None` for a constructor, which has no selector.
fn kind(types: &Column<'_>, row: usize) -> Result<Option<&'static str>, ExportError> {
    match types.known(types.text(row))? {
        "constructor" => Ok(None),
        text => match KINDS.into_iter().find(|known| *known == text) {
            Some(known) => Ok(Some(known)),
            None => Err(types.holds(text, "function, event, error or constructor")),
        },
    }
}
