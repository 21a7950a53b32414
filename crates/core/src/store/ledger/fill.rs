//! What filling in a part of blocks needs that were loaded without it: call frames, or state.

use super::runs::CountRow;
use crate::primitives::{Address, B256, BlockRange};
use crate::schema::CommitRow;
use crate::schema::columns::columns;
use crate::statement::{Parameter, Statement};
use crate::store::error::UNKNOWN_TABLE;
use crate::store::{Reader, StoreError, Writer};

/// How the names of runs begin that fill in a part.
pub const FILL_RUNS: &str = "fill-";

columns! {
    /// A settled block.
    pub struct BlockHash / BlockHashView {
        /// Height of the block.
        block_number: u64,
        /// Keccak-256 of the header.
        hash: B256,
    }
}

columns! {
    /// A creation whose code is known.
    pub struct TracedContract / TracedContractView {
        /// Address of the created contract.
        address: Address,
        /// Height of the block that created it.
        block_number: u64,
        /// Position of the transaction in the block.
        transaction_index: u32,
    }
}

fn bounds(range: BlockRange) -> [(&'static str, Parameter); 2] {
    [("first", range.first().into()), ("last", range.last().into())]
}

fn of_range<R>(mut statement: Statement<R>, range: BlockRange) -> Statement<R> {
    statement.parameters.extend(bounds(range).map(|(name, value)| (name.into(), value)));
    statement
}

impl Reader {
    /// The commits of blocks without a part, ascending: no part of theirs has a name that begins so.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement, or the result has unexpected columns.
    pub async fn commits_without(&self, part: &str) -> Result<Vec<CommitRow>, StoreError> {
        let sql = include_str!("../../../../../sql/queries/commits_to_fill.sql");
        self.rows(&Statement::page(sql).with("part", part)).await
    }

    /// The hashes of the settled blocks of a range, ascending.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement, or the result has unexpected columns.
    pub async fn block_hashes(&self, range: BlockRange) -> Result<Vec<BlockHash>, StoreError> {
        self.rows(&of_range(Statement::page(include_str!("../../../../../sql/queries/block_hashes.sql")), range)).await
    }

    /// The creations in a range whose code is known.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement, or the result has unexpected columns.
    pub async fn traced_contracts(&self, range: BlockRange) -> Result<Vec<TracedContract>, StoreError> {
        self.rows(&of_range(Statement::scan(include_str!("../../../../../sql/queries/traced_contracts.sql")), range))
            .await
    }

    /// How many rows a table of blocks has of a range; none of a table that is left out.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement, or the result has unexpected columns.
    pub async fn rows_of_range(&self, table: &str, column: &str, range: BlockRange) -> Result<u64, StoreError> {
        let statement = Statement::<CountRow>::scan(include_str!("../../../../../sql/queries/rows_of_range.sql"));
        let statement = of_range(statement.with("table", table).with("column", column), range);
        match self.rows(&statement).await {
            Err(StoreError::Refused { code: UNKNOWN_TABLE, .. }) => Ok(0),
            rows => Ok(rows?.first().map_or(0, |row| row.count)),
        }
    }

    async fn bare_contracts(&self, range: BlockRange) -> Result<u64, StoreError> {
        let statement = Statement::<CountRow>::scan(include_str!("../../../../../sql/queries/bare_contracts.sql"));
        Ok(self.rows(&of_range(statement, range)).await?.first().map_or(0, |row| row.count))
    }
}

impl Writer {
    /// Removes the creations in a range that receipts showed, whose code is not known. Those that traces showed are
    /// there.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses a statement.
    pub async fn forget_bare_contracts(&self, reader: &Reader, range: BlockRange) -> Result<(), StoreError> {
        if reader.bare_contracts(range).await? == 0 {
            return Ok(());
        }
        self.execute_on_shards(
            "contracts",
            include_str!("../../../../../sql/queries/forget_bare_contracts.sql"),
            &bounds(range),
        )
        .await
    }

    /// Removes the creations that an interrupted run added to a range without traces.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses a statement.
    pub async fn forget_traced_contracts(&self, reader: &Reader, range: BlockRange) -> Result<(), StoreError> {
        if reader.traced_contracts(range).await?.is_empty() {
            return Ok(());
        }
        self.execute_on_shards(
            "contracts",
            include_str!("../../../../../sql/queries/forget_traced_contracts.sql"),
            &bounds(range),
        )
        .await
    }
}
