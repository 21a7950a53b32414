//! Refuses blocks that contradict themselves or their neighbours, and records what was proven of the others. Pure.
//!
//! What a block's hash commits to is recomputed: the hash from the header, the roots from the bodies, the senders from
//! the signatures. What no hash covers is compared with what it follows from.

use crate::block::{Block, Header};

pub mod blooms;
mod bodies;
mod check;
mod header;
pub mod links;
mod outcome;
pub mod receipts;
mod structure;
#[cfg(test)]
mod tests;
pub mod traces;
mod transactions;
pub mod trie;

pub use check::Check;
pub use outcome::{Depth, Outcome, VerifyError};
use outcome::{NotCheckable, same};

/// Checks one block by itself. Links to its neighbours are checked where the order of blocks is known.
pub fn verify(block: &Block, depth: Depth) -> Result<Outcome, VerifyError> {
    let mut outcome = Outcome::default();
    structure::verify_structure(block, &mut outcome)?;
    if depth != Depth::Off {
        verify_header_hash(block, &block.header, &mut outcome)?;
    }
    if depth == Depth::Header {
        for check in ROOTS {
            outcome.not_checkable(check, "not asked for");
        }
    }
    if depth == Depth::Full {
        let length = transactions::verify_transactions(block, &mut outcome)?;
        outcome.size = length.and_then(|length| bodies::block_size(block, length));
        note_size(block, &mut outcome);
        match &block.receipts {
            Some(found) => {
                receipts::verify_derived(block, found, &mut outcome)?;
                receipts::verify_root(block, found, &mut outcome)?;
            }
            None => outcome.not_checkable(Check::ReceiptsRoot, "the source has no receipts"),
        }
        bodies::verify_withdrawals(block, &mut outcome)?;
        bodies::verify_uncles(block, &mut outcome)?;
        bodies::verify_requests(block, &mut outcome);
    }
    // Last, so that a forged transaction or receipt is named for what it is and not for its trace.
    if block.traces.is_some() && depth != Depth::Off {
        traces::verify_traces(block)?;
        outcome.passed(Check::Traces);
    }
    Ok(outcome)
}

/// What [`Depth::Header`] leaves out.
const ROOTS: [Check; 7] = [
    Check::TransactionHash,
    Check::Sender,
    Check::TransactionsRoot,
    Check::ReceiptsRoot,
    Check::LogsBloom,
    Check::WithdrawalsRoot,
    Check::UnclesHash,
];

/// Nodes do not agree on how to count (anvil leaves out the list of withdrawals), so another size is no refusal.
fn note_size(block: &Block, outcome: &mut Outcome) {
    match (outcome.size, block.header.size) {
        (Some(ours), Some(theirs)) if ours == theirs => outcome.passed(Check::BlockSize),
        (Some(ours), Some(theirs)) => {
            let reason = format!("the source counts {theirs} bytes, and the encoded block has {ours}");
            outcome.not_checkable(Check::BlockSize, &reason);
        }
        (None, Some(_)) => outcome.not_checkable(Check::BlockSize, "the block cannot be encoded"),
        (_, None) => {}
    }
}

/// A header with fields that Ethereum does not have may be hashed in a way of its chain's own.
fn verify_header_hash(block: &Block, header: &Header, outcome: &mut Outcome) -> Result<(), VerifyError> {
    match header::header_hash(header) {
        Err(NotCheckable(reason)) => outcome.not_checkable(Check::HeaderHash, &reason),
        Ok(found) if found != header.hash && !header.foreign.is_empty() => {
            let fields = header.foreign.join(", ");
            outcome.not_checkable(Check::HeaderHash, &format!("the header has fields of its own: {fields}"));
        }
        Ok(found) => {
            same(block, Check::HeaderHash, &header.hash, &found)?;
            outcome.passed(Check::HeaderHash);
        }
    }
    Ok(())
}
