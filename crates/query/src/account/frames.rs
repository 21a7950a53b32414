//! Call frames of an account, of a transaction or of some blocks, from either end.

use super::at_keys;
use crate::select::{Select, participant, to_recipient};
use crate::transactions::internal::{at_listed_positions, listed, without_zero_value_calls};
use crate::walk::{Order, Walk};
use trawl_core::newest::Predicate;
use trawl_core::primitives::{Address, BlockNumber, Bytes, Direction};
use trawl_core::readable::Span;
use trawl_core::schema::Columns;
use trawl_core::schema::columns::columns;
use trawl_core::statement::{Parameter, Statement};

columns! {
    /// The position of a call frame.
    pub struct FramePosition / FramePositionView {
        /// Height of its block.
        block_number: u64,
        /// Position of its transaction in the block.
        transaction_index: u32,
        /// Position in the transaction, in order of execution.
        frame_index: u32,
    }
}

/// Height, position of the transaction, position in it.
pub type FrameKey = (BlockNumber, u32, u32);

const KEY: [&str; 3] = ["block_number", "transaction_index", "frame_index"];

/// What becomes of calls without value in a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ZeroValueCalls {
    /// They are listed as other frames are.
    Listed,
    /// Calls of any flavour that move no coins are left out: of the frames without value, creations and destructions
    /// stay.
    LeftOut,
}

impl ZeroValueCalls {
    fn of(self, select: Select) -> Select {
        match self {
            Self::Listed => select,
            Self::LeftOut => without_zero_value_calls(select),
        }
    }
}

/// An ORDER BY of frames in chain order.
fn order_by(order: Order) -> String {
    let word = order.word();
    KEY.map(|column| format!("{column} {word}")).join(", ")
}

/// The positions of the listed frames in `blocks` that an account takes part in, on one side or any.
#[must_use]
pub fn positions_of(
    account: &Address,
    side: Option<Direction>,
    blocks: &Span,
    calls: ZeroValueCalls,
    walk: Walk,
) -> Statement<FramePosition> {
    let table = match side {
        Some(_) => "internal_transactions_by_direction",
        None => "internal_transactions_by_address",
    };
    let select = calls.of(participant(account, side).blocks("block_number", blocks));
    select.page(table, &order_by(walk.order), walk.limit)
}

/// The positions of those from one account to another, who is checked row by row.
#[must_use]
pub fn positions_between(
    sender: &Address,
    recipient: &Address,
    blocks: &Span,
    calls: ZeroValueCalls,
    walk: Walk,
) -> Statement<FramePosition> {
    let select = calls.of(participant(sender, Some(Direction::From)).blocks("block_number", blocks));
    let select = to_recipient(select, &["to_address", "created_contract"], recipient);
    select.page("internal_transactions_by_direction", &order_by(walk.order), walk.limit)
}

/// The positions of those in a `block` that are of one transaction.
#[must_use]
pub fn positions_of_both(
    account: &Address,
    block: &Span,
    transaction_index: u32,
    calls: ZeroValueCalls,
    walk: Walk,
) -> Statement<FramePosition> {
    let test = Predicate::equals("transaction_index", transaction_index.into());
    let select = participant(account, None)
        .blocks("block_number", block)
        .condition("transaction_index = {transaction_index:UInt32}", test);
    let select = calls.of(select).with("transaction_index", u64::from(transaction_index));
    select.page("internal_transactions_by_address", &order_by(walk.order), walk.limit)
}

/// The positions of the listed frames of a transaction of a `block`.
#[must_use]
pub fn positions_of_transaction(
    block: &Span,
    transaction_index: u32,
    calls: ZeroValueCalls,
    walk: Walk,
) -> Statement<FramePosition> {
    let test = Predicate::equals("transaction_index", transaction_index.into());
    let select =
        listed().blocks("block_number", block).condition("transaction_index = {transaction_index:UInt32}", test);
    let select = calls.of(select).with("transaction_index", u64::from(transaction_index));
    select.page("internal_transactions", &order_by(walk.order), walk.limit)
}

/// The positions of the listed frames in `blocks`, calls without value among them: of settled blocks those that
/// `listed_internal_transactions` has.
#[must_use]
pub fn positions_in(blocks: &Span, walk: Walk) -> Statement<FramePosition> {
    let order = order_by(walk.order);
    let select = listed().settled_condition(at_listed_positions(&blocks.settled, None, &order));
    select.blocks("block_number", blocks).page("internal_transactions", &order, walk.limit)
}

/// Positions of the listed frames in `blocks` without that table, which does not tell the value of a frame: a search
/// through all frames, which ends with the last one of the page.
#[must_use]
pub fn searched_positions_in(blocks: &Span, calls: ZeroValueCalls, walk: Walk) -> Statement<FramePosition> {
    calls.of(listed()).blocks("block_number", blocks).page("internal_transactions", &order_by(walk.order), walk.limit)
}

/// The frames at `positions`, in either order.
#[must_use]
pub fn at_positions<R: Columns>(positions: &[FrameKey], blocks: &Span, order: Order) -> Statement<R> {
    let keys: Vec<Vec<u64>> = positions
        .iter()
        .map(|(block, transaction, frame)| vec![*block, u64::from(*transaction), u64::from(*frame)])
        .collect();
    let triples = positions.iter().map(|(block, transaction, frame)| (*block, (*transaction).into(), (*frame).into()));
    let among = "(block_number, transaction_index, frame_index) IN {positions:Array(Tuple(UInt64, UInt64, UInt64))} \
                 AND block_number IN {heights:Array(UInt64)}";
    let select: Select = at_keys(&KEY, &keys, blocks, among);
    select.with("positions", Parameter::Generations(triples.collect())).page(
        "internal_transactions",
        &order_by(order),
        positions.len() as u64,
    )
}

columns! {
    /// What lists of frames do not show of one.
    pub struct FrameData / FrameDataView {
        /// Height of its block.
        block_number: u64,
        /// Position of its transaction in the block.
        transaction_index: u32,
        /// Position in the transaction, in order of execution.
        frame_index: u32,
        /// Gas it used; none where the source does not say.
        gas_used: Option<u64>,
        /// Of an outermost creation: gas used without the intrinsic cost.
        execution_gas_used: Option<u64>,
        /// Call data, or code that a creation runs.
        input: Bytes,
        /// What it returned.
        output: Bytes,
    }
}
