//! Who signed a transaction, as far as it says so itself.

use alloy_primitives::{Address, Signature};

use crate::evidence::Evidence;

/// What a transaction says of who signed it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Signer {
    /// Nothing: its type is not signed.
    None,
    /// A signature of the hash of `payload`.
    Signature {
        /// What the sender signed the hash of.
        payload: Vec<u8>,
        /// `r`, `s` and parity, on secp256k1.
        signature: Signature,
    },
    /// An address in what is hashed, or of a public key in it.
    Address(Address),
}

/// The signature of a transaction that keys of several kinds can sign.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeySigned {
    /// What ends the list, in RLP.
    pub bytes: Vec<u8>,
    /// What says the sender.
    pub signer: Signer,
    /// What this form was tried on.
    pub evidence: Evidence,
}
