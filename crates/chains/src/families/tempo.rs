//! Tempo (<https://docs.tempo.xyz>): headers inside of another list, fees in tokens, transactions of several calls.

use alloy_primitives::Address;
use alloy_rlp::Encodable;
use serde_json::{Map, Value};

use super::ethereum::ETHEREUM_RULES;
use crate::chain::Chain;
use crate::encoding::envelope;
use crate::evidence::Evidence;
use crate::facts::{Fact, ReaderFacts, Unit};
use crate::family::{BurntFees, Family};
use crate::fields::{CHAIN_ID, EncodingError, Field, GAS, Kind, NONCE, RawList, TO, VALUE, quantity};
use crate::finality::Finality;
use crate::header::HeaderRule;
use crate::rest::RestSource;
use crate::signer::{KeySigned, Signer};
use crate::transaction_type::{FamilyTransactionType, ReceiptTail, SenderRule};
use crate::unsigned::UnsignedRule;

mod key_authorization;
mod signature;
#[cfg(test)]
mod tests;

/// Tempo and Moderato. They have no coin: fees are counted in 10^-18 dollars of a token.
pub static TEMPO: Family = Family {
    name: "tempo",
    chains: &[Chain::new(4217, "Tempo", "USD"), Chain::new(42_431, "Tempo Moderato", "USD")],
    header: HeaderRule::Tempo,
    header_signs: &["mainBlockGeneralGasLimit", "sharedGasLimit", "timestampMillisPart"],
    transaction_types: &[CALLS],
    finality: Finality::AtOnce,
    unsigned: UnsignedRule::Hashed { senders: &[Address::ZERO], name: "system" },
    unhashed: &["timestampMillis"],
    burnt: BurntFees::Unknown,
    reader: FACTS,
    ..ETHEREUM_RULES
};

/// A transaction of several calls (<https://tips.sh/0001>); its fee may be paid by another.
const CALLS: FamilyTransactionType = FamilyTransactionType {
    byte: BYTE,
    name: "calls",
    fields: &FIELDS,
    constants: &[],
    sender: SenderRule::Key(key_signed),
    receipt: ReceiptTail::Nothing,
    evidence: Evidence::Blocks,
    receipt_evidence: Evidence::Blocks,
};

/// Who pays in which token, and in which lane.
const FACTS: ReaderFacts = ReaderFacts {
    transaction: &[
        Fact::new("Fee token", RestSource::Receipt("feeToken"), Unit::Address),
        Fact::new("Fee paid by", RestSource::Receipt("feePayer"), Unit::Address),
        Fact::new("Nonce lane", RestSource::Own("nonceKey"), Unit::Number),
    ],
    calls: Some("calls"),
    ..ReaderFacts::NONE
};

const BYTE: u8 = 0x76;

/// The position of the fee token, which its sponsor may choose.
const FEE_TOKEN: usize = 10;
/// The position of the sponsor's signature.
const FEE_PAYER: usize = 11;

const FIELDS: [Field; 14] = [
    CHAIN_ID,
    Field::required(&["maxPriorityFeePerGas"], Kind::Quantity),
    Field::required(&["maxFeePerGas"], Kind::Quantity),
    GAS,
    Field::required(&["calls"], Kind::Own(calls)),
    Field::optional(&["accessList"], Kind::AccessList),
    Field::required(&["nonceKey"], Kind::Quantity),
    NONCE,
    Field::optional(&["validBefore"], Kind::Quantity),
    Field::optional(&["validAfter"], Kind::Quantity),
    Field::optional(&["feeToken"], Kind::Address),
    Field::optional(&["feePayerSignature"], Kind::Own(fee_payer)),
    Field::required(&["aaAuthorizationList"], Kind::Own(authorizations)),
    Field::optional(&["keyAuthorization"], Kind::Trailing(key_authorization::encode)),
];

/// Lists of recipient, value and input; one without a recipient creates a contract.
fn calls(value: &Value) -> Result<Vec<u8>, EncodingError> {
    const MALFORMED: EncodingError = EncodingError::Malformed("calls");
    let fields = [TO, VALUE, Field::optional(&["input", "data"], Kind::Bytes)];
    let mut all = Vec::new();
    for call in value.as_array().ok_or(MALFORMED)? {
        let call = call.as_object().ok_or(MALFORMED)?;
        let mut list = Vec::new();
        fields.iter().try_for_each(|field| field.encode(call, &mut list))?;
        RawList(list).encode(&mut all);
    }
    Ok(RawList(all).encoded())
}

/// The signature of who pays: parity, `r` and `s`.
fn fee_payer(value: &Value) -> Result<Vec<u8>, EncodingError> {
    let part = |name: &str| {
        let part = value.get(name).or_else(|| value.get("v").filter(|_| name == "yParity"));
        part.and_then(quantity).ok_or(EncodingError::Malformed("feePayerSignature"))
    };
    let mut list = Vec::new();
    for name in ["yParity", "r", "s"] {
        part(name)?.encode(&mut list);
    }
    Ok(RawList(list).encoded())
}

/// No block with one was at hand.
fn authorizations(value: &Value) -> Result<Vec<u8>, EncodingError> {
    match value.as_array() {
        Some(none) if none.is_empty() => Ok(RawList(Vec::new()).encoded()),
        Some(_) => Err(EncodingError::Untried("aaAuthorizationList")),
        None => Err(EncodingError::Malformed("aaAuthorizationList")),
    }
}

/// The signature as it is hashed, and who signed. With a sponsor the sender signs no fee token, and a zero for the
/// sponsor.
fn key_signed(json: &Map<String, Value>, list: &[u8]) -> Result<KeySigned, EncodingError> {
    let given = json.get("signature").and_then(Value::as_object).ok_or(EncodingError::Missing("signature"))?;
    let bytes = signature::bytes(given)?;
    let is_sponsored = FIELDS[FEE_PAYER].value(json).is_some();
    let signer = match signature::signer(given)? {
        signature::Key::Address(address) => Signer::Address(address),
        signature::Key::Signature(signature) => {
            let payload = if is_sponsored { sponsored(json)? } else { list.to_vec() };
            Signer::Signature { payload: envelope(BYTE, &payload), signature }
        }
    };
    let evidence = if is_sponsored { Evidence::Code } else { Evidence::Blocks };
    Ok(KeySigned { bytes: alloy_rlp::encode(bytes.as_slice()), signer, evidence })
}

/// What the sender of a sponsored transaction signs.
fn sponsored(json: &Map<String, Value>) -> Result<Vec<u8>, EncodingError> {
    let mut list = Vec::new();
    for (position, field) in FIELDS.iter().enumerate() {
        match position {
            FEE_TOKEN => list.push(alloy_rlp::EMPTY_STRING_CODE),
            FEE_PAYER => list.push(0),
            _ => field.encode(json, &mut list)?,
        }
    }
    Ok(list)
}
