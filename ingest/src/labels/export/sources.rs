//! The source files of compilations: their paths, and the texts, each of which is handed on once and not held.
//!
//! A file of a compilation takes 12 bytes; each different path its text and about 60 bytes; each different text about
//! 140 bytes, for its two hashes and its length.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use alloy_primitives::{B256, keccak256};
use sha2::{Digest as _, Sha256};

use super::chunk::Chunks;
use super::column::{Column, RowId};
use super::contracts::Contracts;
use super::error::ExportError;
use super::files::{COMPILED_SOURCES, ExportFiles, SOURCES};
use super::table::{Batch, TableForm};
use crate::labels::source::{MAX_BYTES, MAX_FILES};

const PATHS_FORM: TableForm =
    TableForm { table: COMPILED_SOURCES, columns: &["compilation_id", "source_hash", "path"], rows: 8_192 };
const TEXTS_FORM: TableForm =
    TableForm { table: SOURCES, columns: &["source_hash", "source_hash_keccak", "content"], rows: 64 };

/// Number of a value that many rows have.
type Number = u32;

/// A file of a compilation, with the numbers of what is stored once.
struct SourceFile {
    compilation: Number,
    path: Number,
    text: Number,
}

/// A text that was handed on.
#[derive(Debug, Clone, Copy)]
struct StoredText {
    hash: B256,
    bytes: usize,
}

/// Values that many rows have, each held once.
struct Numbers<V>(HashMap<V, Number>);

impl<V: std::hash::Hash + Eq> Numbers<V> {
    fn of(&mut self, value: V) -> Number {
        // The rows of a table that fits on a disk have fewer values.
        let next = Number::try_from(self.0.len()).unwrap_or(Number::MAX);
        *self.0.entry(value).or_insert(next)
    }
}

/// The files of the compilations that contracts of the chain have.
pub(super) struct SourceFiles {
    compilations: Numbers<RowId>,
    paths: Vec<Arc<str>>,
    /// The texts by their numbers; `None` if the export lacks one.
    texts: Vec<Option<StoredText>>,
    /// In the order of their compilations.
    files: Vec<SourceFile>,
}

impl SourceFiles {
    /// Reads which files compilations have, and hands on the texts.
    pub fn read(files: &ExportFiles, contracts: &Contracts, chunks: &mut Chunks<'_>) -> Result<Self, ExportError> {
        let mut compilations = Numbers(HashMap::new());
        let mut paths: Numbers<Arc<str>> = Numbers(HashMap::new());
        let mut texts: Numbers<[u8; 32]> = Numbers(HashMap::new());
        let mut found = Vec::new();
        PATHS_FORM.read(files.of(COMPILED_SOURCES), |batch| {
            let (of, hashes, names) =
                (batch.column("compilation_id")?, batch.column("source_hash")?, batch.column("path")?);
            for row in 0..batch.len() {
                let compilation = of.id(row)?;
                if !contracts.of(&compilation).is_empty() {
                    found.push(SourceFile {
                        compilation: compilations.of(compilation),
                        path: paths.of(names.known(names.text(row))?.into()),
                        text: texts.of(hashes.fixed(row)?),
                    });
                }
            }
            Ok(())
        })?;
        found.sort_unstable_by_key(|file| file.compilation);
        let texts = hand_on(files, &texts, chunks)?;
        Ok(Self { compilations, paths: in_order(paths), texts, files: found })
    }

    /// The files of a compilation by path. The error says why there is no source.
    pub fn of(&self, compilation: &RowId) -> Result<BTreeMap<String, B256>, &'static str> {
        const MISSING: &str = "sources with a file that is not in the export";
        let number = *self.compilations.0.get(compilation).ok_or(MISSING)?;
        let start = self.files.partition_point(|file| file.compilation < number);
        let mut files = BTreeMap::new();
        let mut bytes = 0;
        for file in self.files.iter().skip(start).take_while(|file| file.compilation == number) {
            let text = self.texts.get(file.text as usize).copied().flatten().ok_or(MISSING)?;
            let path = self.paths.get(file.path as usize).ok_or(MISSING)?;
            bytes += text.bytes;
            files.insert(path.to_string(), text.hash);
        }
        if bytes > MAX_BYTES || files.len() > MAX_FILES { Err("sources that are too long") } else { Ok(files) }
    }
}

fn in_order(numbers: Numbers<Arc<str>>) -> Vec<Arc<str>> {
    let mut values: Vec<(Arc<str>, Number)> = numbers.0.into_iter().collect();
    values.sort_unstable_by_key(|(_, number)| *number);
    values.into_iter().map(|(value, _)| value).collect()
}

/// Hands on the texts that compilations have.
fn hand_on(
    files: &ExportFiles,
    texts: &Numbers<[u8; 32]>,
    chunks: &mut Chunks<'_>,
) -> Result<Vec<Option<StoredText>>, ExportError> {
    let mut stored = vec![None; texts.0.len()];
    TEXTS_FORM.read(files.of(SOURCES), |batch| {
        let columns = TextColumns::new(batch)?;
        for row in 0..batch.len() {
            let number = texts.0.get(&columns.sha256.fixed::<32>(row)?);
            if let Some(stored) = number.and_then(|number| stored.get_mut(*number as usize)) {
                let (hash, text) = columns.checked(row)?;
                *stored = Some(StoredText { hash, bytes: text.len() });
                chunks.text(hash, text)?;
            }
        }
        Ok(())
    })?;
    Ok(stored)
}

struct TextColumns<'b> {
    sha256: Column<'b>,
    keccak: Column<'b>,
    content: Column<'b>,
}

impl<'b> TextColumns<'b> {
    fn new(batch: &'b Batch<'_>) -> Result<Self, ExportError> {
        Ok(Self {
            sha256: batch.column("source_hash")?,
            keccak: batch.column("source_hash_keccak")?,
            content: batch.column("content")?,
        })
    }

    /// A text that has both hashes that are stated, and its Keccak-256.
    fn checked(&self, row: usize) -> Result<(B256, &'b str), ExportError> {
        let text = self.content.known(self.content.text(row))?;
        let keccak = keccak256(text);
        for (column, computed) in [(&self.sha256, B256::from_slice(&Sha256::digest(text))), (&self.keccak, keccak)] {
            let stated = B256::from(column.fixed::<32>(row)?);
            if stated != computed {
                let (stated, computed) = (stated.to_string(), computed.to_string());
                return Err(ExportError::Hash { at: column.location(), stated, computed });
            }
        }
        Ok((keccak, text))
    }
}
