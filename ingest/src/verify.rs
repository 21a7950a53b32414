//! Refuses blocks that contradict themselves or their neighbours, and records what was proven of the others. Pure.
//!
//! What a block's hash commits to is recomputed: the hash from the header, the roots from the bodies, the senders from
//! the signatures. What no hash covers is compared with what it follows from.

use trawl_chains::Family;

use crate::block::{Block, Receipt};

pub mod blooms;
mod bodies;
mod check;
mod derived;

pub(crate) mod header;
mod legacy;
pub mod links;
mod membership;
mod outcome;
mod own_fields;
pub mod receipts;
mod signed;
mod structure;
#[cfg(test)]
mod tests;
mod tolerance;
pub mod traces;
mod transactions;
pub mod trie;
mod trie_transaction;

pub use check::Check;
pub(crate) use membership::is_outside;
use membership::memberships;
use outcome::NotCheckable;
pub use outcome::{Depth, Outcome, VerifyError};
use tolerance::{ValuePair, same_or_noted, unknown_header};

/// Checks one block by itself. Links to its neighbours are checked where the order of blocks is known.
pub fn verify(block: &Block, depth: Depth, family: &Family) -> Result<Outcome, VerifyError> {
    let mut outcome = Outcome::default();
    structure::verify_structure(block, family, &mut outcome)?;
    if depth != Depth::Off {
        verify_header_hash(block, family, &mut outcome)?;
    }
    if depth == Depth::Header {
        for check in ROOTS {
            outcome.not_checkable(check, "not requested");
        }
    }
    if depth == Depth::Full {
        let mut members = memberships(block, family);
        let length = transactions::verify_transactions(block, family, &mut members, &mut outcome)?;
        outcome.size = length.and_then(|length| bodies::block_size(block, family, length));
        own_fields::verify_own_fields(block, family, &members, &mut outcome)?;
        note_size(block, &mut outcome);
        match &block.receipts {
            Some(found) => {
                derived::verify_derived(block, family, &members, &mut outcome)?;
                receipts::verify_root(block, family, &members, found, &mut outcome)?;
            }
            None => outcome.not_checkable(Check::ReceiptsRoot, "the source has no receipts"),
        }
        bodies::verify_withdrawals(block, family, &mut outcome)?;
        bodies::verify_uncles(block, family, &mut outcome)?;
        bodies::verify_requests(block, &mut outcome);
    }
    // Last, so that a forged transaction or receipt is named for what it is and not for its trace.
    if block.traces.is_some() && depth != Depth::Off {
        traces::verify_traces(block, family)?;
        outcome.passed(Check::Traces);
    }
    Ok(outcome)
}

/// Checks the receipts root and the bloom filter of a block alone.
///
/// # Errors
///
/// When they are not those of the receipts.
pub fn verify_receipts(
    block: &Block,
    family: &Family,
    receipts: &[Receipt],
    outcome: &mut Outcome,
) -> Result<(), VerifyError> {
    receipts::verify_root(block, family, &memberships(block, family), receipts, outcome)
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

/// A header with fields that its family's rule does not know may be hashed in a way of its chain's own, and a rule that
/// was never tested on a real block may be wrong.
fn verify_header_hash(block: &Block, family: &Family, outcome: &mut Outcome) -> Result<(), VerifyError> {
    let header = &block.header;
    match header::block_hash(header, family) {
        Err(NotCheckable(reason)) => outcome.not_checkable(Check::HeaderHash, &reason),
        Ok(found) => {
            let values = ValuePair { expected: &header.hash, found: &found };
            same_or_noted(block, Check::HeaderHash, values, || unknown_header(block, family), outcome)?;
            outcome.passed_if_checkable(Check::HeaderHash);
        }
    }
    Ok(())
}
