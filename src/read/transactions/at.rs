//! Transactions at some positions of the chain, with their receipts.

use std::collections::HashMap;
use std::ops::Range;

use crate::app::App;
use crate::error::Problem;
use crate::read::completeness::{require_receipt, require_transaction};
use trawl_core::primitives::BlockNumber;
use trawl_core::schema::{LogRow, LogView, TransactionRow};
use trawl_core::store::{Batch, Head};
use trawl_query::transactions::positions::TransactionPositions;

/// Of each position: the rows of its logs, by batch.
type LogsByTransaction = HashMap<(BlockNumber, u32), Vec<(usize, Range<usize>)>>;

/// Transactions with their logs.
pub(crate) struct TransactionsAt {
    batches: Vec<Batch<TransactionRow>>,
    logs: Vec<Batch<LogRow>>,
    own: LogsByTransaction,
}

impl TransactionsAt {
    /// Reads the transactions at `positions`. Memory is that of these transactions and their logs.
    ///
    /// # Errors
    ///
    /// When a column of a transaction or receipt is missing; or when the store fails.
    pub async fn load(app: &App, head: &Head, positions: &TransactionPositions) -> Result<Self, Problem> {
        if positions.is_empty() {
            return Ok(Self { batches: Vec::new(), logs: Vec::new(), own: LogsByTransaction::new() });
        }
        let span = head.receipts.span();
        let transactions = trawl_query::transactions::positions::transactions(positions, &span);
        let logs = trawl_query::transactions::positions::logs(positions, &span);
        let (batches, logs) = tokio::try_join!(app.reader().all(&transactions), app.reader().all(&logs))?;
        for batch in &batches {
            (0..batch.len()).try_for_each(|row| {
                require_transaction(&batch.view(), row).and_then(|()| require_receipt(&batch.view(), row))
            })?;
        }
        let own = by_position(&logs);
        Ok(Self { batches, logs, own })
    }

    /// The transactions, ascending.
    pub fn batches(&self) -> &[Batch<TransactionRow>] {
        &self.batches
    }

    /// The same: each a row of a batch.
    pub fn rows(&self) -> impl DoubleEndedIterator<Item = (&Batch<TransactionRow>, usize)> {
        self.batches.iter().flat_map(|batch| (0..batch.len()).map(move |row| (batch, row)))
    }

    /// The logs of one of them.
    pub fn logs(&self, batch: &Batch<TransactionRow>, row: usize) -> Vec<(LogView<'_>, Range<usize>)> {
        let view = batch.view();
        let own = self.own.get(&(view.block_number[row], view.transaction_index[row]));
        own.into_iter().flatten().map(|(batch, rows)| (self.logs[*batch].view(), rows.clone())).collect()
    }
}

/// The rows of each transaction in batches of logs, which are in the order of the chain.
fn by_position(logs: &[Batch<LogRow>]) -> LogsByTransaction {
    let mut own = LogsByTransaction::new();
    for (position, batch) in logs.iter().enumerate() {
        let view = batch.view();
        for row in 0..batch.len() {
            let ranges = own.entry((view.block_number[row], view.transaction_index[row])).or_default();
            match ranges.last_mut() {
                Some((batch, rows)) if *batch == position && rows.end == row => rows.end += 1,
                _ => ranges.push((position, row..row + 1)),
            }
        }
    }
    own
}
