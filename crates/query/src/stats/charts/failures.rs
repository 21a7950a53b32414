//! Why transactions failed, by contract and method.

use super::of_blocks;
use crate::select::settled_blocks;
use crate::stats::fees::{FEE, LACKS_FEE};
use trawl_core::primitives::{Address, BlockRange, Bytes, U256};
use trawl_core::schema::columns::columns;
use trawl_core::statement::Statement;

columns! {
    /// Transactions that failed in the same way.
    pub struct FailureSum / FailureSumView {
        /// The contract that they called; none for creations.
        to_address: Option<Address>,
        /// The first four bytes of the input, or fewer if it has no more; of a creation none.
        selector: Bytes,
        /// Whether the call frames are loaded, which alone have the reason.
        has_frame: u8,
        /// The error message of the node.
        error: String,
        /// What the code returned: all of a message that is not too long, else the first four bytes.
        output: Bytes,
        /// Number of these transactions.
        transactions: u64,
        /// Gas that they used.
        gas: U256,
        /// Wei that they paid.
        fees: U256,
        /// Those of which neither is known.
        without_gas: u64,
        /// The number of all such groups.
        groups: u64,
    }
}

columns! {
    /// The size of a read.
    pub struct FailuresSize / FailuresSizeView {
        /// Transactions that failed.
        failed: u64,
        /// Those of which it is not known whether they did.
        without_status: u64,
    }
}

/// Most failures whose reasons are looked up.
pub const MAX_FAILURES: u64 = 2_000_000;
/// Groups of an answer.
pub const MAX_SHOWN: u64 = 100;

/// The condition of transactions whose failures are requested.
fn of(contract: Option<&Address>, blocks: &str) -> String {
    match contract {
        Some(_) => format!(
            "to_address = toFixedString(unhex({{address:String}}), 20)
    AND (block_number, transaction_index) GLOBAL IN
    (
      SELECT block_number, transaction_index
      FROM transactions_by_address
      WHERE address = toFixedString(unhex({{address:String}}), 20)
        AND has([2, 3], sides)
        AND {blocks}
    )
    AND {blocks}"
        ),
        None => blocks.to_owned(),
    }
}

/// How many transactions in settled blocks failed, of those to `contract` or of all.
#[must_use]
pub fn size(contract: Option<&Address>, settled: &[BlockRange]) -> Statement<FailuresSize> {
    let blocks = settled_blocks("block_number", settled).join(" AND ");
    let sql = format!(
        "SELECT countIf(has_receipt = 1 AND status = 0) AS failed,
  countIf(has_receipt = 0 OR status IS NULL) AS without_status
FROM transactions
WHERE {}",
        of(contract, &blocks)
    );
    with_contract(of_blocks(settled, sql), contract)
}

/// The failures of settled blocks, to `contract` or all, the most frequent ones first. The outermost call frame says
/// why.
#[must_use]
pub fn sums(contract: Option<&Address>, settled: &[BlockRange]) -> Statement<FailureSum> {
    let blocks = settled_blocks("block_number", settled).join(" AND ");
    let failed = format!("has_receipt = 1 AND status = 0\n    AND {}", of(contract, &blocks));
    let sql = format!(
        "SELECT *, count() OVER () AS groups
FROM
(
  SELECT to_address, selector, has_frame, error, output, count() AS transactions,
    sum(toUInt256(gas_used)) AS gas, sum(fee) AS fees, sum(is_without_gas) AS without_gas
  FROM
  (
    SELECT block_number, transaction_index, to_address,
      if(to_address IS NULL, '', substring(input, 1, 4)) AS selector, gas_used, {FEE} AS fee,
      toUInt8({LACKS_FEE}) AS is_without_gas
    FROM transactions
    WHERE {failed}
  ) AS failures
  GLOBAL LEFT JOIN
  (
    SELECT block_number, transaction_index, toUInt8(1) AS has_frame, error,
      if(substring(output, 1, 4) IN (unhex('08c379a0'), unhex('4e487b71')) AND length(output) <= 1092, output, substring(output, 1, 4)) AS output
    FROM internal_transactions
    WHERE (block_number, transaction_index, frame_index) GLOBAL IN
    (
      SELECT block_number, transaction_index, toUInt32(0)
      FROM transactions
      WHERE {failed}
    )
    AND {blocks}
  ) AS frames USING (block_number, transaction_index)
  GROUP BY to_address, selector, has_frame, error, output
)
ORDER BY transactions DESC, to_address, selector, has_frame, error, output
LIMIT {{limit:UInt64}}"
    );
    with_contract(of_blocks(settled, sql).with("limit", MAX_SHOWN), contract)
}

fn with_contract<R>(statement: Statement<R>, contract: Option<&Address>) -> Statement<R> {
    match contract {
        Some(contract) => statement.with("address", contract),
        None => statement,
    }
}
