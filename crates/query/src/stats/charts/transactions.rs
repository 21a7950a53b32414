//! The transactions of the chain by period, and who sent them.

use super::by_period;
use crate::select::settled_blocks;
use crate::stats::fees::{FEE, LACKS_FEE};
use trawl_core::primitives::{BlockNumber, BlockRange, U256};
use trawl_core::schema::columns::columns;
use trawl_core::statement::Statement;

columns! {
    /// What the transactions of a period add up to.
    pub struct PeriodSum / PeriodSumView {
        /// The block that the period starts with.
        start: u64,
        /// Number of transactions.
        transactions: u64,
        /// Those that failed.
        failed: u64,
        /// Those of which that is not known.
        without_status: u64,
        /// Gas that they used.
        gas: U256,
        /// Gas that failed ones used.
        failed_gas: U256,
        /// Wei that they paid.
        fees: U256,
        /// Wei that failed ones paid.
        failed_fees: U256,
        /// Those of which neither is known.
        without_gas: u64,
        /// Accounts that sent one.
        senders: u64,
        /// Those that sent their first one: it has the nonce 0.
        new_senders: u64,
        /// Transactions of which the nonce is not known.
        without_nonce: u64,
    }
}

/// The sums of the transactions in settled blocks, by the last one of `starts`, ascending, that is not above their
/// block. An account is counted once for each period, so that sums of periods are no sum of a longer one.
#[must_use]
pub fn sums(starts: &[BlockNumber], settled: &[BlockRange]) -> Statement<PeriodSum> {
    let sql = format!(
        "SELECT start, sum(transactions) AS transactions, sum(failed) AS failed, sum(without_status) AS without_status,
  sum(gas) AS gas, sum(failed_gas) AS failed_gas, sum(fees) AS fees, sum(failed_fees) AS failed_fees,
  sum(without_gas) AS without_gas, count() AS senders, countIf(firsts > 0) AS new_senders,
  sum(without_nonce) AS without_nonce
FROM
(
  SELECT roundDown(block_number, {{starts:Array(UInt64)}}) AS start, count() AS transactions,
    countIf(has_receipt = 1 AND status = 0) AS failed,
    countIf(has_receipt = 0 OR status IS NULL) AS without_status,
    sum(toUInt256(gas_used)) AS gas,
    sumIf(toUInt256(gas_used), has_receipt = 1 AND status = 0) AS failed_gas,
    sum({FEE}) AS fees,
    sumIf({FEE}, has_receipt = 1 AND status = 0) AS failed_fees,
    countIf(has_receipt = 0 OR {LACKS_FEE}) AS without_gas,
    countIf(nonce = 0) AS firsts,
    countIf(has(lacking, 'nonce')) AS without_nonce
  FROM transactions
  WHERE {}
  GROUP BY start, from_address
)
GROUP BY start
ORDER BY start",
        settled_blocks("block_number", settled).join("\n    AND ")
    );
    by_period(starts, settled, sql)
}
