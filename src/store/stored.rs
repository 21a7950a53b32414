//! What is stored of ranges of blocks, read whole to be proven again.

use super::{Reader, StoreError};
use crate::primitives::BlockRange;
use crate::schema::columns::columns;
use crate::schema::{BlockRow, Columns, LogRow, TransactionRow, UncleRow, WithdrawalRow};
use crate::statement::Statement;

/// The rows of a range of blocks, each list in chain order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StoredRange {
    /// Blocks.
    pub blocks: Vec<BlockRow>,
    /// Their transactions.
    pub transactions: Vec<TransactionRow>,
    /// Their logs.
    pub logs: Vec<LogRow>,
    /// Their withdrawals.
    pub withdrawals: Vec<WithdrawalRow>,
    /// Their uncles.
    pub uncles: Vec<UncleRow>,
}

columns! {
    /// How many rows a table has in a range, and a checksum over them in no order.
    pub struct TableSum / TableSumView {
        /// The table.
        name: String,
        /// Rows.
        rows: u64,
        /// Sum of their hashes, modulo 2^64.
        checksum: u64,
    }
}

impl Reader {
    /// All rows of `range`. Memory: those rows, so ranges are chosen small.
    pub async fn stored(&self, range: BlockRange) -> Result<StoredRange, StoreError> {
        fn of<R: Columns>(sql: &'static str, range: BlockRange) -> Statement<R> {
            Statement::page(sql).with("first", range.first()).with("last", range.last())
        }
        let blocks = of(include_str!("../../sql/queries/stored_blocks.sql"), range);
        let transactions = of(include_str!("../../sql/queries/stored_transactions.sql"), range);
        let logs = of(include_str!("../../sql/queries/stored_logs.sql"), range);
        let withdrawals = of(include_str!("../../sql/queries/stored_withdrawals.sql"), range);
        let uncles = of(include_str!("../../sql/queries/stored_uncles.sql"), range);
        let (blocks, transactions, logs, withdrawals, uncles) = tokio::try_join!(
            self.rows(&blocks),
            self.rows(&transactions),
            self.rows(&logs),
            self.rows(&withdrawals),
            self.rows(&uncles)
        )?;
        Ok(StoredRange { blocks, transactions, logs, withdrawals, uncles })
    }

    /// Sums over tables that hold the same rows, two by two: the second of each pair must equal the first.
    pub async fn stored_orders(&self, range: BlockRange) -> Result<Vec<TableSum>, StoreError> {
        let sql = include_str!("../../sql/queries/stored_orders.sql");
        let statement = Statement::<TableSum>::page(sql).with("first", range.first()).with("last", range.last());
        let mut sums = self.rows(&statement).await?;
        // The parts of a UNION ALL come in any order.
        let place = |sum: &TableSum| sql.find(&format!("'{}' AS", sum.name));
        sums.sort_by_key(place);
        Ok(sums)
    }
}
