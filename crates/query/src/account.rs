//! Plans for the lists of an account, from either end: positions first, which are small, then the rows at some of them.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use super::select::{Select, to_recipient};
use super::walk::{Order, Walk};
use crate::transactions::positions::{PositionRow, TransactionPositions, at_heights};
use trawl_core::newest::Predicate;
use trawl_core::primitives::{Address, BlockNumber, Direction};
use trawl_core::readable::Span;
use trawl_core::schema::TransactionRow;
use trawl_core::statement::{Parameter, Statement};

pub mod frames;
pub mod funding;
pub mod transfers;

/// The key of a transaction.
const TRANSACTION: [&str; 2] = ["block_number", "transaction_index"];

/// The positions of the transactions that an account takes part in, in those of `blocks` that are not settled.
#[must_use]
pub fn newest_transactions(
    account: &Address,
    side: Option<Direction>,
    blocks: &Span,
    walk: Walk,
) -> Statement<PositionRow> {
    unsettled_of(account, side, blocks).page("transactions", &walk.order_by(), walk.limit)
}

/// Those from one account to another.
#[must_use]
pub fn newest_between(sender: &Address, recipient: &Address, blocks: &Span, walk: Walk) -> Statement<PositionRow> {
    let select = unsettled_of(sender, Some(Direction::From), blocks);
    to_recipient(select, &["to_address", "contract_address"], recipient).page(
        "transactions",
        &walk.order_by(),
        walk.limit,
    )
}

/// The transactions that an account takes part in, in those of `blocks` that are not settled.
pub(crate) fn unsettled_of(account: &Address, side: Option<Direction>, blocks: &Span) -> Select {
    let columns = match side {
        None => vec!["from_address", "to_address", "contract_address"],
        Some(Direction::From) => vec!["from_address"],
        Some(Direction::To) => vec!["to_address", "contract_address"],
    };
    let any: Vec<String> =
        columns.iter().map(|column| format!("{column} = toFixedString(unhex({{address:String}}), 20)")).collect();
    Select::default()
        .blocks("block_number", &blocks.without_settled())
        .newest_condition(format!("({})", any.join(" OR ")), Predicate::among_any(columns, &[account]))
        .with("address", account)
}

/// The transactions at `positions`, in either order.
#[must_use]
pub fn transactions(positions: &TransactionPositions, blocks: &Span, order: Order) -> Statement<TransactionRow> {
    let walk = Walk { order, limit: positions.len() as u64, ..Walk::default() };
    at(positions, blocks).page("transactions", &walk.order_by(), walk.limit)
}

fn at(positions: &TransactionPositions, blocks: &Span) -> Select {
    let keys: Vec<Vec<u64>> = positions.iter().map(|(block, index)| vec![*block, u64::from(*index)]).collect();
    let pairs = positions.iter().map(|(block, index)| (*block, u64::from(*index))).collect();
    let among = "(block_number, transaction_index) IN {positions:Array(Tuple(UInt64, UInt64))} \
                 AND block_number IN {heights:Array(UInt64)}";
    at_keys(&TRANSACTION, &keys, blocks, among).with("positions", Parameter::Ranges(pairs))
}

/// Reads rows at keys, which begin with a height, of these alone: `among` says so in SQL. Its parameter `heights` has
/// the heights, by which `Distributed` tables leave shards out: they do not by tuples.
pub(super) fn at_keys(columns: &[&'static str], keys: &[Vec<u64>], blocks: &Span, among: &'static str) -> Select {
    let numbers: BTreeSet<BlockNumber> = keys.iter().map(|key| key[0]).collect();
    let blocks = at_heights(&numbers, blocks);
    let is_newest = |block: u64| blocks.newest.ranges().iter().any(|range| range.contains(block));
    let newest = keys.iter().filter(|key| is_newest(key[0]));
    let tests =
        newest.map(|key| Predicate::Position { columns: columns.to_vec(), is: Ordering::Equal, than: key.clone() });
    Select::default()
        .condition(among, Predicate::AnyOf(tests.collect()))
        .with("heights", Parameter::Numbers(numbers.into_iter().collect()))
        .blocks("block_number", &blocks)
}

#[cfg(test)]
mod tests {
    use super::*;
    use trawl_core::primitives::BlockRange;

    fn blocks() -> Span {
        vec![BlockRange::new(5, 900).expect("ordered")].into()
    }

    #[test]
    fn rows_are_read_at_their_positions() {
        let positions = [(7, 1), (9, 0)].into();
        insta::assert_snapshot!(transactions(&positions, &blocks(), Order::OldestFirst).sql, @r"
        SELECT block_number, transaction_index, hash, block_hash, block_timestamp, transaction_type, from_address, to_address, nonce, value, gas_limit, gas_price, max_fee_per_gas, max_priority_fee_per_gas, max_fee_per_blob_gas, input, chain_id, access_list, blob_versioned_hashes, authorization_list, v, r, s, has_receipt, status, post_state_root, gas_used, cumulative_gas_used, effective_gas_price, contract_address, blob_gas_used, blob_gas_price, logs_count, raw_transaction, raw_receipt, l1_fee, operator_fee, extra_fields, receipt_extra_fields, lacking
        FROM transactions
        WHERE (block_number, transaction_index) IN {positions:Array(Tuple(UInt64, UInt64))} AND block_number IN {heights:Array(UInt64)}
          AND block_number BETWEEN {first:UInt64} AND {last:UInt64}
        ORDER BY block_number ASC, transaction_index ASC
        LIMIT {limit:UInt64}
        ");
    }
}
