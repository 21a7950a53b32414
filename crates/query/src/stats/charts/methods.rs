//! The transactions to a contract by day and method.

use super::{DAY, MAX_NEWEST, grouped};
use crate::select::{Select, settled_blocks};
use crate::stats::fees::{FEE, LACKS_FEE};
use trawl_core::newest::Predicate;
use trawl_core::primitives::{Address, BlockRange, Bytes, Timestamp, U256};
use trawl_core::readable::Span;
use trawl_core::schema::columns::columns;
use trawl_core::statement::Statement;

columns! {
    /// What the calls of a method on a day add up to.
    pub struct MethodSum / MethodSumView {
        /// Days since 1970.
        day: u64,
        /// The first four bytes of the input, or fewer if it has no more.
        selector: Bytes,
        /// Number of transactions.
        calls: u64,
        /// Those that failed.
        failed: u64,
        /// Those of which that is not known.
        without_status: u64,
        /// Gas that they used.
        gas: U256,
        /// Wei that they paid for it.
        fees: U256,
        /// Those of which neither is known.
        without_gas: u64,
    }
}

columns! {
    /// A transaction to the contract, with what is added up of it.
    pub struct Call / CallView {
        /// Time of its block.
        block_timestamp: Timestamp,
        /// Its input, of which a table gives the first four bytes.
        input: Bytes,
        /// Whether the outcome is known.
        has_receipt: u8,
        /// 1 success, 0 failure; none where receipts do not say.
        status: Option<u8>,
        /// Gas that it used.
        gas_used: u64,
        /// Wei for each gas.
        effective_gas_price: U256,
        /// Wei paid for data on L1; none where the chain has no such fee.
        l1_fee: Option<U256>,
        /// Wei that the operator of a rollup took; none where the chain has no such fee.
        operator_fee: Option<U256>,
        /// Columns that the source did not have.
        lacking: Vec<String>,
    }
}

/// The sums of the transactions to `contract` in settled blocks.
#[must_use]
pub fn sums(contract: &Address, settled: &[BlockRange]) -> Statement<MethodSum> {
    let blocks = settled_blocks("block_number", settled).join("\n    AND ");
    let sql = format!(
        "SELECT {DAY} AS day, substring(input, 1, 4) AS selector, count() AS calls,
  countIf(has_receipt = 1 AND status = 0) AS failed,
  countIf(has_receipt = 0 OR status IS NULL) AS without_status,
  sum(toUInt256(transactions.gas_used)) AS gas,
  sum({FEE}) AS fees,
  countIf(has_receipt = 0 OR {LACKS_FEE}) AS without_gas
FROM transactions
WHERE to_address = toFixedString(unhex({{address:String}}), 20)
  AND (block_number, transaction_index) GLOBAL IN
  (
    SELECT block_number, transaction_index
    FROM transactions_by_address
    WHERE address = toFixedString(unhex({{address:String}}), 20)
    AND has([2, 3], sides)
    AND {blocks}
  )
  AND {blocks}
GROUP BY day, selector
ORDER BY day, selector
LIMIT {{limit:UInt64}}"
    );
    grouped(contract, settled, sql)
}

/// The columns of a call: of an input no more than tells the method.
const COLUMNS: &str = "block_timestamp, substring(input, 1, 4) AS input, has_receipt, status, gas_used, effective_gas_price, l1_fee, operator_fee, lacking";

/// The transactions to it in the blocks of `span`.
#[must_use]
pub fn newest(contract: &Address, span: &Span) -> Statement<Call> {
    Select::default()
        .blocks("block_number", span)
        .newest_condition(
            "to_address = toFixedString(unhex({address:String}), 20)",
            Predicate::among("to_address", &[contract]),
        )
        .with("address", contract)
        .page_of(COLUMNS, "transactions", "block_number, transaction_index", MAX_NEWEST)
}
