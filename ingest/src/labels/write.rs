//! Writes new records, and last the row that makes them visible.

use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

use trawl_core::primitives::Timestamp;
use trawl_core::store::{Reader, StoreError, Writer};

use super::label_records::LabelRecords;
use rows::{LoadStamp, RowCounts, Rows};

mod known;
mod purpose;
mod rows;

pub use purpose::Purpose;

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

/// A load whose records become visible together, with its last row. A load that does not come to its end leaves rows
/// that are not read.
pub struct LabelLoad<'s> {
    reader: &'s Reader,
    writer: &'s Writer,
    purpose: Purpose,
    stamp: LoadStamp,
    /// Parts that were added.
    parts: u64,
    rows: RowCounts,
    outcome: Outcome,
    passed_over: BTreeMap<&'static str, u64>,
}

impl<'s> LabelLoad<'s> {
    /// Begins a load, which is newer than all others.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses a statement.
    pub async fn begin(reader: &'s Reader, writer: &'s Writer, purpose: Purpose) -> Result<Self, StoreError> {
        let now = micros();
        let generation = reader.newest_label_load().await?.saturating_add(1).max(now.unsigned_abs());
        let stamp = LoadStamp { generation, loaded_at: Timestamp::from_micros(now) };
        let (rows, outcome, passed_over) = <_>::default();
        Ok(Self { reader, writer, purpose, stamp, parts: 0, rows, outcome, passed_over })
    }

    /// Writes those of some records that the tables do not have.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses a statement.
    pub async fn add(&mut self, found: LabelRecords) -> Result<(), StoreError> {
        self.outcome.each(&found, |counts, number| counts.found += number);
        for (reason, count) in &found.passed_over {
            *self.passed_over.entry(reason).or_default() += count;
        }
        let new = known::only_new(self.reader, found, self.purpose).await?;
        self.outcome.each(&new, |counts, number| counts.written += number);
        let rows = Rows::new(new, self.purpose, self.stamp);
        self.rows.add(rows.counts());
        rows.write(self.writer, self.parts).await?;
        self.parts += 1;
        Ok(())
    }

    /// Makes visible what was written, if anything was.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses a statement.
    pub async fn end(self, sources: Vec<String>) -> Result<Outcome, StoreError> {
        for (reason, count) in &self.passed_over {
            tracing::warn!(count, "passed over: {reason}");
        }
        if self.rows != RowCounts::default() {
            self.rows.write(self.writer, self.stamp, sources).await?;
        }
        Ok(self.outcome)
    }
}

impl Outcome {
    /// Whether the files have nothing that could be loaded.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        [self.labels, self.abis, self.sources, self.signatures].iter().all(|counts| counts.found == 0)
    }

    /// Changes a count of each kind by some records.
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
