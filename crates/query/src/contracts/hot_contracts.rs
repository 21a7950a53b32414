//! Plans for the addresses that most transactions of a range of blocks called.

use crate::select::{Select, settled_blocks};
use crate::walk::SortOrder;
use trawl_core::primitives::{Address, BlockRange};
use trawl_core::schema::columns::columns;
use trawl_core::statement::{Statement, Workload};

columns! {
    /// An address, and the transactions to it.
    pub struct CalledContract / CalledContractView {
        /// Recipient of the transactions.
        address: Address,
        /// Number of its transactions.
        transactions: u64,
        /// Gas that they used, as far as their receipts are loaded.
        gas: u64,
        /// Logs that one of them has, at most.
        logs: u32,
    }
}

columns! {
    /// The size of a sum.
    pub struct CalledSize / CalledSizeView {
        /// Transactions in the blocks.
        transactions: u64,
    }
}

/// Most transactions that are added up: 10 million to two million addresses take 5 s of a processor.
pub const MAX_TRANSACTIONS: u64 = 40_000_000;
/// Most addresses in the result of a range.
pub const MAX_CALLED: u64 = 10_000;

/// The order of the addresses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CalledBy {
    /// The number of transactions.
    #[default]
    Transactions,
    /// The gas that they used.
    Gas,
}

/// Settings of a read of millions of rows: groups beyond 256 MiB go to disk.
const SETTINGS: &[(&str, &str)] = &[("max_threads", "2"), ("max_bytes_before_external_group_by", "268435456")];

/// How many transactions the settled blocks of some ranges have.
#[must_use]
pub fn size(ranges: &[BlockRange]) -> Statement<CalledSize> {
    let sql = format!(
        "SELECT toUInt64(sum(transactions_count)) AS transactions\nFROM blocks\nWHERE {}",
        settled_blocks("block_number", ranges).join("\n  AND ")
    );
    statement(ranges, sql)
}

/// The addresses that most transactions of the settled blocks of `range` were sent to, or that used most gas.
#[must_use]
pub fn called(range: BlockRange, by: CalledBy, sorting: SortOrder) -> Statement<CalledContract> {
    let word = if sorting == SortOrder::SmallestFirst { "ASC" } else { "DESC" };
    let order = match by {
        CalledBy::Transactions => "transactions",
        CalledBy::Gas => "gas",
    };
    let sql = format!(
        "SELECT assumeNotNull(to_address) AS address, count() AS transactions,
  sumIf(gas_used, has_receipt = 1) AS gas, maxIf(logs_count, has_receipt = 1) AS logs
FROM transactions
WHERE to_address IS NOT NULL
  AND {}
GROUP BY address
ORDER BY {order} {word}, address
LIMIT {{limit:UInt64}}",
        settled_blocks("block_number", &[range]).join("\n  AND ")
    );
    let mut statement = statement(&[range], sql).with("limit", MAX_CALLED);
    statement.settings = SETTINGS;
    statement
}

fn statement<R>(ranges: &[BlockRange], sql: String) -> Statement<R> {
    let mut statement: Statement<R> = Select::default().blocks("block_number", &ranges.to_vec().into()).statement(sql);
    statement.workload = Workload::Scan;
    statement.is_settled = true;
    statement
}
