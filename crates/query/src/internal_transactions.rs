//! Plans for reads of call frames.

use std::cmp::Ordering;

use super::select::{Select, participant, up_to};
use trawl_core::newest::Test;
use trawl_core::primitives::{Address, Direction, FramePosition, U256};
use trawl_core::readable::Span;
use trawl_core::schema::columns::columns;
use trawl_core::schema::{AddressInternalTransactionRow, InternalTransactionRow};
use trawl_core::statement::Statement;

columns! {
    /// A frame that moved coins, or failed.
    pub struct CoinFrame / CoinFrameView {
        /// Path from the outermost call: which child at each depth.
        trace_address: Vec<u32>,
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
        /// Wei.
        value: U256,
        /// Error message of the node; empty if the call succeeded.
        error: String,
    }
}

/// More frames than any transaction has: a call costs at least 100 gas.
const MAX_FRAMES: u64 = 100_000_000;

/// Frames in `blocks` that an address takes part in, on one side or any, from the highest place down, below `before`.
#[must_use]
pub fn of_address(
    address: &Address,
    direction: Option<Direction>,
    blocks: &Span,
    before: Option<FramePosition>,
    limit: u64,
) -> Statement<AddressInternalTransactionRow> {
    let table = match direction {
        Some(_) => "internal_transactions_by_direction",
        None => "internal_transactions_by_address",
    };
    let select = participant(address, direction);
    let select = match before {
        Some(before) => select
            .blocks("block_number", &up_to(blocks, before.block_number))
            .condition(
                "(block_number, transaction_index, frame_index) < ({before_block:UInt64}, {before_transaction:UInt64}, {before_frame:UInt64})",
                Test::Place {
                    columns: vec!["block_number", "transaction_index", "frame_index"],
                    is: Ordering::Less,
                    than: vec![before.block_number, before.transaction_index, before.frame_index],
                },
            )
            .with("before_block", before.block_number)
            .with("before_transaction", before.transaction_index)
            .with("before_frame", before.frame_index),
        None => select.blocks("block_number", blocks),
    };
    select.page(table, "block_number DESC, transaction_index DESC, frame_index DESC", limit)
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

/// The frames of a transaction of a `block` that moved coins, and those that failed, in order of execution.
#[must_use]
pub fn coin_frames(block: &Span, transaction_index: u32, limit: u64) -> Statement<CoinFrame> {
    Select::default()
        .blocks("block_number", block)
        .condition("transaction_index = {transaction_index:UInt32}", position(transaction_index))
        .condition(
            "(value > 0 OR error != '')",
            Test::AnyOf(vec![Test::NotZero { column: "value" }, Test::IsNot { column: "error", value: "" }]),
        )
        .with("transaction_index", u64::from(transaction_index))
        .page("internal_transactions", "frame_index", limit)
}

fn position(transaction_index: u32) -> Test {
    Test::equals("transaction_index", transaction_index.into())
}
