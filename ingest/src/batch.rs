//! Collects the rows of many blocks into one batch per table, within limits.

use std::time::{Duration, Instant};

use arrow::array::RecordBatch;
use trawl::primitives::{B256, BlockRange, Timestamp};
use trawl::schema::{
    BlockByHashRow, BlockRow, CommitRow, IntentRow, LogRow, Table, TransactionByHashRow, TransactionRow, UncleRow,
    WithdrawalRow,
};

use crate::rows::BlockRows;

/// When a batch is full. A block is never cut, so a batch may exceed `bytes` and `logs` by one block.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Blocks.
    pub blocks: usize,
    /// Logs.
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
    /// The blocks.
    pub range: BlockRange,
    /// Whether their receipts are known.
    pub has_receipts: bool,
    /// Whether the headers of all their uncles are known.
    pub has_uncles: bool,
    first_parent_hash: B256,
    last_hash: B256,
    transactions: u64,
    logs: u64,
}

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
    bytes: usize,
    started: Instant,
    block: <BlockRow as Table>::Builder,
    block_by_hash: <BlockByHashRow as Table>::Builder,
    transaction: <TransactionRow as Table>::Builder,
    transaction_by_hash: <TransactionByHashRow as Table>::Builder,
    log: <LogRow as Table>::Builder,
    withdrawal: <WithdrawalRow as Table>::Builder,
    uncle: <UncleRow as Table>::Builder,
}

impl Default for Batch {
    fn default() -> Self {
        Self {
            runs: Vec::new(),
            blocks: 0,
            logs: 0,
            transactions: 0,
            bytes: 0,
            started: Instant::now(),
            block: Default::default(),
            block_by_hash: Default::default(),
            transaction: Default::default(),
            transaction_by_hash: Default::default(),
            log: Default::default(),
            withdrawal: Default::default(),
            uncle: Default::default(),
        }
    }
}

/// A batch for one table, with the names of the tables that store these rows.
#[derive(Debug)]
pub struct TableBatch {
    /// Tables to write to.
    pub tables: &'static [&'static str],
    /// The rows; at least one.
    pub rows: RecordBatch,
}

impl Batch {
    /// Adds a block. `has_receipts` and `has_uncles` say whether the source had them.
    pub fn push(&mut self, rows: BlockRows, has_receipts: bool, has_uncles: bool, source_bytes: usize) {
        self.extend_runs(&rows, has_receipts, has_uncles);
        self.blocks += 1;
        self.logs += rows.logs.len();
        self.transactions += rows.transactions.len();
        self.bytes += source_bytes;
        BlockRow::push(&mut self.block, rows.block);
        BlockByHashRow::push(&mut self.block_by_hash, rows.block_by_hash);
        push_all::<TransactionRow>(&mut self.transaction, rows.transactions);
        push_all::<TransactionByHashRow>(&mut self.transaction_by_hash, rows.transactions_by_hash);
        push_all::<LogRow>(&mut self.log, rows.logs);
        push_all::<WithdrawalRow>(&mut self.withdrawal, rows.withdrawals);
        push_all::<UncleRow>(&mut self.uncle, rows.uncles);
    }

    fn extend_runs(&mut self, rows: &BlockRows, has_receipts: bool, has_uncles: bool) {
        let number = rows.block.block_number;
        let (transactions, logs) = (rows.transactions.len() as u64, rows.logs.len() as u64);
        let continues = |run: &&mut Run| {
            run.range.last().checked_add(1) == Some(number)
                && run.has_receipts == has_receipts
                && run.has_uncles == has_uncles
        };
        match self.runs.last_mut().filter(continues) {
            Some(run) => {
                run.range = BlockRange::new(run.range.first(), number).expect("it continues the run");
                run.last_hash = rows.block.hash;
                run.transactions += transactions;
                run.logs += logs;
            }
            None => self.runs.push(Run {
                range: BlockRange::single(number),
                has_receipts,
                has_uncles,
                first_parent_hash: rows.block.parent_hash,
                last_hash: rows.block.hash,
                transactions,
                logs,
            }),
        }
    }

    /// Whether it should be written now.
    #[must_use]
    pub fn is_full(&self, limits: Limits) -> bool {
        self.blocks >= limits.blocks
            || self.logs >= limits.logs
            || self.bytes >= limits.bytes
            || (self.blocks > 0 && self.started.elapsed() >= limits.age)
    }

    /// The rows by table, tables without rows left out.
    #[must_use]
    pub fn into_tables(self) -> Vec<TableBatch> {
        let all = vec![
            table::<BlockRow>(self.block),
            table::<BlockByHashRow>(self.block_by_hash),
            table::<TransactionRow>(self.transaction),
            table::<TransactionByHashRow>(self.transaction_by_hash),
            table::<LogRow>(self.log),
            table::<WithdrawalRow>(self.withdrawal),
            table::<UncleRow>(self.uncle),
        ];
        all.into_iter().filter(|batch| batch.rows.num_rows() > 0).collect()
    }
}

fn push_all<T: Table>(builder: &mut T::Builder, rows: Vec<T>) {
    for row in rows {
        T::push(builder, row);
    }
}

fn table<T: Table>(builder: T::Builder) -> TableBatch {
    TableBatch { tables: T::NAMES, rows: T::finish(builder) }
}

/// The rows that announce a batch.
#[must_use]
pub fn intents(runs: &[Run], run: &str, now: Timestamp) -> TableBatch {
    let mut builder = <IntentRow as Table>::Builder::default();
    for part in runs {
        let row = IntentRow {
            run: run.into(),
            first_block: part.range.first(),
            last_block: part.range.last(),
            started_at: now,
        };
        IntentRow::push(&mut builder, row);
    }
    table::<IntentRow>(builder)
}

/// The rows that make a batch visible.
#[must_use]
pub fn commits(runs: &[Run], run: &str, source: &str, chain_id: Option<u64>, now: Timestamp) -> TableBatch {
    let mut builder = <CommitRow as Table>::Builder::default();
    for part in runs {
        let mut parts = vec!["blocks".to_owned(), "transactions".into(), "withdrawals".into()];
        parts.extend(part.has_uncles.then(|| "uncles".into()));
        parts.extend(part.has_receipts.then(|| "receipts".into()));
        let row = CommitRow {
            first_block: part.range.first(),
            last_block: part.range.last(),
            parts,
            chain_id,
            first_parent_hash: part.first_parent_hash,
            last_hash: part.last_hash,
            transactions: part.transactions,
            logs: part.logs,
            source: source.into(),
            run: run.into(),
            committed_at: now,
        };
        CommitRow::push(&mut builder, row);
    }
    table::<CommitRow>(builder)
}
