//! Plans for transaction reads.

pub mod internal;
pub mod pairs;
pub mod participation;
pub mod positions;
pub mod receipts;
pub mod sorted;

use std::borrow::Cow;
use std::cmp::Ordering;

use super::select::{Select, settled_blocks};
use super::walk::{Order, Walk};
use positions::PositionRow;
use trawl_core::newest::Predicate;
use trawl_core::primitives::{
    Address, B256, BlockNumber, BlockRange, Bytes, Direction, Timestamp, TransactionType, U256, hash_prefix,
};
use trawl_core::readable::Span;
use trawl_core::schema::columns::columns;
use trawl_core::schema::{Columns, TransactionRow};
use trawl_core::statement::{Parameter, Statement};

columns! {
    /// Position and hash of a transaction.
    pub struct TransactionHash / TransactionHashView {
        /// Position in the block.
        transaction_index: u32,
        /// Keccak-256 of its encoding (EIP-2718).
        hash: B256,
    }
}

columns! {
    /// Callee and selector of a transaction.
    pub struct TransactionSelector / TransactionSelectorView {
        /// Height of its block.
        block_number: u64,
        /// Position in the block.
        transaction_index: u32,
        /// The first four bytes of its input; fewer if it has fewer.
        selector: Bytes,
        /// Callee; none for a creation.
        to_address: Option<Address>,
    }
}

columns! {
    /// What a transaction moves, and between whom.
    pub struct TransactionMove / TransactionMoveView {
        /// Height of its block.
        block_number: u64,
        /// Position in the block.
        transaction_index: u32,
        /// Keccak-256 of its encoding (EIP-2718).
        hash: B256,
        /// Timestamp of its block.
        block_timestamp: Timestamp,
        /// Sender, `from` of JSON-RPC.
        from_address: Address,
        /// Recipient; none for a creation.
        to_address: Option<Address>,
        /// Wei sent to the recipient or to the created contract.
        value: U256,
        /// The first four bytes of its input, or more.
        input: Bytes,
        /// 1 if the source had the receipt; if 0, the columns below mean nothing.
        has_receipt: u8,
        /// 1 success, 0 failure; none before Byzantium (EIP-658).
        status: Option<u8>,
        /// Contract it created, successful or not.
        contract_address: Option<Address>,
        /// Logs that it emitted.
        logs_count: u32,
        /// Columns the source did not have.
        lacking: Vec<String>,
    }
}

columns! {
    /// Callee and input of a transaction.
    pub struct TransactionInput / TransactionInputView {
        /// Height of its block.
        block_number: u64,
        /// Position in the block.
        transaction_index: u32,
        /// Callee; none for a creation.
        to_address: Option<Address>,
        /// Call data, or init code of a creation.
        input: Bytes,
    }
}

/// Callees and selectors of the transactions at these positions (height, position), as far as they are in tables;
/// `blocks` are the readable ones. Each table is read only if some of the positions lie in its blocks.
#[must_use]
pub fn selectors(positions: &[(u64, u64)], blocks: &Span) -> Statement<TransactionSelector> {
    let is_hot = |position: &(u64, u64)| blocks.hot.iter().any(|range| range.blocks.contains(position.0));
    let is_settled = |position: &(u64, u64)| blocks.settled.iter().any(|range| range.contains(position.0));
    let settled = include_str!("../../../sql/queries/transaction_selectors.sql");
    let newest = include_str!("../../../sql/queries/newest_transaction_selectors.sql");
    let mut statement = match (positions.iter().any(is_settled), positions.iter().any(is_hot)) {
        (_, false) => Statement::page(settled),
        (false, true) => Statement::page(newest).with("generations", blocks.hot.as_slice()),
        (true, true) => {
            Statement::page(format!("{settled}\nUNION ALL\n{newest}")).with("generations", blocks.hot.as_slice())
        }
    };
    statement.is_in_tables = positions.iter().any(|position| is_settled(position) || is_hot(position));
    statement.with("positions", Parameter::Ranges(positions.to_vec()))
}

/// Callees and inputs of the transactions of a block in memory; of no other block.
#[must_use]
pub fn newest_inputs(block: BlockNumber, blocks: &Span) -> Statement<TransactionInput> {
    let newest = Span { newest: blocks.newest.within(BlockRange::single(block)), ..Span::default() };
    in_block(&newest).page("transactions", "transaction_index", MAX_PER_BLOCK)
}

/// Most transactions a block can hold: a plain transfer costs 21,000 gas, and no chain has blocks of 21 billion.
const MAX_PER_BLOCK: u64 = 1_000_000;

/// All transactions of a block, in order.
#[must_use]
pub fn of_block(block: &Span) -> Statement<TransactionRow> {
    in_block(block).page("transactions", "transaction_index", MAX_PER_BLOCK)
}

/// The hashes of a block's transactions, in order.
#[must_use]
pub fn hashes_of_block(block: &Span) -> Statement<TransactionHash> {
    in_block(block).page("transactions", "transaction_index", MAX_PER_BLOCK)
}

/// The transaction at a position in a block.
#[must_use]
pub fn in_block_at(block: &Span, transaction_index: u32) -> Statement<TransactionRow> {
    let test = Predicate::equals("transaction_index", transaction_index.into());
    let select = in_block(block).condition("transaction_index = {transaction_index:UInt32}", test);
    select.with("transaction_index", u64::from(transaction_index)).page("transactions", "transaction_index", 1)
}

/// Transactions of a block in order, those after a position.
#[must_use]
pub fn in_block_after(block: &Span, after: Option<u64>, limit: u64) -> Statement<TransactionRow> {
    let select = match after {
        Some(after) => in_block(block)
            .condition(
                "transaction_index > {after_transaction:UInt64}",
                Predicate::Position { columns: vec!["transaction_index"], is: Ordering::Greater, than: vec![after] },
            )
            .with("after_transaction", after),
        None => in_block(block),
    };
    select.page("transactions", "transaction_index", limit)
}

fn in_block(block: &Span) -> Select {
    Select::default().blocks("block_number", block)
}

/// The transactions with this hash: none, one, or, while a batch is being written, one that is not readable yet.
#[must_use]
pub fn by_hash(hash: &B256) -> Statement<TransactionRow> {
    Statement::page(include_str!("../../../sql/queries/transaction_by_hash.sql"))
        .on_shards(include_str!("../../../sql/queries/transaction_by_hash_on_shards.sql"))
        .with("hash_prefix", hash_prefix(hash))
        .with("hash", hash)
}

/// The transaction with this hash in those of `blocks` that are not settled.
#[must_use]
pub fn newest_by_hash(hash: &B256, blocks: &Span) -> Statement<TransactionRow> {
    Select::default()
        .blocks("block_number", &blocks.without_settled())
        .condition("hash = toFixedString(unhex({hash:String}), 32)", Predicate::among("hash", &[hash]))
        .with("hash", hash)
        .page("transactions", "block_number", 1)
}

/// A page of all transactions in `blocks`.
#[must_use]
pub fn of_all(blocks: &Span, walk: Walk) -> Statement<TransactionRow> {
    all(blocks, walk).page("transactions", &walk.order_by(), walk.limit)
}

/// A page of those with blobs.
#[must_use]
pub fn of_blobs(blocks: &Span, walk: Walk) -> Statement<TransactionRow> {
    let blob = u64::from(TransactionType::Blob.byte());
    all(blocks, walk)
        .condition("transaction_type = {type:UInt8}", Predicate::equals("transaction_type", blob))
        .with("type", blob)
        .page("transactions", &walk.order_by(), walk.limit)
}

/// A page of those of some types. The set index of the table tells which granules have none.
#[must_use]
pub fn of_types(types: &[u8], blocks: &Span, walk: Walk) -> Statement<TransactionRow> {
    typed(types, blocks, walk).page("transactions", &walk.order_by(), walk.limit)
}

/// A page of those of some types, without the first transactions of blocks.
#[must_use]
pub fn of_types_beyond_first(types: &[u8], blocks: &Span, walk: Walk) -> Statement<TransactionRow> {
    let is_later = Predicate::Position { columns: vec!["transaction_index"], is: Ordering::Greater, than: vec![0] };
    // As in the expression of the index.
    let select = typed(types, blocks, walk).condition("transaction_index > 0", is_later);
    select.page("transactions", &walk.order_by(), walk.limit)
}

fn typed(types: &[u8], blocks: &Span, walk: Walk) -> Select {
    let names: Vec<String> = (0..types.len()).map(|position| format!("{{type{position}:UInt8}}")).collect();
    let tests = types.iter().map(|byte| Predicate::equals("transaction_type", u64::from(*byte))).collect();
    let select =
        all(blocks, walk).condition(format!("transaction_type IN ({})", names.join(", ")), Predicate::AnyOf(tests));
    types
        .iter()
        .enumerate()
        .fold(select, |select, (position, byte)| select.with(format!("type{position}"), u64::from(*byte)))
}

fn all(blocks: &Span, walk: Walk) -> Select {
    let blocks =
        walk.beyond.map_or_else(|| blocks.clone(), |position| walk.order.ahead_of(blocks, position.block_number));
    beyond_position(Select::default().blocks("block_number", &blocks), walk)
}

/// The transactions in `blocks`, or those of a side of an address, without what is long in them.
#[must_use]
pub fn moves(side: Option<(&Address, Direction)>, blocks: &Span, walk: Walk) -> Statement<TransactionMove> {
    let select = match side {
        Some((address, side)) => taking_part(address, Some(side), blocks, walk),
        None => all(blocks, walk),
    };
    let spelt = |name: &&'static str| if *name == "input" { "substring(input, 1, 4) AS input" } else { *name };
    let columns: Vec<&str> = TransactionMove::names().iter().map(spelt).collect();
    select.page_of(&columns.join(", "), "transactions", &walk.order_by(), walk.limit)
}

/// The positions of the settled transactions that an address takes part in, on one side or any: a range of
/// `transactions_by_address`, which may have a row twice.
#[must_use]
pub fn positions_of_address(
    address: &Address,
    direction: Option<Direction>,
    settled: &[BlockRange],
    walk: Walk,
) -> Statement<PositionRow> {
    let sides = sides(direction);
    let beyond = walk.beyond.map_or_else(String::new, |_| format!("\n  AND {}", beyond(walk.order)));
    let sql = format!(
        "SELECT block_number, transaction_index
FROM transactions_by_address
WHERE address = toFixedString(unhex({{address:String}}), 20)
  AND has({{sides:Array(UInt64)}}, sides)
  AND {}{beyond}
ORDER BY {}
LIMIT 1 BY block_number, transaction_index
LIMIT {{limit:UInt64}}",
        settled_blocks("block_number", settled).join("\n  AND "),
        walk.order_by()
    );
    let select = Select::default().blocks("block_number", &settled.to_vec().into());
    let select = beyond_position(select, walk).with("address", address).with("sides", Parameter::Numbers(sides));
    select.with("limit", walk.limit).statement(sql)
}

/// The values of the column `sides` for an address on one side or any.
fn sides(direction: Option<Direction>) -> Vec<u64> {
    match direction {
        None => vec![1, 2, 3],
        Some(Direction::From) => vec![1, 3],
        Some(Direction::To) => vec![2, 3],
    }
}

/// The condition that a position lies beyond another.
fn beyond(order: Order) -> String {
    let operator = order.operator();
    format!("(block_number, transaction_index) {operator} ({{beyond_block:UInt64}}, {{beyond_transaction:UInt64}})")
}

fn beyond_position(select: Select, walk: Walk) -> Select {
    let Some(position) = walk.beyond else { return select };
    let test = Predicate::Position {
        columns: vec!["block_number", "transaction_index"],
        is: walk.order.ahead(),
        than: vec![position.block_number, position.transaction_index],
    };
    select
        .condition(beyond(walk.order), test)
        .with("beyond_block", position.block_number)
        .with("beyond_transaction", position.transaction_index)
}

/// The transactions in `blocks` that an address takes part in, on one side or any: some columns of `transactions`.
#[must_use]
pub fn of_address<R: Columns>(
    address: &Address,
    direction: Option<Direction>,
    blocks: &Span,
    walk: Walk,
) -> Statement<R> {
    taking_part(address, direction, blocks, walk).page("transactions", &walk.order_by(), walk.limit)
}

fn taking_part(address: &Address, direction: Option<Direction>, blocks: &Span, walk: Walk) -> Select {
    let blocks =
        walk.beyond.map_or_else(|| blocks.clone(), |position| walk.order.ahead_of(blocks, position.block_number));
    let positions = positions_of_address(address, direction, &blocks.settled, walk);
    let columns = match direction {
        None => vec!["from_address", "to_address", "contract_address"],
        Some(Direction::From) => vec!["from_address"],
        Some(Direction::To) => vec!["to_address", "contract_address"],
    };
    let any: Vec<String> =
        columns.iter().map(|column| format!("{column} = toFixedString(unhex({{address:String}}), 20)")).collect();
    let select = Select::default()
        .blocks("block_number", &blocks)
        .settled_condition(format!("(block_number, transaction_index) GLOBAL IN (\n{}\n)", positions.sql))
        .newest_condition(format!("({})", any.join(" OR ")), Predicate::among_any(columns, &[address]));
    let own = |(name, _): &(Cow<'static, str>, Parameter)| ["address", "sides"].contains(&&**name);
    let select =
        positions.parameters.into_iter().filter(own).fold(select, |select, (name, value)| select.with(name, value));
    beyond_position(select, walk)
}
