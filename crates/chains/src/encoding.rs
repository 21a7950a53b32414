//! Transactions of a family's own types as bytes.

use alloy_primitives::{Signature, U256};
use alloy_rlp::Encodable;
use serde_json::{Map, Value};

use crate::fields::{EncodingError, RawList, quantity};
use crate::transaction_type::{ReceiptTail, SenderRule, TransactionType};

/// A transaction as bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Encoding {
    /// What is hashed, and stands in the trie: type byte and list.
    pub bytes: Vec<u8>,
    /// What the sender signed the hash of, and the signature; `None` of unsigned types.
    pub signed: Option<(Vec<u8>, Signature)>,
}

impl TransactionType {
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
        let signed = match self.sender {
            SenderRule::Signature => {
                let payload = self.envelope(&list);
                let number = |name: &'static str| json.get(name).and_then(quantity).ok_or(EncodingError::Missing(name));
                let parity = json.get("yParity").or_else(|| json.get("v")).and_then(quantity);
                let parity =
                    parity.filter(|parity| *parity <= U256::from(1)).ok_or(EncodingError::Missing("yParity"))?;
                let (r, s) = (number("r")?, number("s")?);
                for part in [parity, r, s] {
                    part.encode(&mut list);
                }
                Some((payload, Signature::new(r, s, !parity.is_zero())))
            }
            SenderRule::Field | SenderRule::OneOf(_) | SenderRule::Unproven(_) => None,
        };
        Ok(Encoding { bytes: self.envelope(&list), signed })
    }

    fn envelope(&self, list: &[u8]) -> Vec<u8> {
        let mut bytes = vec![self.byte];
        RawList(list.to_vec()).encode(&mut bytes);
        bytes
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
