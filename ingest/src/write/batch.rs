//! Collects the rows of many blocks into one batch per table, within limits.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow::array::{ArrayRef, RecordBatch, UInt64Array};
use arrow::datatypes::{DataType, Field, Schema};
use trawl_core::primitives::{Address, B256, BlockRange, Timestamp, U256};
use trawl_core::schema::hot::GENERATION;
use trawl_core::schema::{CommitRow, IntentRow, Table, VerdictRow};

mod counts;
mod tables;

use crate::block::Parts;
pub use counts::RowCounts;
pub use tables::{BlockRows, TableBatch, counts_of, names_of};
use tables::{Builders, table};

/// When a batch is full. A block is never cut, so a batch may exceed `bytes` and `logs` by one block.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Most blocks of a batch.
    pub blocks: usize,
    /// Most logs of a batch.
    pub logs: usize,
    /// Bytes of source text, which bound the bytes of the rows: text is at least twice as long.
    pub bytes: usize,
    /// Time since its first block, so that a slow source commits too.
    pub age: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { blocks: 10_000, logs: 200_000, bytes: 128 << 20, age: Duration::from_secs(5) }
    }
}

/// Consecutive blocks of a batch of which the same parts are known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// Heights, both ends inclusive.
    pub range: BlockRange,
    /// What is known of all of them.
    pub parts: Parts,
    first_parent_hash: B256,
    last_hash: B256,
    last_total_difficulty: Option<U256>,
    transactions: u64,
    logs: u64,
    counts: RowCounts,
}

/// Contracts by what their transfers look like: `ERC-20`, `ERC-721` or `ERC-1155`.
pub type Tokens = BTreeMap<Address, String>;

/// Rows on their way to the tables.
#[derive(Debug)]
pub struct Batch {
    /// What is in it, in the order it came.
    pub runs: Vec<Run>,
    /// Blocks in it.
    pub blocks: usize,
    /// Logs in it.
    pub logs: usize,
    /// Transactions in it.
    pub transactions: usize,
    /// Verdicts on blocks that were set aside.
    pub quarantined: Vec<VerdictRow>,
    /// Blocks that are proven by their hash.
    pub verified: usize,
    /// Blocks of which some checks could not run.
    pub partial: usize,
    /// Token contracts with transfers in it.
    pub tokens: Tokens,
    bytes: usize,
    started: Instant,
    builders: Builders,
}

impl Default for Batch {
    fn default() -> Self {
        Self {
            runs: Vec::new(),
            blocks: 0,
            logs: 0,
            transactions: 0,
            quarantined: Vec::new(),
            verified: 0,
            partial: 0,
            tokens: Tokens::new(),
            bytes: 0,
            started: Instant::now(),
            builders: Builders::default(),
        }
    }
}

impl BlockRows {
    /// Adds the token contracts with transfers in the block.
    pub fn add_tokens(&self, tokens: &mut Tokens) {
        for transfer in &self.token_transfers_by_block {
            tokens.entry(transfer.token_address).or_insert_with(|| transfer.token_type.clone());
        }
    }
}

impl Batch {
    /// Adds a block of which the source had `parts`.
    pub fn push(&mut self, rows: BlockRows, parts: Parts, source_bytes: usize) {
        self.extend_runs(&rows, parts);
        self.blocks += rows.blocks.len();
        self.logs += rows.logs.len();
        self.transactions += rows.transactions.len();
        self.bytes += source_bytes;
        for verdict in &rows.block_verdicts {
            match verdict.verdict.as_str() {
                "verified" => self.verified += 1,
                "partial" => self.partial += 1,
                _ => {}
            }
        }
        rows.add_tokens(&mut self.tokens);
        self.builders.push(rows);
    }

    /// Says the sum of difficulties up to the newest block, which its row may not have.
    pub fn end_at(&mut self, total_difficulty: Option<U256>) {
        if let Some(run) = self.runs.last_mut() {
            run.last_total_difficulty = total_difficulty;
        }
    }

    /// Adds what was found of a block that is not in the batch.
    pub fn push_verdict(&mut self, verdict: VerdictRow) {
        self.quarantined.push(verdict);
    }

    /// Whether there is nothing to write.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.blocks == 0 && self.quarantined.is_empty()
    }

    fn extend_runs(&mut self, rows: &BlockRows, parts: Parts) {
        let (transactions, logs) = (rows.transactions.len() as u64, rows.logs.len() as u64);
        let counts = rows.counts();
        for block in &rows.blocks {
            let number = block.block_number;
            let continues = |run: &&mut Run| run.range.last().checked_add(1) == Some(number) && run.parts == parts;
            match self.runs.last_mut().filter(continues) {
                Some(run) => {
                    run.range = BlockRange::new(run.range.first(), number).expect("it continues the run");
                    run.last_hash = block.hash;
                    run.last_total_difficulty = block.total_difficulty;
                    run.transactions += transactions;
                    run.logs += logs;
                    run.counts += &counts;
                }
                None => self.runs.push(Run {
                    range: BlockRange::single(number),
                    parts,
                    first_parent_hash: block.parent_hash,
                    last_hash: block.hash,
                    last_total_difficulty: block.total_difficulty,
                    transactions,
                    logs,
                    counts: counts.clone(),
                }),
            }
        }
    }

    /// Whether it should be written now.
    #[must_use]
    pub fn is_full(&self, limits: Limits) -> bool {
        self.blocks + self.quarantined.len() >= limits.blocks
            || self.logs >= limits.logs
            || self.bytes >= limits.bytes
            || (!self.is_empty() && self.started.elapsed() >= limits.age)
    }

    /// The rows by table, tables without rows left out.
    #[must_use]
    pub fn into_tables(self) -> Vec<TableBatch> {
        self.builders.into_tables()
    }
}

/// What was committed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CommittedBatch {
    /// Blocks of the batch.
    pub blocks: u64,
    /// Transactions of these blocks.
    pub transactions: u64,
    /// Logs of these transactions.
    pub logs: u64,
    /// Blocks that were refused and set aside.
    pub quarantined: u64,
    /// Blocks that are proven by their hash.
    pub verified: u64,
    /// Blocks of which some checks could not run.
    pub partial: u64,
}

impl std::ops::AddAssign for CommittedBatch {
    fn add_assign(&mut self, other: Self) {
        self.blocks += other.blocks;
        self.transactions += other.transactions;
        self.logs += other.logs;
        self.quarantined += other.quarantined;
        self.verified += other.verified;
        self.partial += other.partial;
    }
}

/// The rows with the column that hot tables have in front.
#[must_use]
pub fn with_generation(rows: &RecordBatch, generation: u64) -> RecordBatch {
    let field = Arc::new(Field::new(GENERATION, DataType::UInt64, false));
    let fields: Vec<_> = std::iter::once(field).chain(rows.schema().fields().iter().cloned()).collect();
    let column: ArrayRef = Arc::new(UInt64Array::from_value(generation, rows.num_rows()));
    let columns = std::iter::once(column).chain(rows.columns().iter().cloned()).collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).expect("one more column of the same length")
}

/// Verdicts that are written by themselves.
#[must_use]
pub fn verdicts(rows: Vec<VerdictRow>) -> TableBatch {
    let mut builder = <VerdictRow as Table>::Builder::default();
    for row in rows {
        VerdictRow::push(&mut builder, row);
    }
    table::<VerdictRow>(builder)
}

/// The rows that announce that the rows of `ranges` are about to be removed and written anew.
#[must_use]
pub fn announcement(ranges: &[BlockRange], run: &str, now: Timestamp) -> TableBatch {
    let mut builder = <IntentRow as Table>::Builder::default();
    for range in ranges {
        let row = IntentRow { run: run.into(), first_block: range.first(), last_block: range.last(), started_at: now };
        IntentRow::push(&mut builder, row);
    }
    table::<IntentRow>(builder)
}

/// The rows that announce a batch.
#[must_use]
pub fn intents(runs: &[Run], run: &str, now: Timestamp) -> TableBatch {
    announcement(&runs.iter().map(|part| part.range).collect::<Vec<_>>(), run, now)
}

/// The rows that make a batch visible.
#[must_use]
pub fn commits(runs: &[Run], run: &str, source: &str, chain_id: Option<u64>, now: Timestamp) -> TableBatch {
    let mut builder = <CommitRow as Table>::Builder::default();
    for part in runs {
        let row = CommitRow {
            first_block: part.range.first(),
            last_block: part.range.last(),
            parts: part.parts.names(),
            chain_id,
            first_parent_hash: part.first_parent_hash,
            last_hash: part.last_hash,
            last_total_difficulty: part.last_total_difficulty,
            transactions: part.transactions,
            logs: part.logs,
            rows: part.counts.rows(),
            source: source.into(),
            run: run.into(),
            committed_at: now,
            replaced: Vec::new(),
        };
        CommitRow::push(&mut builder, row);
    }
    table::<CommitRow>(builder)
}
