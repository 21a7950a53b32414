//! Plans for what is summed over all transactions and transfers of an address in settled blocks: one range of a key
//! each.

use crate::select::{Select, settled_blocks};
use trawl_core::primitives::{Address, BlockRange, U256};
use trawl_core::schema::columns::columns;
use trawl_core::statement::{SUM_SETTINGS, Statement, Workload};

columns! {
    /// Transactions of an address.
    pub struct TransactionTotals / TransactionTotalsView {
        /// How many it takes part in.
        transactions: u64,
        /// Those of them without a receipt, whose gas is not known.
        without_receipt: u64,
        /// Gas of those it sent.
        gas_sent: U256,
        /// Gas of those sent to it.
        gas_received: U256,
    }
}

columns! {
    /// Token transfers of an address.
    pub struct TransferTotals / TransferTotalsView {
        /// How many it takes part in.
        transfers: u64,
    }
}

/// The transactions that `address` takes part in. `transactions_by_address` may have a row twice: rows of a position,
/// which are next to each other, are grouped as they are read.
#[must_use]
pub fn transactions(address: &Address, settled: &[BlockRange]) -> Statement<TransactionTotals> {
    let sql = format!(
        "SELECT count() AS transactions, countIf(gas IS NULL) AS without_receipt,
  toUInt256(sumIf(ifNull(gas, 0), side IN (1, 3))) AS gas_sent, toUInt256(sumIf(ifNull(gas, 0), side IN (2, 3))) AS gas_received
FROM
(
  SELECT any(sides) AS side, any(gas_used) AS gas
  FROM transactions_by_address
  WHERE address = toFixedString(unhex({{address:String}}), 20)
    AND {}
  GROUP BY address, block_number, transaction_index
)",
        settled_blocks("block_number", settled).join("\n    AND ")
    );
    totals(address, settled, sql)
}

/// The token transfers that `address` takes part in.
#[must_use]
pub fn transfers(address: &Address, settled: &[BlockRange]) -> Statement<TransferTotals> {
    let sql = format!(
        "SELECT count() AS transfers
FROM token_transfers
WHERE address = toFixedString(unhex({{address:String}}), 20)
  AND {}",
        settled_blocks("block_number", settled).join("\n  AND ")
    );
    totals(address, settled, sql)
}

fn totals<R>(address: &Address, settled: &[BlockRange], sql: String) -> Statement<R> {
    let select = Select::default().blocks("block_number", &settled.to_vec().into());
    let mut statement: Statement<R> = select.with("address", address).statement(sql);
    statement.settings = SUM_SETTINGS;
    statement.workload = Workload::Scan;
    statement.is_in_tables = !settled.is_empty();
    statement.is_settled = true;
    statement
}
