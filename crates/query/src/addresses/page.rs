//! Plans for the page of one address: how it was created, and whether it has rows of some kinds, each a read of one row
//! along a key.

use crate::select::{Select, participant};
use trawl_core::newest::Predicate;
use trawl_core::primitives::{Address, B256, Bytes, Direction};
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
        /// Keccak-256 of its code; none where the source had no traces.
        code_hash: Option<B256>,
        /// Bytes of its code; none where the source had no traces.
        code_size: Option<u32>,
    }
}

columns! {
    /// The code that a creation ran and returned.
    pub struct CreationCode / CreationCodeView {
        /// The code, with the arguments after it.
        input: Bytes,
        /// The code of the contract, which it returned.
        output: Bytes,
    }
}

columns! {
    /// The block of a row.
    pub struct AddressOccurrence / AddressOccurrenceView {
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

/// The code that ran to create the contract at `address`, from the call frames of the transaction.
#[must_use]
pub fn creation_code(address: &Address, block: &Span, transaction_index: u32) -> Statement<CreationCode> {
    Select::default()
        .blocks("block_number", block)
        .condition(
            "transaction_index = {transaction_index:UInt64}",
            Predicate::equals("transaction_index", transaction_index.into()),
        )
        .condition(
            "created_contract = toFixedString(unhex({address:String}), 20)",
            Predicate::among("created_contract", &[address]),
        )
        .with("transaction_index", u64::from(transaction_index))
        .with("address", address)
        .page("internal_transactions", "frame_index DESC", 1)
}

/// A frame of a transaction in which the contract at `address` destroyed itself.
#[must_use]
pub fn destruction(address: &Address, block: &Span, transaction_index: u32) -> Statement<AddressOccurrence> {
    participant(address, Some(Direction::From))
        .blocks("block_number", block)
        .condition(
            "transaction_index = {transaction_index:UInt64}",
            Predicate::equals("transaction_index", transaction_index.into()),
        )
        .condition("frame_type = 'selfdestruct'", Predicate::is("frame_type", "selfdestruct"))
        .condition("is_undone = 0", Predicate::equals("is_undone", 0))
        .with("transaction_index", u64::from(transaction_index))
        .page("internal_transactions_by_direction", "block_number DESC", 1)
}

/// The newest logs that `address` emitted in `blocks`.
#[must_use]
pub fn logs(address: &Address, blocks: &Span, limit: u64) -> Statement<AddressOccurrence> {
    participant(address, None).blocks("block_number", blocks).page("logs", "block_number DESC", limit)
}

/// The newest call frame in `blocks` that code at `address` began: in the outermost one the sender begins. None that
/// was undone: the creation of its contract may have been undone too.
#[must_use]
pub fn frame_of_code(address: &Address, blocks: &Span) -> Statement<AddressOccurrence> {
    participant(address, Some(Direction::From))
        .condition("frame_index > 0", Predicate::AtLeast { column: "frame_index", number: 1 })
        .condition("is_undone = 0", Predicate::equals("is_undone", 0))
        .blocks("block_number", blocks)
        .page("internal_transactions_by_direction", "block_number DESC", 1)
}

/// The newest token transfer in `blocks` that `address` takes part in.
#[must_use]
pub fn token_transfer(address: &Address, blocks: &Span) -> Statement<AddressOccurrence> {
    participant(address, None).blocks("block_number", blocks).page("token_transfers", "block_number DESC", 1)
}

/// The newest token transfer to `address` in `blocks`.
#[must_use]
pub fn token_receipt(address: &Address, blocks: &Span) -> Statement<AddressOccurrence> {
    participant(address, Some(Direction::To)).blocks("block_number", blocks).page(
        "token_transfers_by_direction",
        "block_number DESC",
        1,
    )
}
