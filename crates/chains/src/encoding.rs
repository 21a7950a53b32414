//! Transactions of a family's own types as bytes.

use alloy_primitives::{Signature, U256};
use alloy_rlp::Encodable;
use serde_json::{Map, Value};

use crate::evidence::Evidence;
use crate::fields::{EncodingError, RawList, quantity};
use crate::signer::Signer;
use crate::transaction_type::{FamilyTransactionType, ReceiptTail, SenderRule};

/// A transaction as bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Encoding {
    /// What is hashed, and stands in the trie: type byte and list.
    pub bytes: Vec<u8>,
    /// What they say of who signed.
    pub signer: Signer,
    /// What this form of the type was tried on.
    pub evidence: Evidence,
}

impl FamilyTransactionType {
    /// The transaction as it is hashed, from the JSON of a node.
    ///
    /// # Errors
    ///
    /// When a field is missing or malformed.
    pub fn encode(&self, json: &Map<String, Value>) -> Result<Encoding, EncodingError> {
        let mut list = Vec::new();
        for field in self.fields {
            field.encode(json, &mut list)?;
        }
        let mut evidence = self.evidence;
        let signer = match self.sender {
            SenderRule::Signature => {
                let payload = envelope(self.byte, &list);
                let number = |name: &'static str| json.get(name).and_then(quantity).ok_or(EncodingError::Missing(name));
                let parity = ["yParity", "v"].into_iter().find_map(|name| json.get(name).and_then(quantity));
                let parity = parity.and_then(parity_of).ok_or(EncodingError::Missing("yParity"))?;
                let (r, s) = (number("r")?, number("s")?);
                for part in [parity, r, s] {
                    part.encode(&mut list);
                }
                Signer::Signature { payload, signature: Signature::new(r, s, !parity.is_zero()) }
            }
            SenderRule::Key(sign) => {
                let signed = sign(json, &list)?;
                list.extend_from_slice(&signed.bytes);
                evidence = signed.evidence;
                signed.signer
            }
            SenderRule::Field | SenderRule::OneOf(_) | SenderRule::Unproven(_) => Signer::None,
        };
        Ok(Encoding { bytes: envelope(self.byte, &list), signer, evidence })
    }

    /// What a receipt holds after its logs, in RLP, from the JSON of a node; empty if nothing.
    ///
    /// # Errors
    ///
    /// When a field that is shown is malformed.
    pub fn receipt_tail(&self, json: &Map<String, Value>) -> Result<Vec<u8>, EncodingError> {
        let mut tail = Vec::new();
        match self.receipt {
            ReceiptTail::Nothing => {}
            ReceiptTail::Shown(fields) if fields.iter().any(|field| field.value(json).is_none()) => {}
            ReceiptTail::Shown(fields) => fields.iter().try_for_each(|field| field.encode(json, &mut tail))?,
        }
        Ok(tail)
    }
}

/// A parity, which some nodes give as the 27 and 28 of legacy transactions.
fn parity_of(v: U256) -> Option<U256> {
    let parity = v.checked_sub(U256::from(27)).unwrap_or(v);
    Some(parity).filter(|parity| *parity <= U256::from(1))
}

/// The type byte and the list of what is encoded.
pub(crate) fn envelope(byte: u8, list: &[u8]) -> Vec<u8> {
    let mut bytes = vec![byte];
    RawList(list.to_vec()).encode(&mut bytes);
    bytes
}
