//! What allows a key to act for an account of Tempo, signed by the account's own key.

use alloy_primitives::{Address, Bytes};
use alloy_rlp::Encodable;
use serde_json::{Map, Value};

use super::signature;
use crate::fields::{EncodingError, RawList, quantity};

/// Writes the items of a list, without its length.
type EncodeItem = fn(&Map<String, Value>) -> Result<Vec<u8>, EncodingError>;

const MALFORMED: EncodingError = EncodingError::Malformed("keyAuthorization");

/// The list of what is allowed, and the signature of it.
pub(super) fn encode(value: &Value) -> Result<Vec<u8>, EncodingError> {
    let json = value.as_object().ok_or(MALFORMED)?;
    let given = |name: &str| json.get(name).filter(|value| !value.is_null());
    // Of these, and without an end or limits, no block was at hand.
    if ["witness", "account", "isAdmin"].into_iter().any(|name| given(name).is_some()) {
        return Err(EncodingError::Untried("keyAuthorization"));
    }
    let (Some(expiry), Some(limits)) = (given("expiry"), given("limits")) else {
        return Err(EncodingError::Untried("keyAuthorization"));
    };
    let mut list = Vec::new();
    quantity(json.get("chainId").ok_or(MALFORMED)?).ok_or(MALFORMED)?.encode(&mut list);
    let kind: u8 = match json.get("keyType").and_then(Value::as_str) {
        Some("secp256k1") => 0,
        Some("p256") => 1,
        Some("webAuthn") => 2,
        _ => return Err(EncodingError::Untried("keyAuthorization.keyType")),
    };
    kind.encode(&mut list);
    address(json, "keyId")?.encode(&mut list);
    quantity(expiry).ok_or(MALFORMED)?.encode(&mut list);
    RawList(of_each(limits, limit)?).encode(&mut list);
    if let Some(calls) = given("allowedCalls") {
        RawList(of_each(calls, allowed_call)?).encode(&mut list);
    }
    let mut both = RawList(list).encoded();
    let signature = json.get("signature").and_then(Value::as_object).ok_or(MALFORMED)?;
    signature::of_key(signature)?.as_slice().encode(&mut both);
    Ok(RawList(both).encoded())
}

/// A token and how much of it may be spent, in all or in each period.
fn limit(json: &Map<String, Value>) -> Result<Vec<u8>, EncodingError> {
    let mut list = Vec::new();
    address(json, "token")?.encode(&mut list);
    json.get("limit").and_then(quantity).ok_or(MALFORMED)?.encode(&mut list);
    match json.get("period").map(quantity) {
        None => Ok(list),
        Some(Some(period)) if period.is_zero() => Ok(list),
        Some(_) => Err(EncodingError::Untried("keyAuthorization.limits.period")),
    }
}

/// A contract, and which calls of it are allowed.
fn allowed_call(json: &Map<String, Value>) -> Result<Vec<u8>, EncodingError> {
    let mut list = Vec::new();
    address(json, "target")?.encode(&mut list);
    RawList(of_each(json.get("selectorRules").ok_or(MALFORMED)?, selector_rule)?).encode(&mut list);
    Ok(list)
}

/// A selector, and for which recipients.
fn selector_rule(json: &Map<String, Value>) -> Result<Vec<u8>, EncodingError> {
    let selector = json.get("selector").and_then(Value::as_str).ok_or(MALFORMED)?;
    let recipients = json.get("recipients").and_then(Value::as_array).ok_or(MALFORMED)?;
    let mut list = Vec::new();
    selector.parse::<Bytes>().map_err(|_| MALFORMED)?.encode(&mut list);
    let mut all = Vec::new();
    for recipient in recipients {
        recipient.as_str().and_then(|text| text.parse::<Address>().ok()).ok_or(MALFORMED)?.encode(&mut all);
    }
    RawList(all).encode(&mut list);
    Ok(list)
}

/// The lists of the objects of a list, one after the other.
fn of_each(value: &Value, encode: EncodeItem) -> Result<Vec<u8>, EncodingError> {
    let mut all = Vec::new();
    for item in value.as_array().ok_or(MALFORMED)? {
        RawList(encode(item.as_object().ok_or(MALFORMED)?)?).encode(&mut all);
    }
    Ok(all)
}

fn address(json: &Map<String, Value>, name: &str) -> Result<Address, EncodingError> {
    json.get(name).and_then(Value::as_str).and_then(|text| text.parse().ok()).ok_or(MALFORMED)
}
