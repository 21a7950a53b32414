//! The rows of a load.

use trawl_core::primitives::{Address, B256, Timestamp};
use trawl_core::schema::{
    AbiEntryRow, ContractSourceRow, EventSignatureRow, FunctionSignatureRow, LabelLoadRow, LabelRow, SourceContentRow,
    Table,
};
use trawl_core::store::{StoreError, Writer};

use super::purpose::Purpose;
use crate::labels::abi::Abi;
use crate::labels::label_records::{LabelRecords, LabelValue};
use crate::labels::source::ContractSource;

/// Rows in one insert, at most.
const ROWS: usize = 100_000;
/// Texts of source files in one insert, at most: they may be long.
const TEXTS: usize = 100;

/// The number of a load and its time.
#[derive(Debug, Clone, Copy)]
pub(super) struct LoadStamp {
    pub generation: u64,
    pub loaded_at: Timestamp,
}

/// Rows that a load wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct RowCounts {
    labels: u64,
    abi_entries: u64,
    contents: u64,
    signatures: u64,
}

impl RowCounts {
    pub fn add(&mut self, part: Self) {
        self.labels += part.labels;
        self.abi_entries += part.abi_entries;
        self.contents += part.contents;
        self.signatures += part.signatures;
    }

    /// Writes the row that makes a load visible.
    pub async fn write(self, writer: &Writer, stamp: LoadStamp, sources: Vec<String>) -> Result<(), StoreError> {
        let load = LabelLoadRow {
            generation: stamp.generation,
            loaded_at: stamp.loaded_at,
            run: writer.run().into(),
            sources,
            labels: self.labels,
            abi_entries: self.abi_entries,
            signatures: self.signatures,
        };
        insert(writer, 0, vec![load], ROWS).await
    }
}

/// The rows of a part of a load.
pub(super) struct Rows {
    stamp: LoadStamp,
    pub labels: Vec<LabelRow>,
    pub entries: Vec<AbiEntryRow>,
    pub sources: Vec<ContractSourceRow>,
    pub contents: Vec<SourceContentRow>,
    pub events: Vec<EventSignatureRow>,
    pub functions: Vec<FunctionSignatureRow>,
}

impl Rows {
    pub fn new(found: LabelRecords, purpose: Purpose, stamp: LoadStamp) -> Self {
        let LoadStamp { generation, loaded_at } = stamp;
        let mut rows = Self {
            stamp,
            labels: Vec::new(),
            entries: Vec::new(),
            sources: Vec::new(),
            contents: Vec::new(),
            events: Vec::new(),
            functions: Vec::new(),
        };
        for ((address, label_type, slug), (value, source)) in found.labels {
            let value = if purpose == Purpose::Add { value } else { LabelValue::default() };
            rows.labels.push(label(stamp, address, label_type, slug, value, source));
        }
        for (address, (abi, origin)) in found.abis {
            rows.digest(address, "abi", purpose, &abi.digest, origin);
            if purpose == Purpose::Add {
                rows.entries.extend(entries(stamp, address, abi));
            }
        }
        for (address, (source, origin)) in found.sources {
            rows.digest(address, "source", purpose, &source.digest(), origin);
            if purpose == Purpose::Add {
                rows.sources.push(source_row(stamp, address, source));
            }
        }
        let contents = found.contents.into_iter();
        rows.contents =
            contents.map(|(content_hash, content)| SourceContentRow { content_hash, content, loaded_at }).collect();
        let events = found.events.into_iter().map(|((hash, signature), source)| EventSignatureRow {
            hash,
            signature,
            generation,
            source,
            loaded_at,
        });
        rows.events = events.collect();
        let functions = found.functions.into_iter().map(|((selector, signature), source)| FunctionSignatureRow {
            selector,
            signature,
            generation,
            source,
            loaded_at,
        });
        rows.functions = functions.collect();
        rows
    }

    /// Adds the label that makes an ABI or a source the current one, or takes it back.
    fn digest(&mut self, address: Address, label_type: &str, purpose: Purpose, digest: &B256, origin: String) {
        let value = if purpose == Purpose::Add { digest.to_string() } else { String::new() };
        let value = LabelValue { value, ..LabelValue::default() };
        self.labels.push(label(self.stamp, address, label_type, String::new(), value, origin));
    }

    pub fn counts(&self) -> RowCounts {
        RowCounts {
            labels: self.labels.len() as u64,
            abi_entries: self.entries.len() as u64,
            contents: self.contents.len() as u64,
            signatures: (self.events.len() + self.functions.len()) as u64,
        }
    }

    /// Writes the rows of a part of a load.
    pub async fn write(self, writer: &Writer, part: u64) -> Result<(), StoreError> {
        insert(writer, part, self.contents, TEXTS).await?;
        insert(writer, part, self.sources, ROWS).await?;
        insert(writer, part, self.entries, ROWS).await?;
        insert(writer, part, self.events, ROWS).await?;
        insert(writer, part, self.functions, ROWS).await?;
        insert(writer, part, self.labels, ROWS).await
    }

    /// Writes the signatures alone.
    pub async fn write_signatures(self, writer: &Writer) -> Result<(), StoreError> {
        insert(writer, 0, self.events, ROWS).await?;
        insert(writer, 0, self.functions, ROWS).await
    }
}

fn label(
    stamp: LoadStamp,
    address: Address,
    label_type: &str,
    slug: String,
    label: LabelValue,
    source: String,
) -> LabelRow {
    let LabelValue { value, tag_type, ordinal, meta } = label;
    let LoadStamp { generation, loaded_at } = stamp;
    let label_type = label_type.into();
    LabelRow { address, label_type, slug, generation, value, tag_type, ordinal, meta, source, loaded_at }
}

fn entries(stamp: LoadStamp, address: Address, abi: Abi) -> impl Iterator<Item = AbiEntryRow> {
    abi.entries.into_iter().zip(0..).map(move |(entry, position)| AbiEntryRow {
        address,
        selector: entry.selector,
        generation: stamp.generation,
        position,
        entry_type: entry.entry_type.into(),
        signature: entry.signature,
        entry: entry.entry,
        loaded_at: stamp.loaded_at,
    })
}

fn source_row(stamp: LoadStamp, address: Address, source: ContractSource) -> ContractSourceRow {
    let (paths, content_hashes) = source.files.into_iter().unzip();
    ContractSourceRow {
        address,
        generation: stamp.generation,
        name: source.name,
        file_path: source.file_path,
        language: source.language,
        compiler_version: source.compiler_version,
        settings: source.settings,
        verifier: source.verifier.name().into(),
        match_type: source.match_type.name().into(),
        constructor_arguments: source.constructor_arguments,
        verified_at: source.verified_at,
        paths,
        content_hashes,
        loaded_at: stamp.loaded_at,
    }
}

async fn insert<R: Table>(writer: &Writer, part: u64, rows: Vec<R>, most: usize) -> Result<(), StoreError> {
    let mut rows = rows.into_iter().peekable();
    let mut number = 0;
    while rows.peek().is_some() {
        let mut builder = R::Builder::default();
        rows.by_ref().take(most).for_each(|row| R::push(&mut builder, row));
        let batch = R::finish(builder);
        for table in R::NAMES {
            writer.insert(table, &batch, &format!("{}/labels/{part}/{number}/{table}", writer.run())).await?;
        }
        number += 1;
    }
    Ok(())
}
