//! Signatures of Tempo's transactions: of keys of several kinds, and of a key that acts for an account.

use alloy_primitives::{Address, B256, Bytes, Signature, U256, keccak256};
use serde_json::{Map, Value};

use crate::fields::{EncodingError, quantity};

const MALFORMED: EncodingError = EncodingError::Malformed("signature");

/// What a signature says of who signed.
pub(super) enum Key {
    /// An address that the signature names, or that follows from a public key in it.
    Address(Address),
    /// It has to be recovered.
    Signature(Signature),
}

/// The bytes of a signature: of secp256k1 without a byte in front, of other kinds with one.
pub(super) fn bytes(json: &Map<String, Value>) -> Result<Vec<u8>, EncodingError> {
    let Some(user) = json.get("userAddress") else { return of_key(json) };
    let version = match json.get("version").and_then(Value::as_str) {
        Some("v1") => 0x03,
        Some("v2") => 0x04,
        _ => return Err(EncodingError::Untried("signature.version")),
    };
    let mut bytes = vec![version];
    bytes.extend_from_slice(address(user)?.as_slice());
    bytes.extend_from_slice(&of_key(inner(json)?)?);
    Ok(bytes)
}

/// Who signed, as the signature says. What acts for an account is checked by a contract of the chain.
pub(super) fn signer(json: &Map<String, Value>) -> Result<Key, EncodingError> {
    if let Some(user) = json.get("userAddress") {
        let key = inner(json)?;
        match (json.get("keyId"), kind(key)?) {
            (Some(id), "p256" | "webAuthn") if address(id)? != of_public_key(key)? => return Err(MALFORMED),
            _ => return address(user).map(Key::Address),
        }
    }
    match kind(json)? {
        "secp256k1" => Ok(Key::Signature(Signature::new(number(json, "r")?, number(json, "s")?, is_odd(json)?))),
        _ => of_public_key(json).map(Key::Address),
    }
}

/// The bytes of the signature of one key.
pub(super) fn of_key(json: &Map<String, Value>) -> Result<Vec<u8>, EncodingError> {
    let word = |name: &str| number(json, name).map(|number| number.to_be_bytes::<32>());
    let words = |names: &[&str]| names.iter().map(|name| word(name)).collect::<Result<Vec<_>, _>>();
    let mut bytes = Vec::new();
    match kind(json)? {
        "secp256k1" => {
            bytes.extend(words(&["r", "s"])?.concat());
            bytes.push(27 + u8::from(is_odd(json)?));
        }
        "p256" => {
            bytes.push(0x01);
            bytes.extend(words(&["r", "s", "pubKeyX", "pubKeyY"])?.concat());
            bytes.push(json.get("preHash").and_then(Value::as_bool).ok_or(MALFORMED)?.into());
        }
        "webAuthn" => {
            let data = json.get("webauthnData").and_then(Value::as_str).ok_or(MALFORMED)?;
            bytes.push(0x02);
            bytes.extend_from_slice(&data.parse::<Bytes>().map_err(|_| MALFORMED)?);
            bytes.extend(words(&["r", "s", "pubKeyX", "pubKeyY"])?.concat());
        }
        _ => return Err(EncodingError::Untried("signature.type")),
    }
    Ok(bytes)
}

/// The address of a key of P-256: of its public key, as that of secp256k1.
fn of_public_key(json: &Map<String, Value>) -> Result<Address, EncodingError> {
    let point = [B256::from(number(json, "pubKeyX")?), B256::from(number(json, "pubKeyY")?)];
    Ok(Address::from_word(keccak256(point.concat())))
}

fn inner(json: &Map<String, Value>) -> Result<&Map<String, Value>, EncodingError> {
    json.get("signature").and_then(Value::as_object).ok_or(MALFORMED)
}

fn kind(json: &Map<String, Value>) -> Result<&str, EncodingError> {
    json.get("type").and_then(Value::as_str).ok_or(MALFORMED)
}

fn number(json: &Map<String, Value>, name: &str) -> Result<U256, EncodingError> {
    json.get(name).and_then(quantity).ok_or(MALFORMED)
}

fn address(value: &Value) -> Result<Address, EncodingError> {
    value.as_str().and_then(|text| text.parse().ok()).ok_or(MALFORMED)
}

/// The parity, which nodes give under two names.
fn is_odd(json: &Map<String, Value>) -> Result<bool, EncodingError> {
    let parity = json.get("yParity").or_else(|| json.get("v")).and_then(quantity).ok_or(MALFORMED)?;
    let is_repeated = json.get("v").is_none_or(|v| quantity(v) == Some(parity));
    if parity > U256::from(1) || !is_repeated { Err(MALFORMED) } else { Ok(!parity.is_zero()) }
}
