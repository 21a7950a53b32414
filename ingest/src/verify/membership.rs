//! What the tries of a block have of a transaction, by the rules of its chain's family.

use alloy_primitives::{Address, B256};
use serde_json::{Map, Value};
use trawl_chains::{
    ETHEREUM, Evidence, Family, FamilyTransactionType, ReceiptTail, SenderRule, Signer, UnsignedRule,
    may_have_state_sync, state_sync_hash,
};

use super::legacy::{legacy, own_legacy, with_signature};
use super::outcome::NotCheckable;
use super::signed::{encode, require_signed};
use super::trie_transaction::{SenderProof, TrieTransaction};
use crate::block::{Block, Transaction};
use trawl_core::primitives::TransactionType;

/// What the tries of a block have of a transaction.
#[derive(Debug)]
pub(super) enum Membership {
    /// These bytes, and those of its receipt.
    InTries(TrieTransaction),
    /// Neither it nor its receipt nor its logs; with its hash if that follows from the block.
    Outside(Option<B256>),
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
    let of = |(position, transaction): (usize, &Transaction)| {
        if is_outside(block, position, family) {
            let is_sync = family.unsigned == UnsignedRule::StateSync;
            return Membership::Outside(is_sync.then(|| state_sync_hash(block.header.number, &block.header.hash)));
        }
        let found: Result<TrieTransaction, UnknownTransaction> = if !transaction.transaction_type.has_columns() {
            own_type(transaction, family)
        } else if let Some(found) = own_legacy(block, transaction, family) {
            found.map_err(|reason| UnknownTransaction { reason, has_usual_receipt: true })
        } else if is_unsigned(transaction) {
            unsigned(transaction, family).map_err(|reason| unsigned_unknown(block, family, reason))
        } else {
            encode(transaction).map_err(|reason| UnknownTransaction { reason, has_usual_receipt: true })
        };
        let found = found.map(|encoded| TrieTransaction { sender: sender(encoded.sender, transaction), ..encoded });
        found.map_or_else(Membership::Unknown, Membership::InTries)
    };
    block.transactions.iter().enumerate().map(of).collect()
}

/// A transaction with zeros for a signature, where the family has no rule for such. On chains that are known well its
/// receipt is in the root like any other; elsewhere the chain may keep both out of its roots.
fn unsigned_unknown(block: &Block, family: &Family, reason: NotCheckable) -> UnknownTransaction {
    let is_listed = || *family == ETHEREUM && block.chain_id().is_some_and(|id| family.chain(id).is_some());
    UnknownTransaction { reason, has_usual_receipt: family.knows_its_fields() || is_listed() }
}

/// Whether the transaction at `position`, its receipt and its logs are in no root, and its gas in no sum.
pub(crate) fn is_outside(block: &Block, position: usize, family: &Family) -> bool {
    let Some(transaction) = block.transactions.get(position) else { return false };
    match family.unsigned {
        UnsignedRule::StateSync => {
            let is_last = position + 1 == block.transactions.len();
            is_last && may_have_state_sync(block.header.number) && is_state_sync(transaction)
        }
        UnsignedRule::System => is_system(transaction),
        UnsignedRule::Unknown | UnsignedRule::Hashed { .. } => false,
    }
}

/// What proves the sender that the source has; nothing if it has none.
fn sender(proof: SenderProof, transaction: &Transaction) -> SenderProof {
    match transaction.lacking.contains(&"from_address") {
        true => SenderProof::None("the source has no from_address"),
        false => proof,
    }
}

/// Whether zeros stand for a signature, and not for one that the source does not have.
fn is_unsigned(transaction: &Transaction) -> bool {
    let lacks_signature = ["r", "s"].iter().any(|column| transaction.lacking.contains(column));
    transaction.r.is_zero() && transaction.s.is_zero() && !lacks_signature
}

/// A state sync is from the zero address, which cannot sign, to it: so that is known too where the source has no
/// signatures.
fn is_state_sync(transaction: &Transaction) -> bool {
    transaction.transaction_type == TransactionType::Legacy
        && transaction.r.is_zero()
        && transaction.s.is_zero()
        && transaction.from.is_zero()
        && !transaction.lacking.contains(&"from_address")
        && !transaction.lacking.contains(&"transaction_type")
        && transaction.to == Some(Address::ZERO)
}

/// A system transaction has the price 0.
fn is_system(transaction: &Transaction) -> bool {
    transaction.transaction_type == TransactionType::Legacy
        && transaction.gas_price.is_some_and(|price| price.is_zero())
        && !transaction.lacking.contains(&"gas_price")
}

/// A transaction of the family's own types. One that cannot be encoded may have a receipt as Ethereum's all the same.
fn own_type(transaction: &Transaction, family: &Family) -> Result<TrieTransaction, UnknownTransaction> {
    let byte = transaction.transaction_type.byte();
    let kind =
        family.transaction_type(byte).ok_or_else(|| NotCheckable(format!("transaction type {byte} is not known")))?;
    let has_usual_receipt = matches!(kind.receipt, ReceiptTail::Nothing);
    encoded(transaction, kind).map_err(|reason| UnknownTransaction { reason, has_usual_receipt })
}

fn encoded(transaction: &Transaction, kind: &'static FamilyTransactionType) -> Result<TrieTransaction, NotCheckable> {
    let unreadable = |reason: &dyn std::fmt::Display| {
        NotCheckable(format!("a transaction of type {} ({}): {reason}", kind.byte, kind.name))
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
        TransactionType::Legacy => {
            require_signed(transaction)?;
            with_signature(transaction, legacy(transaction, &[]))
        }
        _ => encode(transaction)?.bytes,
    };
    Ok(TrieTransaction { bytes, sender: SenderProof::OneOf(senders), evidence: Evidence::Blocks, own: None })
}
