//! What the tries of a block have of a transaction, by the rules of its chain's family.

use alloy_primitives::{Address, B256};
use alloy_rlp::{Encodable, Header};
use serde_json::{Map, Value};
use trawl_chains::{Evidence, Family, SenderRule, Signer, UnsignedRule, state_sync_hash};

use super::outcome::NotCheckable;
use super::signed::encode;
use super::trie_transaction::{SenderProof, TrieTransaction};
use crate::block::{Block, Transaction};
use trawl_core::primitives::TransactionType;

/// What the tries of a block have of a transaction.
#[derive(Debug)]
pub(super) enum Membership {
    /// These bytes, and those of its receipt.
    InTries(TrieTransaction),
    /// Neither it nor its receipt nor its logs; its hash follows from the block.
    Outside(B256),
    /// It cannot be said.
    Unknown(UnknownTransaction),
}

/// A transaction that cannot be encoded.
#[derive(Debug)]
pub(super) struct UnknownTransaction {
    pub reason: NotCheckable,
    /// Whether its receipt is one of Ethereum's all the same: the source lacks what the transaction needs and nothing
    /// else.
    pub has_usual_receipt: bool,
}

impl From<NotCheckable> for UnknownTransaction {
    fn from(reason: NotCheckable) -> Self {
        Self { reason, has_usual_receipt: false }
    }
}

/// What the tries have of each transaction of a block.
pub(super) fn memberships(block: &Block, family: &Family) -> Vec<Membership> {
    let last = block.transactions.len().saturating_sub(1);
    let of = |(position, transaction): (usize, &Transaction)| {
        let lacks_signature = ["r", "s"].iter().any(|column| transaction.lacking.contains(column));
        let found: Result<TrieTransaction, UnknownTransaction> = if !transaction.transaction_type.has_columns() {
            own_type(transaction, family).map_err(UnknownTransaction::from)
        } else if transaction.r.is_zero() && transaction.s.is_zero() && !lacks_signature {
            if family.unsigned.is_outside() && is_state_sync(transaction) && position == last {
                return Membership::Outside(state_sync_hash(block.header.number, &block.header.hash));
            }
            unsigned(transaction, family).map_err(UnknownTransaction::from)
        } else {
            encode(transaction).map_err(|reason| UnknownTransaction { reason, has_usual_receipt: true })
        };
        found.map_or_else(Membership::Unknown, Membership::InTries)
    };
    block.transactions.iter().enumerate().map(of).collect()
}

/// A state sync is from the zero address to it.
fn is_state_sync(transaction: &Transaction) -> bool {
    transaction.transaction_type == TransactionType::Legacy
        && transaction.from.is_zero()
        && transaction.to == Some(Address::ZERO)
}

fn own_type(transaction: &Transaction, family: &Family) -> Result<TrieTransaction, NotCheckable> {
    let byte = transaction.transaction_type.byte();
    let kind =
        family.transaction_type(byte).ok_or_else(|| NotCheckable(format!("transaction type {byte} is not known")))?;
    let unreadable = |reason: &dyn std::fmt::Display| {
        NotCheckable(format!("a transaction of type {byte} ({}): {reason}", kind.name))
    };
    let raw = transaction.raw.as_deref().ok_or_else(|| unreadable(&"the source has no JSON of it"))?;
    let json: Map<String, Value> = serde_json::from_str(raw).map_err(|error| unreadable(&error))?;
    let encoded = kind.encode(&json).map_err(|error| unreadable(&error))?;
    let sender = match (encoded.signer, kind.sender) {
        (Signer::Signature { payload, signature }, _) => SenderProof::Signature { payload, signature },
        (Signer::Address(address), _) => SenderProof::Address(address),
        (Signer::None, SenderRule::OneOf(senders)) => SenderProof::OneOf(senders),
        (Signer::None, SenderRule::Unproven(reason)) => SenderProof::None(reason),
        (Signer::None, SenderRule::Field | SenderRule::Signature | SenderRule::Key(_)) => SenderProof::HashedField,
    };
    Ok(TrieTransaction { bytes: encoded.bytes, sender, evidence: encoded.evidence, own: Some((kind, json)) })
}

/// A transaction of one of Ethereum's types with zeros for a signature.
fn unsigned(transaction: &Transaction, family: &Family) -> Result<TrieTransaction, NotCheckable> {
    let UnsignedRule::Hashed { senders, .. } = family.unsigned else {
        return Err(NotCheckable("a transaction has no signature".into()));
    };
    let bytes = match transaction.transaction_type {
        TransactionType::Legacy => legacy(transaction),
        _ => encode(transaction)?.bytes,
    };
    Ok(TrieTransaction { bytes, sender: SenderProof::OneOf(senders), evidence: Evidence::Blocks, own: None })
}

/// The list of a legacy transaction, with its `v` as it is.
fn legacy(transaction: &Transaction) -> Vec<u8> {
    let mut list = Vec::new();
    transaction.nonce.encode(&mut list);
    transaction.gas_price.unwrap_or_default().encode(&mut list);
    transaction.gas.encode(&mut list);
    match &transaction.to {
        Some(to) => to.encode(&mut list),
        None => list.push(alloy_rlp::EMPTY_STRING_CODE),
    }
    transaction.value.encode(&mut list);
    transaction.input.encode(&mut list);
    for part in [transaction.v, transaction.r, transaction.s] {
        part.encode(&mut list);
    }
    let mut bytes = Vec::with_capacity(list.len() + 9);
    Header { list: true, payload_length: list.len() }.encode(&mut bytes);
    bytes.extend_from_slice(&list);
    bytes
}
