//! Transactions: hash, sender, root.

use alloy_consensus::crypto::secp256k1::recover_signer_unchecked;
use alloy_primitives::Address;
use trawl_chains::{Evidence, Family};

use super::check::Check;
use super::membership::Membership;
use super::outcome::{NotCheckable, Outcome, VerifyError, refuse, same};
use super::trie::ordered_root;
use super::trie_transaction::{SenderProof, TrieTransaction};
use crate::block::{Block, Transaction};
use trawl_core::primitives::TransactionType;
use trawl_keccak::keccak256_all;

/// Checks the hash and sender of each transaction that can be encoded, and the root if all can; returns the bytes of
/// all encodings.
///
/// A transaction that cannot be encoded costs its own hash and sender and the root, and no other its proof.
pub(super) fn verify_transactions(
    block: &Block,
    family: &Family,
    members: &mut [Membership],
    outcome: &mut Outcome,
) -> Result<Option<usize>, VerifyError> {
    verify_hashes(block, members)?;
    verify_senders(block, members, outcome)?;
    let unknown = members.iter().find_map(|member| match member {
        Membership::Unknown(unknown) => Some(&unknown.reason.0),
        Membership::InTries(_) | Membership::Outside(_) => None,
    });
    if let Some(reason) = unknown {
        let all = members.len();
        let checked = members.iter().filter(|member| !matches!(member, Membership::Unknown(_))).count();
        for check in [Check::TransactionHash, Check::Sender] {
            outcome.not_checkable(check, &format!("{reason}; {checked} of {all} transactions are not affected"));
        }
        outcome.not_checkable(Check::TransactionsRoot, reason);
        return Ok(None);
    }
    outcome.passed(Check::TransactionHash);
    let bytes: Vec<&[u8]> = encodings(block, members).map(|(_, encoded)| encoded.bytes.as_slice()).collect();
    if block.header.lacking.contains(&"transactions_root") {
        outcome.not_checkable(Check::TransactionsRoot, "the source has no transactions_root");
    } else if let Some(reason) = family.quirks.roots {
        outcome.not_checkable(Check::TransactionsRoot, reason);
    } else {
        // Whatever else a header hashes: the hash of each encoding has been proven by now.
        same(block, Check::TransactionsRoot, &block.header.transactions_root, &ordered_root(&bytes))?;
        outcome.passed(Check::TransactionsRoot);
    }
    Ok(Some(body_length(block, members)))
}

/// The transactions that are in the tries, with their encodings.
fn encodings<'b>(
    block: &'b Block,
    members: &'b [Membership],
) -> impl Iterator<Item = (&'b Transaction, &'b TrieTransaction)> {
    block.transactions.iter().zip(members).filter_map(|(transaction, member)| match member {
        Membership::InTries(encoded) => Some((transaction, encoded)),
        Membership::Outside(_) | Membership::Unknown(_) => None,
    })
}

/// A rule that was never tested on a real block is what may be wrong: what does not fit it becomes unknown.
fn verify_hashes(block: &Block, members: &mut [Membership]) -> Result<(), VerifyError> {
    let bytes: Vec<&[u8]> = encodings(block, members).map(|(_, encoded)| encoded.bytes.as_slice()).collect();
    let mut hashes = keccak256_all(&bytes).into_iter();
    for (transaction, member) in block.transactions.iter().zip(members) {
        match member {
            Membership::Unknown(_) => {}
            Membership::Outside(None) => {}
            Membership::Outside(Some(hash)) => same(block, Check::TransactionHash, hash, &transaction.hash)?,
            Membership::InTries(encoded) => {
                let Some(hash) = hashes.next() else { continue };
                if hash != transaction.hash && encoded.evidence == Evidence::Code {
                    let kind = transaction.transaction_type;
                    let reason = format!(
                        "a transaction of type {kind} has another hash, by a rule that was never tested on a real one"
                    );
                    *member = Membership::Unknown(NotCheckable(reason).into());
                    continue;
                }
                same(block, Check::TransactionHash, &transaction.hash, &hash)?;
            }
        }
    }
    Ok(())
}

fn verify_senders(block: &Block, members: &[Membership], outcome: &mut Outcome) -> Result<(), VerifyError> {
    let mut payloads = Vec::new();
    let mut signed = Vec::new();
    for (transaction, encoded) in encodings(block, members) {
        match &encoded.sender {
            SenderProof::Signature { payload, signature } => {
                payloads.push(payload.as_slice());
                signed.push((transaction, signature, encoded.evidence));
            }
            SenderProof::HashedField => {}
            SenderProof::Address(address) => same(block, Check::Sender, address, &transaction.from)?,
            SenderProof::OneOf(senders) if senders.contains(&transaction.from) => {}
            SenderProof::OneOf(senders) => {
                let expected: Vec<String> = senders.iter().map(Address::to_string).collect();
                return refuse(block, Check::Sender, expected.join(" or "), transaction.from.to_string());
            }
            SenderProof::None(reason) => outcome.not_checkable(Check::Sender, reason),
        }
    }
    for ((transaction, signature, evidence), hash) in signed.into_iter().zip(keccak256_all(&payloads)) {
        // The transaction's own hash has been proven by now, so what was signed is what the chain has.
        let sender = recover_signer_unchecked(signature, hash);
        if sender.as_ref().ok() != Some(&transaction.from) {
            if evidence == Evidence::Code {
                let kind = transaction.transaction_type;
                outcome.not_checkable(Check::Sender, &untested_signer(kind));
                continue;
            }
            let found = sender.map_or_else(|_| "an invalid signature".into(), |sender: Address| sender.to_string());
            return refuse(block, Check::Sender, transaction.from.to_string(), found);
        }
    }
    outcome.passed_if_checkable(Check::Sender);
    Ok(())
}

fn untested_signer(kind: TransactionType) -> String {
    format!("a transaction of type {kind} has another signer, by a rule that was never tested on a real one")
}

/// Bytes of the transactions in the RLP of their block, where typed ones are strings.
fn body_length(block: &Block, members: &[Membership]) -> usize {
    let framed = encodings(block, members).map(|(transaction, encoded)| match transaction.transaction_type {
        TransactionType::Legacy => encoded.bytes.len(),
        _ => alloy_rlp::Encodable::length(encoded.bytes.as_slice()),
    });
    framed.sum()
}
