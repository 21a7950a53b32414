//! Plans for the page of one address: how it was created, and whether it has rows of some kinds, each a read of one row
//! along a key.

use super::select::participant;
use trawl_core::newest::Test;
use trawl_core::primitives::{Address, B256, Direction};
use trawl_core::readable::Span;
use trawl_core::schema::columns::columns;
use trawl_core::statement::Statement;

columns! {
    /// How a contract was created.
    pub struct Creation / CreationView {
        /// Height of the block.
        block_number: u64,
        /// Position of the transaction in the block.
        transaction_index: u32,
        /// Transaction that created it; zero for the genesis.
        transaction_hash: B256,
        /// The sender, or the contract that ran the creation.
        creator: Address,
        /// `create`, `create2`, `transaction` or `genesis`.
        creation_type: String,
        /// Bytes of its code; none where the source had no traces.
        code_size: Option<u32>,
    }
}

columns! {
    /// The block of a row.
    pub struct Seen / SeenView {
        /// Height of the block.
        block_number: u64,
    }
}

/// The newest creation of the contract at `address` in `blocks`.
#[must_use]
pub fn creation(address: &Address, blocks: &Span) -> Statement<Creation> {
    let order = "block_number DESC, transaction_index DESC";
    participant(address, None).blocks("block_number", blocks).page("contracts", order, 1)
}

/// The newest log that `address` emitted in `blocks`.
#[must_use]
pub fn log(address: &Address, blocks: &Span) -> Statement<Seen> {
    participant(address, None).blocks("block_number", blocks).page("logs", "block_number DESC", 1)
}

/// The newest call frame in `blocks` that code at `address` began: in the outermost one the sender begins.
#[must_use]
pub fn frame_of_code(address: &Address, blocks: &Span) -> Statement<Seen> {
    participant(address, Some(Direction::From))
        .condition("frame_index > 0", Test::AtLeast { column: "frame_index", number: 1 })
        .blocks("block_number", blocks)
        .page("internal_transactions_by_direction", "block_number DESC", 1)
}

/// The newest token transfer in `blocks` that `address` takes part in.
#[must_use]
pub fn token_transfer(address: &Address, blocks: &Span) -> Statement<Seen> {
    participant(address, None).blocks("block_number", blocks).page("token_transfers", "block_number DESC", 1)
}

/// The newest token transfer to `address` in `blocks`.
#[must_use]
pub fn token_receipt(address: &Address, blocks: &Span) -> Statement<Seen> {
    participant(address, Some(Direction::To)).blocks("block_number", blocks).page(
        "token_transfers_by_direction",
        "block_number DESC",
        1,
    )
}
