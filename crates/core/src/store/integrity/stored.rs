//! Stored rows of ranges of blocks, read whole for verification.

use crate::primitives::BlockRange;
use crate::schema::columns::columns;
use crate::schema::{
    BlockRow, BlockTokenTransferRow, Columns, LogRow, OptionalTable, TransactionRow, UncleRow, WithdrawalRow,
};
use crate::statement::Statement;
use crate::store::error::UNKNOWN_TABLE;
use crate::store::{Reader, StoreError};

/// The rows of a range of blocks, each list in chain order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StoredRange {
    /// Headers, one row for each height.
    pub blocks: Vec<BlockRow>,
    /// Transactions of these blocks.
    pub transactions: Vec<TransactionRow>,
    /// Logs of these blocks.
    pub logs: Vec<LogRow>,
    /// Withdrawals of these blocks.
    pub withdrawals: Vec<WithdrawalRow>,
    /// Headers of the uncles that these blocks reference.
    pub uncles: Vec<UncleRow>,
    /// Their token transfers.
    pub token_transfers: Vec<BlockTokenTransferRow>,
}

columns! {
    /// Heights at which a table lacks rows that are derived from another, or has other ones.
    pub struct TableDifference / TableDifferenceView {
        /// Lowest block that was compared.
        first_block: u64,
        /// Highest block that was compared.
        last_block: u64,
        /// Rows derived from `one`.
        one_rows: u64,
        /// Sum of their hashes, modulo 2^64.
        one_checksum: u64,
        /// Rows of `other`.
        other_rows: u64,
        /// Sum of their hashes, modulo 2^64.
        other_checksum: u64,
    }
}

/// Two tables: the rows of `other` are derived from those of `one`. With the statement that finds differences.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowComparison {
    /// The source table.
    pub one: &'static str,
    /// The derived table.
    pub other: &'static str,
    sql: &'static str,
}

macro_rules! compared {
    ($($one:literal, $other:literal: $file:literal,)*) => {
        /// The tables that hold the same rows in several orders, in pairs. The source tables are verified block by
        /// block, except for call frames.
        pub const COMPARED_TABLES: &[RowComparison] = &[$(RowComparison {
            one: $one,
            other: $other,
            sql: include_str!(concat!("../../../../../sql/queries/", $file)),
        }),*];
    };
}

compared! {
    "blocks", "blocks_by_hash": "compare_block_hashes.sql",
    "blocks", "blocks_by_miner": "compare_blocks_by_miner.sql",
    "transactions", "transactions_by_hash": "compare_transaction_hashes.sql",
    "transactions", "transactions_by_address": "compare_transactions_by_address.sql",
    "logs_by_block", "logs": "compare_logs.sql",
    "logs_by_block", "log_topics": "compare_log_topics.sql",
    "logs_by_block", "logs_by_topic": "compare_logs_by_topic.sql",
    "token_balances", "token_balances_by_holder": "compare_token_balances_by_holder.sql",
    "token_balances", "token_id_balances": "compare_token_id_balances.sql",
    "token_id_balances", "token_id_holders": "compare_token_id_holders.sql",
    "withdrawals_by_block", "withdrawals": "compare_withdrawals.sql",
    "token_transfers_by_block", "token_transfers": "compare_token_transfers.sql",
    "token_transfers_by_block", "token_transfers_by_direction": "compare_token_transfers_by_direction.sql",
    "token_transfers", "token_transfers_by_token": "compare_token_transfers_by_token.sql",
    "internal_transactions", "internal_transactions_by_address": "compare_internal_transactions_by_address.sql",
    "internal_transactions", "internal_transactions_by_direction": "compare_internal_transactions_by_direction.sql",
    "internal_transactions", "listed_internal_transactions": "compare_listed_internal_transactions.sql",
}

impl Reader {
    /// All rows of `range`. Memory: those rows, so ranges are chosen small.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement, or the result has unexpected columns.
    pub async fn stored(&self, range: BlockRange) -> Result<StoredRange, StoreError> {
        fn of<R: Columns>(sql: &'static str, range: BlockRange) -> Statement<R> {
            Statement::page(sql).with("first", range.first()).with("last", range.last())
        }
        let blocks = of(include_str!("../../../../../sql/queries/stored_blocks.sql"), range);
        let transactions = of(include_str!("../../../../../sql/queries/stored_transactions.sql"), range);
        let logs = of(include_str!("../../../../../sql/queries/stored_logs.sql"), range);
        let withdrawals = of(include_str!("../../../../../sql/queries/stored_withdrawals.sql"), range);
        let uncles = of(include_str!("../../../../../sql/queries/stored_uncles.sql"), range);
        let token_transfers = of(include_str!("../../../../../sql/queries/stored_token_transfers.sql"), range);
        let (blocks, transactions, logs, withdrawals, uncles, token_transfers) = tokio::try_join!(
            self.rows(&blocks),
            self.rows(&transactions),
            self.rows(&logs),
            self.rows(&withdrawals),
            self.rows(&uncles),
            self.rows(&token_transfers)
        )?;
        Ok(StoredRange { blocks, transactions, logs, withdrawals, uncles, token_transfers })
    }

    /// Where two tables differ within `ranges`, ascending. Reads both whole, without a time limit. A table that was
    /// left out has no differences.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement, or the result has unexpected columns.
    pub async fn differences(
        &self,
        compared: RowComparison,
        ranges: &[BlockRange],
    ) -> Result<Vec<TableDifference>, StoreError> {
        let (Some(first), Some(last)) = (ranges.first(), ranges.last()) else { return Ok(Vec::new()) };
        let statement = Statement::<TableDifference>::scan(compared.sql)
            .with("first", first.first())
            .with("last", last.last())
            .with("ranges", ranges);
        match self.rows(&statement).await {
            Err(StoreError::Refused { code: UNKNOWN_TABLE, .. }) if is_optional(compared.other) => Ok(Vec::new()),
            found => found,
        }
    }
}

fn is_optional(table: &str) -> bool {
    OptionalTable::from_name(table).is_some()
}
