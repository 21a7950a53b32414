//! Plans for what the blocks of a day add up to.

use crate::select::{Select, settled_blocks};
use trawl_core::primitives::{BlockRange, Timestamp, U256};
use trawl_core::readable::Span;
use trawl_core::schema::columns::columns;
use trawl_core::statement::{Parameter, Statement};

columns! {
    /// What the settled blocks of a day add up to.
    pub struct DaySums / DaySumsView {
        /// Days since 1970.
        day: u64,
        /// The lowest block.
        first_block: u64,
        /// The highest block.
        last_block: u64,
        /// Number of blocks.
        blocks: u64,
        /// Transactions in them.
        transactions: u64,
        /// Gas they used.
        gas_used: U256,
        /// Gas they could use.
        gas_limit: U256,
        /// Blocks of which one of the two is not known.
        without_gas: u64,
        /// Wei that transactions paid for gas.
        fees: U256,
        /// Blocks of which that is not known.
        without_fees: u64,
        /// Bytes of the blocks whose size is known, in sum.
        size: u64,
        /// Blocks of which that is not known.
        without_size: u64,
        /// The base fees of the blocks, in wei.
        base_fees: U256,
        /// The lowest of them.
        lowest_base_fee: U256,
        /// The highest of them.
        highest_base_fee: U256,
        /// Wei of fees that were burnt.
        burnt: U256,
        /// Blocks of which that is not known.
        without_burnt: u64,
        /// Wei of fees above the base fee.
        tips: U256,
        /// Blocks of which that is not known.
        without_tips: u64,
        /// Blocks that have no base fee, or of which it is not known.
        without_base_fee: u64,
        /// Blob gas they used.
        blob_gas_used: u64,
        /// Blocks that have no blob gas, or of which it is not known.
        without_blob_gas: u64,
        /// The timestamp of the lowest block.
        first_timestamp: Timestamp,
        /// The timestamp of the highest block.
        last_timestamp: Timestamp,
    }
}

columns! {
    /// What a block adds to its day.
    pub struct BlockOfDay / BlockOfDayView {
        /// Height of the block.
        block_number: u64,
        /// Timestamp of the header, which says the day.
        timestamp: Timestamp,
        /// Transactions in it.
        transactions_count: u32,
        /// Gas it used.
        gas_used: u64,
        /// Gas it could use.
        gas_limit: u64,
        /// Wei that transactions paid for gas; none without receipts.
        transaction_fees: Option<U256>,
        /// Bytes; none if the source did not say.
        size: Option<u64>,
        /// Wei for each gas; none before London.
        base_fee_per_gas: Option<U256>,
        /// Wei of fees that were burnt; none where that is not known.
        burnt_fees: Option<U256>,
        /// Wei of fees above the base fee; none where that is not known.
        priority_fees: Option<U256>,
        /// Blob gas it used; none before Cancun.
        blob_gas_used: Option<u64>,
        /// Columns that the source did not have.
        lacking: Vec<String>,
    }
}

/// Days of a read, at most: 273 years.
pub const MAX_DAYS: u64 = 100_000;
/// Newest blocks of a read, at most.
pub const MAX_BLOCKS: u64 = 1_000_000;

/// The smallest run of blocks that has a statement of its own, but for the ends of a range.
const SMALLEST: u64 = 1 << 12;

/// The longest run, as a power of two: one of four million blocks is read in about a second.
const LARGEST: u32 = 22;

/// Cuts a range into runs that begin at multiples of their lengths, which are powers of two: as a chain grows, the runs
/// before its end stay what they are, and with them the statements that read them.
#[must_use]
pub fn runs(range: BlockRange) -> Vec<BlockRange> {
    let (mut first, last) = (range.first(), range.last());
    let mut runs = Vec::new();
    loop {
        let left = (last - first).saturating_add(1);
        // What is below a multiple of the smallest length, or behind the last one, is one run.
        let to_multiple = SMALLEST - first % SMALLEST;
        let length = if first % SMALLEST != 0 || left < SMALLEST {
            to_multiple.min(left)
        } else {
            let aligned = if first == 0 { 63 } else { first.trailing_zeros() };
            1 << aligned.min(left.ilog2()).min(LARGEST)
        };
        let end = first + (length - 1);
        runs.extend(BlockRange::new(first, end));
        if end >= last {
            return runs;
        }
        first = end + 1;
    }
}

/// The days of the settled blocks of some ranges.
#[must_use]
pub fn of_settled(ranges: &[BlockRange]) -> Statement<DaySums> {
    let sql = format!(
        "SELECT
    toUInt64(intDiv(toUnixTimestamp64Micro(timestamp), 86400000000)) AS day,
    min(block_number) AS first_block,
    max(block_number) AS last_block,
    count() AS blocks,
    sum(transactions_count) AS transactions,
    toUInt256(sum(headers.gas_used)) AS gas_used,
    toUInt256(sum(headers.gas_limit)) AS gas_limit,
    countIf(hasAny(lacking, ['gas_used', 'gas_limit'])) AS without_gas,
    sum(ifNull(transaction_fees, 0)) AS fees,
    countIf(isNull(transaction_fees) OR has(lacking, 'transaction_fees')) AS without_fees,
    sum(ifNull(headers.size, 0)) AS size,
    countIf(isNull(headers.size) OR has(lacking, 'size')) AS without_size,
    sum(ifNull(base_fee_per_gas, 0)) AS base_fees,
    min(ifNull(base_fee_per_gas, 0)) AS lowest_base_fee,
    max(ifNull(base_fee_per_gas, 0)) AS highest_base_fee,
    sum(ifNull(burnt_fees, 0)) AS burnt,
    countIf(isNull(burnt_fees) OR hasAny(lacking, ['base_fee_per_gas', 'gas_used'])) AS without_burnt,
    sum(ifNull(priority_fees, 0)) AS tips,
    countIf(isNull(priority_fees) OR has(lacking, 'priority_fees')) AS without_tips,
    countIf(isNull(base_fee_per_gas) OR has(lacking, 'base_fee_per_gas')) AS without_base_fee,
    sum(ifNull(headers.blob_gas_used, 0)) AS blob_gas_used,
    countIf(isNull(headers.blob_gas_used) OR has(lacking, 'blob_gas_used')) AS without_blob_gas,
    min(timestamp) AS first_timestamp,
    max(timestamp) AS last_timestamp
FROM blocks AS headers
WHERE {}
GROUP BY day
ORDER BY day
LIMIT {{limit:UInt64}}",
        settled_blocks("block_number", ranges).join("\n  AND ")
    );
    let select = Select::default().blocks("block_number", &ranges.to_vec().into());
    let mut statement = select.with("limit", MAX_DAYS).statement(sql);
    statement.is_settled = true;
    statement
}

/// The blocks of `span` one by one.
#[must_use]
pub fn of_newest(span: &Span) -> Statement<BlockOfDay> {
    Select::default().blocks("block_number", span).page("blocks", "block_number", MAX_BLOCKS)
}

columns! {
    /// What some blocks add up to.
    pub struct FeeSums / FeeSumsView {
        /// Number of blocks.
        blocks: u64,
        /// Transactions in them.
        transactions: u64,
        /// Wei that transactions paid for gas.
        fees: U256,
        /// Blocks of which that is not known.
        without_fees: u64,
    }
}

/// What the settled blocks of some ranges with a time after `since` add up to.
#[must_use]
pub fn fees_since(ranges: &[BlockRange], since: Timestamp) -> Statement<FeeSums> {
    let sql = format!(
        "SELECT
    count() AS blocks,
    sum(transactions_count) AS transactions,
    sum(ifNull(transaction_fees, 0)) AS fees,
    countIf(isNull(transaction_fees) OR has(lacking, 'transaction_fees')) AS without_fees
FROM blocks
WHERE {}
  AND timestamp > fromUnixTimestamp64Micro(toInt64({{since:UInt64}}), 'UTC')",
        settled_blocks("block_number", ranges).join("\n  AND ")
    );
    let select = Select::default().blocks("block_number", &ranges.to_vec().into());
    let mut statement =
        select.with("since", Parameter::Number(u64::try_from(since.micros()).unwrap_or(0))).statement(sql);
    statement.is_settled = true;
    statement
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(first: u64, last: u64) -> Vec<(u64, u64)> {
        let range = BlockRange::new(first, last).expect("ordered");
        runs(range).into_iter().map(|run| (run.first(), run.last())).collect()
    }

    #[test]
    fn runs_stay_as_a_chain_grows() {
        assert_eq!(cut(0, 10), [(0, 10)]);
        assert_eq!(cut(0, 12_290), [(0, 8191), (8192, 12_287), (12_288, 12_290)]);
        assert_eq!(cut(5, 9000), [(5, 4095), (4096, 8191), (8192, 9000)]);
        assert_eq!(cut(7, 7), [(7, 7)]);
        for last in [22_869_878, 22_869_979, 300_000_000] {
            let runs = cut(3, last);
            assert!(runs.windows(2).all(|pair| pair[0].1 + 1 == pair[1].0), "{runs:?}");
            assert!(runs.len() < 128 && runs.first() == Some(&(3, 4095)) && runs.last().map(|run| run.1) == Some(last));
        }
        let (before, after) = (cut(0, 22_869_878), cut(0, 22_869_979));
        assert_eq!(before[..before.len() - 1], after[..before.len() - 1]);
    }
}
