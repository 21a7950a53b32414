//! Plans for reads of call frames.

use std::cmp::Ordering;

use crate::select::{Select, participant, settled_blocks, up_to};
use trawl_core::newest::Predicate;
use trawl_core::primitives::{Address, BlockRange, Direction, FramePosition, U256};
use trawl_core::readable::Span;
use trawl_core::schema::columns::columns;
use trawl_core::schema::{Columns as _, InternalTransactionRow, ScannedInternalTransaction};
use trawl_core::statement::Statement;

columns! {
    /// A frame that moves coins, or the outermost one.
    pub struct CoinFrame / CoinFrameView {
        /// Position in the transaction, in order of execution; 0 is the outermost.
        frame_index: u32,
        /// `call`, `create` or `selfdestruct`.
        frame_type: String,
        /// `call`, `callcode`, `delegatecall`, `staticcall`; `create`, `create2`; or empty.
        call_type: String,
        /// Caller, creator or the contract that destroys itself.
        from_address: Address,
        /// Callee or beneficiary; none for a creation.
        to_address: Option<Address>,
        /// Contract a creation made.
        created_contract: Option<Address>,
        /// Wei moved, unless `is_undone`; 0 for `delegatecall` and `staticcall`.
        value: U256,
        /// 1 if it failed or was undone by a frame around it that failed, else 0.
        is_undone: u8,
    }
}

columns! {
    /// The position of a frame.
    pub struct FramePlace / FramePlaceView {
        /// Position in the transaction, in order of execution.
        frame_index: u32,
    }
}

/// More frames than any transaction has: a call costs at least 100 gas.
const MAX_FRAMES: u64 = 100_000_000;

/// Frames in `blocks` that an address takes part in, on one side or any, from the highest position down, below
/// `before`.
#[must_use]
pub fn of_address(
    address: &Address,
    direction: Option<Direction>,
    blocks: &Span,
    before: Option<FramePosition>,
    limit: u64,
) -> Statement<ScannedInternalTransaction> {
    let table = match direction {
        Some(_) => "internal_transactions_by_direction",
        None => "internal_transactions_by_address",
    };
    let select = participant(address, direction);
    below(select, blocks, before).page(table, NEWEST_FIRST, limit)
}

const NEWEST_FIRST: &str = "block_number DESC, transaction_index DESC, frame_index DESC";

/// The condition of a position to lie below that of the cursor.
const BELOW: &str = "(block_number, transaction_index, frame_index) < ({before_block:UInt64}, {before_transaction:UInt64}, {before_frame:UInt64})";

fn below(select: Select, blocks: &Span, before: Option<FramePosition>) -> Select {
    let Some(before) = before else { return select.blocks("block_number", blocks) };
    select
        .blocks("block_number", &up_to(blocks, before.block_number))
        .condition(
            BELOW,
            Predicate::Position {
                columns: vec!["block_number", "transaction_index", "frame_index"],
                is: Ordering::Less,
                than: vec![before.block_number, before.transaction_index, before.frame_index],
            },
        )
        .with("before_block", before.block_number)
        .with("before_transaction", before.transaction_index)
        .with("before_frame", before.frame_index)
}

/// All listed frames in `blocks`, from the highest position down, below `before`: those of settled blocks at the
/// positions that `listed_internal_transactions` has.
#[must_use]
pub fn of_all(blocks: &Span, before: Option<FramePosition>, limit: u64) -> Statement<ScannedInternalTransaction> {
    let readable = before.map_or_else(|| blocks.clone(), |before| up_to(blocks, before.block_number));
    let beyond = before.map(|_| BELOW);
    let select = listed().settled_condition(at_listed_positions(&readable.settled, beyond, NEWEST_FIRST));
    listed_page(below(select, blocks, before), NEWEST_FIRST, limit)
}

/// The same without that table: a search through all frames, which ends with the first `limit` listed ones.
#[must_use]
pub fn of_all_searched(
    blocks: &Span,
    before: Option<FramePosition>,
    limit: u64,
) -> Statement<ScannedInternalTransaction> {
    listed_page(below(listed(), blocks, before), NEWEST_FIRST, limit)
}

/// The condition of settled rows to be at the first listed positions of an order, as many as the statement has rows.
pub(crate) fn at_listed_positions(settled: &[BlockRange], beyond: Option<&str>, order: &str) -> String {
    let beyond = beyond.map_or_else(String::new, |beyond| format!("\n  AND {beyond}"));
    format!(
        "(block_number, transaction_index, frame_index) GLOBAL IN (
SELECT block_number, transaction_index, frame_index
FROM listed_internal_transactions
WHERE {}{beyond}
ORDER BY {order}
LIMIT 1 BY block_number, transaction_index, frame_index
LIMIT {{limit:UInt64}}
)",
        settled_blocks("block_number", settled).join("\n  AND ")
    )
}

/// The listed frames of a transaction of a `block`, from the last one down, below `before`.
#[must_use]
pub fn of_transaction_down(
    block: &Span,
    transaction_index: u32,
    before: Option<FramePosition>,
    limit: u64,
) -> Statement<ScannedInternalTransaction> {
    let select = below(listed(), block, before)
        .condition("transaction_index = {transaction_index:UInt32}", position(transaction_index))
        .with("transaction_index", u64::from(transaction_index));
    listed_page(select, NEWEST_FIRST, limit)
}

/// All frames of a transaction of a `block`, in order of execution.
#[must_use]
pub fn of_transaction(block: &Span, transaction_index: u32) -> Statement<InternalTransactionRow> {
    Select::default()
        .blocks("block_number", block)
        .condition("transaction_index = {transaction_index:UInt32}", position(transaction_index))
        .with("transaction_index", u64::from(transaction_index))
        .page("internal_transactions", "frame_index", MAX_FRAMES)
}

/// The frames of a transaction of a `block` that moved coins, and destructions, in order of execution: none that was
/// undone. The outermost frame comes in any case.
#[must_use]
pub fn coin_frames(block: &Span, transaction_index: u32, limit: u64) -> Statement<CoinFrame> {
    Select::default()
        .blocks("block_number", block)
        .condition("transaction_index = {transaction_index:UInt32}", position(transaction_index))
        .condition(
            "(frame_index = 0 OR is_undone = 0 AND (value > 0 OR frame_type = 'selfdestruct'))",
            Predicate::AnyOf(vec![Predicate::equals("frame_index", 0), Predicate::AllOf(vec![lasts(), gives()])]),
        )
        .with("transaction_index", u64::from(transaction_index))
        .page("internal_transactions", "frame_index", limit)
}

/// The frame was not undone.
fn lasts() -> Predicate {
    Predicate::equals("is_undone", 0)
}

/// The frame transfers coins.
fn gives() -> Predicate {
    Predicate::AnyOf(vec![Predicate::NotZero { column: "value" }, Predicate::is("frame_type", "selfdestruct")])
}

/// The calls within a transaction of a `block` that moved coins, creations and destructions, in order of execution, but
/// for those that were undone; its outermost call is none of them.
#[must_use]
pub fn operations(block: &Span, transaction_index: u32) -> Statement<CoinFrame> {
    let select = Select::default()
        .blocks("block_number", block)
        .condition("transaction_index = {transaction_index:UInt32}", position(transaction_index))
        .condition("frame_index > 0", Predicate::AtLeast { column: "frame_index", number: 1 })
        .condition("is_undone = 0", lasts());
    without_zero_value_calls(select).with("transaction_index", u64::from(transaction_index)).page(
        "internal_transactions",
        "frame_index",
        MAX_FRAMES,
    )
}

/// Leaves out calls of any flavour that move no coins; creations and destructions stay.
pub(crate) fn without_zero_value_calls(select: Select) -> Select {
    select.condition(
        "(value > 0 OR frame_type != 'call')",
        Predicate::AnyOf(vec![
            Predicate::NotZero { column: "value" },
            Predicate::IsNot { column: "frame_type", value: "call" },
        ]),
    )
}

fn position(transaction_index: u32) -> Predicate {
    Predicate::equals("transaction_index", transaction_index.into())
}

/// Frames that lists show: the rows of the tables ordered by address, which leave out outermost calls and rewards.
pub(crate) fn listed() -> Select {
    Select::default()
        .condition("frame_type != 'reward'", Predicate::IsNot { column: "frame_type", value: "reward" })
        .condition(
            "(frame_index > 0 OR frame_type != 'call')",
            Predicate::AnyOf(vec![
                Predicate::AtLeast { column: "frame_index", number: 1 },
                Predicate::IsNot { column: "frame_type", value: "call" },
            ]),
        )
}

/// The columns in the table of all frames: for an outermost creation, the tables ordered by address have the gas that
/// the creation was given.
pub(crate) fn listed_columns() -> String {
    let gas = "ifNull(execution_gas_limit, gas_limit) AS gas_limit";
    let spelt = |name: &&'static str| if *name == "gas_limit" { gas } else { *name };
    ScannedInternalTransaction::names().iter().map(spelt).collect::<Vec<_>>().join(", ")
}

fn listed_page(select: Select, order: &str, limit: u64) -> Statement<ScannedInternalTransaction> {
    let select = select.instead("gas_limit", "execution_gas_limit");
    select.page_of(&listed_columns(), "internal_transactions", order, limit)
}

/// The listed frames of a transaction of a `block` after a position, in order of execution.
#[must_use]
pub fn listed_of_transaction(
    block: &Span,
    transaction_index: u32,
    after: Option<u64>,
    limit: u64,
) -> Statement<ScannedInternalTransaction> {
    let select = listed()
        .blocks("block_number", block)
        .condition("transaction_index = {transaction_index:UInt32}", position(transaction_index))
        .with("transaction_index", u64::from(transaction_index));
    let select = match after {
        Some(after) => {
            let position =
                Predicate::Position { columns: vec!["frame_index"], is: Ordering::Greater, than: vec![after] };
            select.condition("frame_index > {after_frame:UInt64}", position).with("after_frame", after)
        }
        None => select,
    };
    listed_page(select, "frame_index", limit)
}

/// Filter of the listed frames of a block; an absent field matches any.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FrameFilter {
    /// What the frame does: `call`, `create`, `create2` or `selfdestruct`; other names are those of no listed frame.
    pub kind: Option<&'static str>,
    /// The flavour of a call.
    pub call_type: Option<&'static str>,
}

/// The listed frames of a `block` after a position (transaction, frame), in order of execution.
#[must_use]
pub fn listed_of_block(
    block: &Span,
    filter: FrameFilter,
    after: Option<(u64, u64)>,
    limit: u64,
) -> Statement<ScannedInternalTransaction> {
    let mut select = filtered(listed().blocks("block_number", block), filter);
    if let Some((transaction, frame)) = after {
        select = select
            .condition(
                "transaction_index >= {after_transaction:UInt64}",
                Predicate::AtLeast { column: "transaction_index", number: transaction },
            )
            .condition(
                "(transaction_index, frame_index) > ({after_transaction:UInt64}, {after_frame:UInt64})",
                Predicate::Position {
                    columns: vec!["transaction_index", "frame_index"],
                    is: Ordering::Greater,
                    than: vec![transaction, frame],
                },
            )
            .with("after_transaction", transaction)
            .with("after_frame", frame);
    }
    listed_page(select, "transaction_index, frame_index", limit)
}

/// Old sources do not say by which opcode a creation was made; such frames are of the kind `create`.
fn filtered(select: Select, filter: FrameFilter) -> Select {
    let select = match filter.kind {
        Some("create2") => {
            select.condition("call_type = {kind:String}", Predicate::is("call_type", "create2")).with("kind", "create2")
        }
        Some(kind) => select
            .condition("frame_type = {kind:String}", Predicate::is("frame_type", kind))
            .condition("call_type != 'create2'", Predicate::IsNot { column: "call_type", value: "create2" })
            .with("kind", kind),
        None => select,
    };
    match filter.call_type {
        Some(name) => {
            select.condition("call_type = {call_type:String}", Predicate::is("call_type", name)).with("call_type", name)
        }
        None => select,
    }
}

/// The first call that failed within a transaction of a `block`; its outermost call does not count.
#[must_use]
pub fn failed_call(block: &Span, transaction_index: u32) -> Statement<FramePlace> {
    Select::default()
        .blocks("block_number", block)
        .condition("transaction_index = {transaction_index:UInt32}", position(transaction_index))
        .condition("frame_index > 0", Predicate::AtLeast { column: "frame_index", number: 1 })
        .condition("error != ''", Predicate::IsNot { column: "error", value: "" })
        .with("transaction_index", u64::from(transaction_index))
        .page("internal_transactions", "frame_index", 1)
}
