//! What a block may do by rules that are not known here, or were never tested on a real block: where it differs from
//! the known ones, that is named, and the block is not refused.

use trawl_chains::{Evidence, Family};

use super::check::Check;
use super::header::{block_hash, hashed_access_list, may_be_sealed_by_committee};
use super::outcome::{Outcome, VerifyError, same};
use crate::block::Block;
use trawl_core::primitives::TransactionType;

/// Why a difference need not be a fault.
pub(super) type Tolerance = Option<String>;

/// For headers with fields whose meaning is not known: of a chain that no family has, or by a rule that was never
/// tested on a real block.
pub(super) fn unknown_fields(block: &Block, family: &Family) -> Tolerance {
    let extra = block.header.extra_fields();
    fields_of_its_own(family.unknown_fields(&extra))
}

/// The same where the block's hash is another one than that of the known fields, so that the unknown ones are hashed: of
/// a fork that came later.
pub(super) fn unknown_fork(block: &Block, family: &Family) -> Tolerance {
    let extra = block.header.extra_fields();
    let is_other_hash = || match block_hash(&block.header, family) {
        Ok(found) => found != block.header.hash,
        Err(_) => !family.knows_its_fields(),
    };
    fields_of_its_own(family.unknown_fields(&extra)).filter(|_| is_other_hash())
}

/// For the receipts root: the block has an access list (EIP-7928), and no whole block with one was tried.
fn untried_receipts(block: &Block) -> Tolerance {
    let has_list = hashed_access_list(&block.header).hash.is_some();
    has_list.then(|| "receipts of blocks with an access list were never tested on a real block".into())
}

fn fields_of_its_own<'f>(names: impl Iterator<Item = &'f str>) -> Tolerance {
    let names: Vec<&str> = names.collect();
    (!names.is_empty()).then(|| format!("the header has fields of its own: {}", names.join(", ")))
}

/// For the hash of headers: unknown fields, and families whose headers were never tested, or not of this time. Of those
/// that a committee sealed, headers of ten fields were.
pub(super) fn unknown_header(block: &Block, family: &Family) -> Tolerance {
    let untried = || format!("the hash of headers of the family `{}` was never tested on a real block", family.name);
    let longer = "the hash is not that of ten fields, and headers of more that a committee sealed were never tested \
                  on a real block";
    let is_sealed = family.header.is_sealed_by_committee(&block.header.extra_data);
    unknown_fork(block, family)
        .or_else(|| is_sealed.then(|| longer.into()))
        .or_else(|| (family.header_evidence == Evidence::Code).then(untried))
}

/// For the gas up to a receipt: a transaction of a type that the family does not have.
pub(super) fn unknown_type(kind: TransactionType, family: &Family) -> Tolerance {
    let is_known = kind.has_columns() || family.transaction_type(kind.byte()).is_some();
    (!is_known).then(|| format!("transaction type {kind} is not known"))
}

/// For the receipts root: an unknown fork, and receipts of a type that were never tested.
pub(super) fn unknown_receipts(block: &Block, family: &Family) -> Tolerance {
    unknown_fork(block, family).or_else(|| untried_receipts(block)).or_else(|| {
        let kinds =
            block.transactions.iter().filter_map(|found| family.transaction_type(found.transaction_type.byte()));
        let untried = { kinds }.find(|kind| kind.receipt_evidence == Evidence::Code)?;
        Some(format!("receipts of type {} ({}) were never tested on a real block", untried.byte, untried.name))
    })
}

/// For the receipts root alone: the node gives a status in place of the state root that was hashed.
pub(super) fn hidden_state_roots(block: &Block, family: &Family) -> Tolerance {
    let hides = |receipt: &crate::block::Receipt| receipt.status.is_some() && receipt.root.is_none();
    let is_hidden = family.may_hash_state_roots(block.header.number, block.header.timestamp)
        && block.receipts.iter().flatten().any(hides);
    is_hidden.then(|| "the node gives a status in place of the state root".into())
}

/// For receipts root and bloom: a block of a time when it may have a receipt of its own, which the source did not have.
pub(super) fn absent_block_receipt(block: &Block, family: &Family) -> Tolerance {
    let may_have = family.quirks.block_receipt.is_some() && may_be_sealed_by_committee(&block.header, family);
    let is_absent = may_have && block.block_receipt.is_none();
    is_absent.then(|| "the receipt of the block's own calls may be missing".into())
}

/// For prices: a chain on which gas was paid in several tokens, with a base fee in each.
pub(super) fn other_currencies(block: &Block, family: &Family) -> Tolerance {
    let is_other = may_be_sealed_by_committee(&block.header, family);
    is_other.then(|| "gas may be paid in a token, whose base fee is not known".into())
}

/// Compares two values of a block under the name of a check; a difference that is tolerated is noted.
pub(super) fn same_or_noted<T: PartialEq + ToString>(
    block: &Block,
    check: Check,
    values: ValuePair<&T>,
    tolerance: impl FnOnce() -> Tolerance,
    outcome: &mut Outcome,
) -> Result<(), VerifyError> {
    let ValuePair { expected, found } = values;
    if expected != found
        && let Some(reason) = tolerance()
    {
        outcome.not_checkable(check, &reason);
        return Ok(());
    }
    same(block, check, expected, found)
}

/// Two values that should be the same.
pub(super) struct ValuePair<T> {
    pub expected: T,
    pub found: T,
}
