//! What else the header commits to: withdrawals, uncles, requests.

use alloy_consensus::EMPTY_OMMER_ROOT_HASH;
use alloy_eips::eip4895::Withdrawal;
use alloy_eips::eip7685::EMPTY_REQUESTS_HASH;
use alloy_primitives::keccak256;
use alloy_rlp::Encodable;
use trawl_chains::{Family, WithdrawalsRoot};

use super::check::Check;
use super::header::{consensus_header, header_hash, short_hash};
use super::outcome::{NotCheckable, Outcome, VerifyError, same};
use super::trie::{EMPTY_ROOT, ordered_root};
use crate::block::Block;

/// Whether the withdrawals are those of the header's root (EIP-4895).
pub(super) fn verify_withdrawals(block: &Block, family: &Family, outcome: &mut Outcome) -> Result<(), VerifyError> {
    if block.header.lacking.contains(&"withdrawals_root") {
        outcome.not_checkable(Check::WithdrawalsRoot, "the source has no withdrawals_root");
        return Ok(());
    }
    match (block.header.withdrawals_root, &block.withdrawals) {
        (None, None) => Ok(()),
        (None, Some(withdrawals)) => {
            let absent = "no withdrawals before Shanghai".to_owned();
            same(block, Check::WithdrawalsRoot, &absent, &count(&absent, withdrawals.len()))
        }
        (Some(_), None) => {
            outcome.not_checkable(Check::WithdrawalsRoot, "the source has no withdrawals");
            Ok(())
        }
        // The header's hash covers the root, and no row holds what it is of.
        (Some(_), Some(withdrawals))
            if withdrawals.is_empty() && family.withdrawals_root == WithdrawalsRoot::ContractStorage =>
        {
            Ok(())
        }
        (Some(root), Some(withdrawals))
            if withdrawals.is_empty() && root != EMPTY_ROOT && has_own_rules(block, family) =>
        {
            outcome.not_checkable(
                Check::WithdrawalsRoot,
                "there are no withdrawals, and the root is not that of an empty list",
            );
            Ok(())
        }
        (Some(root), Some(withdrawals)) => {
            let encoded: Vec<Vec<u8>> = withdrawals.iter().map(encode_withdrawal).collect();
            same(block, Check::WithdrawalsRoot, &root, &ordered_root(&encoded))?;
            outcome.passed(Check::WithdrawalsRoot);
            Ok(())
        }
    }
}

/// Whether it shows shapes that no known family has, so that its fields may mean something else.
fn has_own_rules(block: &Block, family: &Family) -> bool {
    if family.knows_its_fields() {
        return false;
    }
    let is_foreign = |transaction: &crate::block::Transaction| !transaction.transaction_type.has_columns();
    block.header.extra.is_some() || block.transactions.iter().any(is_foreign)
}

fn count(none: &str, number: usize) -> String {
    if number == 0 { none.into() } else { format!("{number} withdrawals") }
}

fn encode_withdrawal(withdrawal: &crate::block::Withdrawal) -> Vec<u8> {
    alloy_rlp::encode(Withdrawal {
        index: withdrawal.index,
        validator_index: withdrawal.validator_index,
        address: withdrawal.address,
        amount: withdrawal.amount_gwei,
    })
}

/// The hash over all uncle headers, and each uncle's own.
pub(super) fn verify_uncles(block: &Block, family: &Family, outcome: &mut Outcome) -> Result<(), VerifyError> {
    if block.uncles.as_ref().is_none_or(Vec::is_empty)
        && let Some(short) = short_hash(&block.header, family)
    {
        // A header without a hash of uncles has none.
        if short == block.header.hash {
            return Ok(());
        }
        if block.header.sha3_uncles.is_zero() {
            outcome.not_checkable(Check::UnclesHash, "the header has no hash of uncles");
            return Ok(());
        }
    }
    if block.header.lacking.contains(&"sha3_uncles") {
        outcome.not_checkable(Check::UnclesHash, "the source has no sha3_uncles");
        return Ok(());
    }
    let Some(uncles) = &block.uncles else {
        outcome.not_checkable(Check::UnclesHash, "the source has no uncle headers");
        return Ok(());
    };
    let mut headers = Vec::with_capacity(uncles.len());
    for uncle in uncles {
        match (header_hash(uncle), consensus_header(uncle)) {
            (Ok(hash), Ok(header)) => {
                same(block, Check::UncleHash, &uncle.hash, &hash)?;
                // A block of this header and nothing else: two empty lists.
                let ours = list_length(header.length() + 2) as u64;
                if uncle.size.is_some_and(|size| size != ours) {
                    outcome.not_checkable(Check::BlockSize, "the source counts the sizes of uncles in its own way");
                }
                headers.push(header);
            }
            (Err(NotCheckable(reason)), _) | (_, Err(NotCheckable(reason))) => {
                outcome.not_checkable(Check::UnclesHash, &reason);
                return Ok(());
            }
        }
    }
    if !headers.is_empty() {
        outcome.passed(Check::UncleHash);
    }
    let found = if headers.is_empty() { EMPTY_OMMER_ROOT_HASH } else { keccak256(alloy_rlp::encode(&headers)) };
    same(block, Check::UnclesHash, &block.header.sha3_uncles, &found)?;
    outcome.passed(Check::UnclesHash);
    Ok(())
}

/// EIP-7685. Blocks do not carry their requests, so only the hash of none can be recognised.
pub(super) fn verify_requests(block: &Block, outcome: &mut Outcome) {
    match block.header.requests_hash {
        Some(EMPTY_REQUESTS_HASH) => outcome.passed(Check::RequestsHash),
        Some(_) => {
            outcome.not_checkable(Check::RequestsHash, "nodes give the hash of the requests, and not the requests");
        }
        None => {}
    }
}

fn list_length(payload: usize) -> usize {
    payload + alloy_rlp::length_of_length(payload)
}

/// Bytes of the RLP-encoded block, which is what nodes give as its size; `transactions` is the length of theirs.
pub(super) fn block_size(block: &Block, family: &Family, transactions: usize) -> Option<u64> {
    if !family.header.encodes_as_ethereum(&block.header.extra_data) {
        return None;
    }
    let header = consensus_header(&block.header).ok()?;
    // What is not known of a header is hashed, and counts.
    if header.hash_slow() != block.header.hash {
        return None;
    }
    let header = header.length();
    let uncles: usize = match &block.uncles {
        Some(uncles) => {
            uncles.iter().map(|uncle| consensus_header(uncle).ok().map(|uncle| uncle.length())).sum::<Option<_>>()?
        }
        None => return None,
    };
    let withdrawals = match (block.header.withdrawals_root, &block.withdrawals) {
        (None, _) => 0,
        (Some(_), Some(withdrawals)) => list_length(withdrawals.iter().map(|item| encode_withdrawal(item).len()).sum()),
        (Some(_), None) => return None,
    };
    Some(list_length(header + list_length(transactions) + list_length(uncles) + withdrawals) as u64)
}
