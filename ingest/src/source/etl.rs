//! Folders that ethereum-etl wrote: blocks, transactions, receipts and logs as CSV or JSON lines, in no order.
//!
//! All requested rows are sorted by block first, through temporary files, in 64 MiB of memory.

mod listing;
mod sort;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures_util::StreamExt;
use trawl_core::primitives::{BlockNumber, BlockRange, Coverage};

use super::columns::{self, AssembleError, AssembledBlock, BlockFacts, Cell, Chunk, Facts, Row};
use super::reading::{Sender, reading};
use super::{BlockSource, RawBlock, RawBlocks, RawBody, SourceError, unreadable};
use crate::block::{Block, Transaction};
use crate::source::Total;
use listing::{DataFile, Dataset, Kind};
use sort::{Key, Record, Sorter};

/// Blocks handed on ahead of the later stages.
const BLOCKS_AHEAD: usize = 8;

/// A folder of ethereum-etl files.
pub struct EtlSource {
    folder: PathBuf,
    files: Vec<DataFile>,
    total: u64,
    requested: BlockRange,
    committed: Coverage,
    chain_id: Option<u64>,
}

impl EtlSource {
    /// Takes the blocks of `requested` that are not in `committed` from the files in and below `folder`. No file names
    /// its chain.
    pub fn new(
        folder: &Path,
        requested: BlockRange,
        committed: Coverage,
        chain_id: Option<u64>,
    ) -> Result<Self, SourceError> {
        let files = listing::files(folder)?;
        let total = files.iter().map(|file| file.size).sum();
        Ok(Self { folder: folder.into(), files, total, requested, committed, chain_id })
    }
}

impl BlockSource for EtlSource {
    fn kind(&self) -> &'static str {
        "etl"
    }

    fn chain_id(&self) -> Option<u64> {
        self.chain_id
    }

    fn total(&self) -> Total {
        Total::Bytes(self.total)
    }

    fn into_blocks(self) -> RawBlocks {
        reading(BLOCKS_AHEAD, move |sender| self.send(sender)).boxed()
    }
}

/// The parts that the folder has.
#[derive(Debug, Clone, Copy, Default)]
struct AvailableParts {
    receipts: bool,
    logs: bool,
}

impl EtlSource {
    /// Sorts, joins and sends; ends quietly if the receiver is gone.
    fn send(&self, sender: &Sender<RawBlock>) -> Result<(), SourceError> {
        let mut sorter = Sorter::new();
        let mut has = AvailableParts::default();
        for file in &self.files {
            for chunk in columns::open(&file.path)? {
                if sender.is_closed() {
                    return Ok(());
                }
                self.take(file, chunk?, &mut sorter, &mut has)?;
            }
        }
        let rows = sorter.len();
        tracing::info!(rows, "sorting rows by block");
        let mut sorted = sorter.finish().map_err(|error| self.temporary(&error))?.peekable();
        let mut done = 0;
        while let Some(first) = sorted.next() {
            let mut records = vec![first.map_err(|error| self.temporary(&error))?];
            let number = records[0].key.block;
            while let Some(next) = sorted.next_if(|next| next.as_ref().is_ok_and(|next| next.key.block == number)) {
                records.push(next.map_err(|error| self.temporary(&error))?);
            }
            done += records.len() as u64;
            let position = u64::try_from(u128::from(self.total) * u128::from(done) / u128::from(rows.max(1)));
            let block = self.join(number, records, has).map_err(|error| self.malformed(number, error))?;
            let raw = RawBlock { body: RawBody::Block(Box::new(block)), position: position.unwrap_or(self.total) };
            if sender.blocking_send(Ok(raw)).is_err() {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Hands the requested rows of a chunk to the sorter.
    fn take(
        &self,
        file: &DataFile,
        chunk: Chunk,
        sorter: &mut Sorter,
        has: &mut AvailableParts,
    ) -> Result<(), SourceError> {
        let keys: Vec<Option<Key>> = (0..chunk.len())
            .map(|row| key(file.dataset, chunk.row(row)))
            .collect::<Result<_, _>>()
            .map_err(|error| columns::malformed(&file.path, error))?;
        // A stream has the receipt in the row of the transaction.
        let with_receipts = chunk.names.iter().any(|name| name == "receipt_gas_used");
        has.receipts |= with_receipts || file.dataset == Dataset::Of(Kind::Receipt);
        has.logs |= matches!(file.dataset, Dataset::Of(Kind::Log) | Dataset::Stream);
        let names = Arc::clone(&chunk.names);
        for (key, cells) in keys.into_iter().zip(chunk.into_text().unwrap_or_default()) {
            let is_missing = |key: &Key| self.requested.contains(key.block) && !self.committed.contains(key.block);
            if let Some(key) = key.filter(is_missing) {
                sorter.push(key, &names, &cells).map_err(|error| self.temporary(&error))?;
            }
        }
        Ok(())
    }

    /// Puts the rows of one block together.
    fn join(&self, number: BlockNumber, records: Vec<Record>, has: AvailableParts) -> Result<Block, JoinError> {
        let mut block = None;
        let mut transactions: Vec<(Transaction, _)> = Vec::new();
        let (mut outcomes, mut logs) = (Vec::new(), Vec::new());
        for record in without_repeats(records)? {
            let row = Row::of_text(&record.names, &record.cells);
            match record.key.kind {
                Kind::Block => block = Some(BlockFacts::read(row)?),
                Kind::Transaction => {
                    let transaction = columns::transaction(row, self.chain_id)?;
                    outcomes.extend(columns::outcome(row, &transaction.0)?);
                    transactions.push(transaction);
                }
                Kind::Receipt => {
                    let index = record.key.index;
                    let owner = transactions.iter().find(|(transaction, _)| u64::from(transaction.index) == index);
                    let (owner, _) = owner.ok_or(JoinError::ReceiptOfNothing { index })?;
                    outcomes.push(columns::outcome(row, owner)?.ok_or(JoinError::NoGas { index })?);
                }
                Kind::Log => logs.push(columns::log(row)?.ok_or(JoinError::BareLog)?),
            }
        }
        let block = block.ok_or(JoinError::NoBlock)?;
        let header = &block.header;
        let bloom_speaks = !header.lacking.contains(&"logs_bloom") && !header.logs_bloom.is_zero();
        let has_logs = has.logs && !(logs.is_empty() && bloom_speaks);
        let has_outcomes = has.receipts && outcomes.is_empty() == transactions.is_empty();
        if (has.logs && !has_logs) || (has.receipts && !has_outcomes) {
            tracing::warn!(number, "the files lack receipts or logs of this block");
        }
        let (outcomes, logs) = (has_outcomes.then_some(outcomes), has_logs.then_some(logs));
        Ok(AssembledBlock { block, transactions, outcomes, logs }.into_block()?)
    }

    fn malformed(&self, number: BlockNumber, error: impl ToString) -> SourceError {
        columns::malformed(&self.folder, format!("block {number}: {}", error.to_string()))
    }

    fn temporary(&self, error: &std::io::Error) -> SourceError {
        unreadable(&std::env::temp_dir(), error)
    }
}

/// Rows that do not make a block.
#[derive(Debug, thiserror::Error)]
enum JoinError {
    #[error(transparent)]
    Assemble(#[from] AssembleError),
    #[error("transactions, receipts or logs, and no row in blocks")]
    NoBlock,
    #[error("a receipt of transaction {index}, which is not there")]
    ReceiptOfNothing { index: u64 },
    #[error("the receipt of transaction {index} has no gas")]
    NoGas { index: u64 },
    #[error("a log without address, data, topics or index")]
    BareLog,
    #[error("two different rows of the same {what}")]
    TwoRows { what: String },
}

/// Removes repeated rows, which overlapping exports have.
fn without_repeats(records: Vec<Record>) -> Result<Vec<Record>, JoinError> {
    let mut distinct: Vec<Record> = Vec::with_capacity(records.len());
    for record in records {
        match distinct.last().filter(|last| last.key == record.key) {
            None => distinct.push(record),
            Some(last) if last.names == record.names && last.cells == record.cells => {}
            Some(_) => return Err(JoinError::TwoRows { what: format!("{} {}", record.key.kind, record.key.index) }),
        }
    }
    Ok(distinct)
}

/// The key of a row; `None` for rows of other entities in a stream.
fn key(dataset: Dataset, row: Row<'_>) -> Result<Option<Key>, AssembleError> {
    let kind = match (dataset, row.cell(&["type"])) {
        (Dataset::Of(kind), _) => kind,
        (Dataset::Stream, Cell::Text("block")) => Kind::Block,
        (Dataset::Stream, Cell::Text("transaction")) => Kind::Transaction,
        (Dataset::Stream, Cell::Text("log")) => Kind::Log,
        (Dataset::Stream, _) => return Ok(None),
    };
    let facts = Facts::of(row);
    let (block, index): (&[_], &[_]) = match kind {
        Kind::Block => (&["number"], &["number"]),
        Kind::Transaction | Kind::Receipt => (&["block_number"], &["transaction_index"]),
        Kind::Log => (&["block_number"], &["log_index"]),
    };
    Ok(Some(Key { block: facts.required(block)?, kind, index: facts.required(index)? }))
}
