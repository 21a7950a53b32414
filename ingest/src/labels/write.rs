//! Writes new records, and last the row that makes them visible.

use std::collections::{BTreeSet, HashMap, HashSet};

use alloy_primitives::Selector;
use trawl_core::primitives::{Address, B256, Timestamp};
use trawl_core::schema::{AbiEntryRow, EventSignatureRow, FunctionSignatureRow, LabelLoadRow, LabelRow, Table};
use trawl_core::store::{Reader, StoreError, Writer};

use super::label_records::{LabelRecords, LabelValue};

/// Rows in one insert, at most.
const ROWS: usize = 100_000;

/// The outcome of a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Outcome {
    /// Labels in the files, and how many of them were new.
    pub labels: (u64, u64),
    /// ABIs, the same.
    pub abis: (u64, u64),
    /// Signatures, the same.
    pub signatures: (u64, u64),
}

/// The purpose of a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Adds the contents of the files.
    Add,
    /// Removes them, where nothing has replaced them since. Signatures stay: a hash never changes.
    Remove,
}

/// Writes records that the tables do not have. They become visible together.
pub async fn write(
    reader: &Reader,
    writer: &Writer,
    found: LabelRecords,
    purpose: Purpose,
    sources: Vec<String>,
) -> Result<Outcome, StoreError> {
    let signatures = (found.events.len() + found.functions.len()) as u64;
    let total = (found.labels.len() as u64, found.abis.len() as u64);
    let new = only_new(reader, found, purpose).await?;
    let now = i64::try_from(
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default().as_micros(),
    )
    .unwrap_or(i64::MAX);
    let rows =
        Rows::new(new, purpose, reader.newest_label_load().await?.saturating_add(1).max(now.unsigned_abs()), now);
    let outcome = Outcome {
        labels: (total.0, rows.plain_labels),
        abis: (total.1, rows.labels.len() as u64 - rows.plain_labels),
        signatures: (signatures, (rows.events.len() + rows.functions.len()) as u64),
    };
    if outcome.labels.1 + outcome.abis.1 + outcome.signatures.1 > 0 {
        rows.write(writer, sources).await?;
    }
    Ok(outcome)
}

/// Drops records that the tables have already; for a removal, those that they do not have.
async fn only_new(reader: &Reader, mut found: LabelRecords, purpose: Purpose) -> Result<LabelRecords, StoreError> {
    let is_new = |is_stored: bool| is_stored == (purpose == Purpose::Remove);
    let addresses: BTreeSet<Address> =
        found.labels.keys().map(|(address, ..)| *address).chain(found.abis.keys().copied()).collect();
    let addresses: Vec<Address> = addresses.into_iter().collect();
    let mut stored: HashMap<(Address, String, String), LabelValue> = HashMap::new();
    for label in reader.current_labels(&addresses).await? {
        let (value, tag_type, ordinal, meta) = (label.value, label.tag_type, label.ordinal, label.meta);
        stored.insert((label.address, label.label_type, label.slug), LabelValue { value, tag_type, ordinal, meta });
    }
    found.labels.retain(|(address, label_type, slug), (label, _)| {
        is_new(stored.get(&(*address, (*label_type).to_owned(), slug.clone())) == Some(label))
    });
    found.abis.retain(|address, (abi, _)| {
        let known = stored.get(&(*address, "abi".to_owned(), String::new()));
        is_new(known.is_some_and(|known| known.value == abi.digest.to_string()))
    });
    if purpose == Purpose::Remove {
        (found.events, found.functions) = <_>::default();
        return Ok(found);
    }
    let hashes: BTreeSet<B256> = found.events.keys().map(|(hash, _)| *hash).collect();
    let hashes: Vec<B256> = hashes.into_iter().collect();
    let stored: HashSet<(B256, String)> =
        reader.stored_events(&hashes).await?.into_iter().map(|event| (event.hash, event.signature)).collect();
    found.events.retain(|key, _| !stored.contains(key));
    let selectors: BTreeSet<Selector> = found.functions.keys().map(|(selector, _)| *selector).collect();
    let selectors: Vec<Selector> = selectors.into_iter().collect();
    let stored = reader.stored_functions(&selectors).await?.into_iter();
    let stored: HashSet<(Selector, String)> = stored.map(|function| (function.selector, function.signature)).collect();
    found.functions.retain(|key, _| !stored.contains(key));
    Ok(found)
}

/// The rows of a load.
struct Rows {
    generation: u64,
    loaded_at: Timestamp,
    labels: Vec<LabelRow>,
    /// How many of the labels do not stand for an ABI.
    plain_labels: u64,
    entries: Vec<AbiEntryRow>,
    events: Vec<EventSignatureRow>,
    functions: Vec<FunctionSignatureRow>,
}

impl Rows {
    fn new(found: LabelRecords, purpose: Purpose, generation: u64, now: i64) -> Self {
        let loaded_at = Timestamp::from_micros(now);
        let mut labels: Vec<LabelRow> = found
            .labels
            .into_iter()
            .map(|((address, label_type, slug), (stored, source))| {
                let stored = if purpose == Purpose::Add { stored } else { LabelValue::default() };
                let LabelValue { value, tag_type, ordinal, meta } = stored;
                let label_type = label_type.into();
                LabelRow { address, label_type, slug, generation, value, tag_type, ordinal, meta, source, loaded_at }
            })
            .collect();
        let plain_labels = labels.len() as u64;
        let mut entries = Vec::new();
        for (address, (abi, source)) in found.abis {
            labels.push(LabelRow {
                address,
                label_type: "abi".into(),
                slug: String::new(),
                generation,
                value: if purpose == Purpose::Add { abi.digest.to_string() } else { String::new() },
                tag_type: String::new(),
                ordinal: 0,
                meta: String::new(),
                source,
                loaded_at,
            });
            if purpose == Purpose::Remove {
                continue;
            }
            entries.extend(abi.entries.into_iter().zip(0..).map(|(entry, position)| AbiEntryRow {
                address,
                selector: entry.selector,
                generation,
                position,
                entry_type: entry.entry_type.into(),
                signature: entry.signature,
                entry: entry.entry,
                loaded_at,
            }));
        }
        let events = found.events.into_iter().map(|((hash, signature), source)| EventSignatureRow {
            hash,
            signature,
            generation,
            source,
            loaded_at,
        });
        let functions = found.functions.into_iter().map(|((selector, signature), source)| FunctionSignatureRow {
            selector,
            signature,
            generation,
            source,
            loaded_at,
        });
        let (events, functions) = (events.collect(), functions.collect());
        Self { generation, loaded_at, labels, plain_labels, entries, events, functions }
    }

    async fn write(self, writer: &Writer, sources: Vec<String>) -> Result<(), StoreError> {
        let load = LabelLoadRow {
            generation: self.generation,
            loaded_at: self.loaded_at,
            run: writer.run().into(),
            sources,
            labels: self.labels.len() as u64,
            abi_entries: self.entries.len() as u64,
            signatures: (self.events.len() + self.functions.len()) as u64,
        };
        insert(writer, self.entries).await?;
        insert(writer, self.events).await?;
        insert(writer, self.functions).await?;
        insert(writer, self.labels).await?;
        insert(writer, vec![load]).await
    }
}

/// Writes signatures of generation 0, which belong to no load.
pub(super) async fn insert_signatures(writer: &Writer, found: LabelRecords) -> Result<(), StoreError> {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default().as_micros();
    let rows = Rows::new(found, Purpose::Add, 0, i64::try_from(now).unwrap_or(i64::MAX));
    insert(writer, rows.events).await?;
    insert(writer, rows.functions).await
}

async fn insert<R: Table>(writer: &Writer, rows: Vec<R>) -> Result<(), StoreError> {
    let mut rows = rows.into_iter().peekable();
    let mut number = 0;
    while rows.peek().is_some() {
        let mut builder = R::Builder::default();
        rows.by_ref().take(ROWS).for_each(|row| R::push(&mut builder, row));
        let batch = R::finish(builder);
        for table in R::NAMES {
            writer.insert(table, &batch, &format!("{}/labels/{number}/{table}", writer.run())).await?;
        }
        number += 1;
    }
    Ok(())
}
