//! Plans for what the rows of an address add up to by day: of settled blocks one statement groups the range of its key,
//! the rows of newer blocks come one by one.

pub mod coins;
pub mod counterparties;
pub mod events;
pub mod failures;
pub mod methods;
pub mod mining;
pub mod participants;
pub mod prices;
pub mod same_code;
pub mod totals;
pub mod transactions;
pub mod transfers;

use crate::select::Select;
use trawl_core::primitives::{Address, BlockNumber, BlockRange, U256};
use trawl_core::statement::{Parameter, SUM_SETTINGS, Statement, Workload};

/// Groups of an answer, at most.
pub const MAX_GROUPS: u64 = 100_000;
/// Rows of blocks that are not settled, at most.
pub const MAX_NEWEST: u64 = 500_000;

/// The day of a row, in days since 1970.
const DAY: &str = "toUInt64(intDiv(toUnixTimestamp64Micro(block_timestamp), 86400000000))";

/// A sum of amounts from the sums of their upper and lower halves; `None` if it does not fit 256 bits.
fn whole(upper: U256, lower: U256) -> Option<U256> {
    let upper = upper.checked_add(lower >> 128)?;
    (upper.bit_len() <= 128).then(|| (upper << 128) | (lower & U256::from(u128::MAX)))
}

/// A statement that groups rows of an address in some settled blocks.
fn grouped<R>(address: &Address, settled: &[BlockRange], sql: String) -> Statement<R> {
    let select = Select::default().blocks("block_number", &settled.to_vec().into()).with("address", address);
    let mut statement: Statement<R> = select.with("limit", MAX_GROUPS).statement(sql);
    statement.settings = SUM_SETTINGS;
    statement.workload = Workload::Scan;
    statement.is_in_tables = !settled.is_empty();
    statement.is_settled = true;
    statement
}

/// Settings of a read of millions of rows: groups beyond 256 MiB go to disk.
const MANY_ROWS: &[(&str, &str)] = &[("max_threads", "2"), ("max_bytes_before_external_group_by", "268435456")];

/// A statement that reads many rows of some settled blocks, whatever address they are of.
fn of_blocks<R>(settled: &[BlockRange], sql: String) -> Statement<R> {
    let mut statement: Statement<R> = Select::default().blocks("block_number", &settled.to_vec().into()).statement(sql);
    statement.settings = MANY_ROWS;
    statement.workload = Workload::Scan;
    statement.is_in_tables = !settled.is_empty();
    statement.is_settled = true;
    statement
}

/// The same by the last one of `starts`, ascending, that is not above the block of a row.
fn by_period<R>(starts: &[BlockNumber], settled: &[BlockRange], sql: String) -> Statement<R> {
    of_blocks(settled, sql).with("starts", Parameter::Numbers(starts.to_vec()))
}
