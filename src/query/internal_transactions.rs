//! Plans for reads of call frames.

use super::select::Select;
use crate::primitives::{Address, BlockRange, Direction, FramePosition, Span};
use crate::schema::{AddressInternalTransactionRow, InternalTransactionRow};
use crate::statement::Statement;

/// More frames than any transaction has: a call costs at least 100 gas.
const ALL: u64 = 100_000_000;

/// Frames in `blocks` that an address takes part in, on one side or any, from the highest place down, below `before`.
#[must_use]
pub fn of_address(
    address: &Address,
    direction: Option<Direction>,
    blocks: &Span,
    before: Option<FramePosition>,
    limit: u64,
) -> Statement<AddressInternalTransactionRow> {
    let (table, select) = participant(address, direction, "internal_transactions");
    let select = match before {
        Some(before) => select
            .blocks("block_number", &up_to(blocks, before.block_number))
            .condition(
                "(block_number, transaction_index, frame_index) < ({before_block:UInt64}, {before_transaction:UInt64}, {before_frame:UInt64})",
            )
            .with("before_block", before.block_number)
            .with("before_transaction", before.transaction_index)
            .with("before_frame", before.frame_index),
        None => select.blocks("block_number", blocks),
    };
    select.page(&table, "block_number DESC, transaction_index DESC, frame_index DESC", limit)
}

/// All frames of a transaction of a `block`, in order of execution.
#[must_use]
pub fn of_transaction(block: &Span, transaction_index: u32) -> Statement<InternalTransactionRow> {
    Select::default()
        .blocks("block_number", block)
        .condition("transaction_index = {transaction_index:UInt32}")
        .with("transaction_index", u64::from(transaction_index))
        .page("internal_transactions", "frame_index", ALL)
}

/// The table that has an address's rows as one range, and the conditions that pin the range.
pub(super) fn participant(address: &Address, direction: Option<Direction>, base: &str) -> (String, Select) {
    let select =
        Select::default().condition("address = toFixedString(unhex({address:String}), 20)").with("address", address);
    match direction {
        Some(direction) => (
            format!("{base}_by_direction"),
            select.condition("direction = {direction:String}").with("direction", direction.as_str()),
        ),
        None => (format!("{base}_by_address"), select),
    }
}

/// The plain upper bound is what the key uses; a tuple alone reads from the end of the range.
pub(super) fn up_to(blocks: &Span, last: u64) -> Span {
    BlockRange::new(0, last).map_or_else(Span::default, |range| blocks.within(range))
}
