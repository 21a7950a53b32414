//! A transaction as bytes, and what proves its sender.

use alloy_primitives::{Address, Signature};
use serde_json::{Map, Value};
use trawl_chains::{Evidence, FamilyTransactionType};

/// A transaction as bytes (EIP-2718), and what proves its sender.
#[derive(Debug)]
pub(super) struct TrieTransaction {
    pub bytes: Vec<u8>,
    pub sender: SenderProof,
    pub evidence: Evidence,
    /// The family's own type, and the source's JSON.
    pub own: Option<(&'static FamilyTransactionType, Map<String, Value>)>,
}

/// What proves the sender of a transaction.
#[derive(Debug)]
pub(super) enum SenderProof {
    /// A signature of the hash of this.
    Signature { payload: Vec<u8>, signature: Signature },
    /// The hash, which covers the field.
    HashedField,
    /// An address in what is hashed.
    Address(Address),
    /// The rule that such a transaction is always from one of these.
    OneOf(&'static [Address]),
    /// Nothing: the reason.
    None(&'static str),
}

impl TrieTransaction {
    /// One of Ethereum's types.
    pub fn signed(bytes: Vec<u8>, payload: Vec<u8>, signature: Signature) -> Self {
        let sender = SenderProof::Signature { payload, signature };
        Self { bytes, sender, evidence: Evidence::Blocks, own: None }
    }
}
