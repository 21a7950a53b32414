//! Writes new records, and last the row that makes them visible.

use std::time::{SystemTime, UNIX_EPOCH};

use trawl_core::primitives::Timestamp;
use trawl_core::store::{Reader, StoreError, Writer};

use super::label_records::LabelRecords;
use rows::{LoadStamp, Rows};

mod known;
mod rows;

/// Records of a kind in the files, and how many of them were new.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RecordCounts {
    /// How many the files have.
    pub found: u64,
    /// How many of them were written.
    pub written: u64,
}

/// The outcome of a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Outcome {
    /// Labels of addresses.
    pub labels: RecordCounts,
    /// ABIs of contracts.
    pub abis: RecordCounts,
    /// Sources of contracts.
    pub sources: RecordCounts,
    /// Signatures of events and functions.
    pub signatures: RecordCounts,
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
///
/// # Errors
///
/// If ClickHouse cannot be reached or refuses a statement.
pub async fn write(
    reader: &Reader,
    writer: &Writer,
    found: LabelRecords,
    purpose: Purpose,
    sources: Vec<String>,
) -> Result<Outcome, StoreError> {
    let mut outcome = Outcome::default();
    outcome.each(&found, |counts, number| counts.found = number);
    let new = known::only_new(reader, found, purpose).await?;
    outcome.each(&new, |counts, number| counts.written = number);
    let now = micros();
    let generation = reader.newest_label_load().await?.saturating_add(1).max(now.unsigned_abs());
    let rows = Rows::new(new, purpose, LoadStamp { generation, loaded_at: Timestamp::from_micros(now) });
    if !rows.is_empty() {
        rows.write(writer, sources).await?;
    }
    Ok(outcome)
}

impl Outcome {
    /// Sets a count of each kind from some records.
    fn each(&mut self, records: &LabelRecords, set: impl Fn(&mut RecordCounts, u64)) {
        set(&mut self.labels, records.labels.len() as u64);
        set(&mut self.abis, records.abis.len() as u64);
        set(&mut self.sources, records.sources.len() as u64);
        set(&mut self.signatures, (records.events.len() + records.functions.len()) as u64);
    }
}

/// Microseconds since 1970.
fn micros() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_micros();
    i64::try_from(now).unwrap_or(i64::MAX)
}

/// Writes signatures of generation 0, which belong to no load.
pub(super) async fn insert_signatures(writer: &Writer, found: LabelRecords) -> Result<(), StoreError> {
    let stamp = LoadStamp { generation: 0, loaded_at: Timestamp::from_micros(micros()) };
    Rows::new(found, Purpose::Add, stamp).write_signatures(writer).await
}
