//! Made-up transactions against hashes that another program computed (RLP and Keccak-256 in a few lines of Python,
//! which gives the hashes of transactions of real blocks too).

use alloy_primitives::keccak256;
use serde_json::{Map, Value, json};

use super::CALLS;
use crate::encoding::Encoding;
use crate::evidence::Evidence;
use crate::fields::EncodingError;
use crate::signer::Signer;

/// The address of the public key of all keys here.
const KEY_ID: &str = "0xc67f2ab01bc7fe44e3a843f43b6e69faa793fa30";
const PAYLOAD: &str = "0xb5b71998e185da03872634f3ee5d25cf75f4027fee54e588f460dc2fb1354fff";

fn word(byte: &str) -> String {
    format!("0x{}", byte.repeat(32))
}

fn token(last: char) -> String {
    format!("0x20c0{}{last}", "0".repeat(35))
}

fn transaction(signature: Value) -> Map<String, Value> {
    let transfer = format!("0xa9059cbb{}{}{}05", "00".repeat(12), "11".repeat(20), "00".repeat(31));
    let json = json!({
        "type": "0x76", "chainId": "0x1079", "maxPriorityFeePerGas": "0x1", "maxFeePerGas": "0x4a817c800", "gas": "0x493e0",
        "calls": [{"to": token('1'), "value": "0x0", "input": transfer}, {"to": null, "value": "0x7", "input": "0x6001"}],
        "accessList": [], "nonceKey": "0x3", "nonce": "0x9", "validBefore": "0x69f63624", "validAfter": null,
        "feeToken": token('2'), "feePayerSignature": null, "aaAuthorizationList": [], "keyAuthorization": null,
        "signature": signature,
    });
    json.as_object().expect("an object").clone()
}

fn secp256k1() -> Value {
    json!({"type": "secp256k1", "r": word("12"), "s": word("34"), "yParity": "0x1", "v": "0x1"})
}

fn p256() -> Value {
    json!({"type": "p256", "r": word("12"), "s": word("34"), "pubKeyX": word("56"), "pubKeyY": word("78"), "preHash": true})
}

fn web_authn() -> Value {
    let data = format!("0x{}", "a7".repeat(40));
    json!({"type": "webAuthn", "r": word("12"), "s": word("34"), "pubKeyX": word("56"), "pubKeyY": word("78"),
        "webauthnData": data})
}

/// A key that acts for an account, and what allows it to.
fn of_key_chain() -> Map<String, Value> {
    let user = format!("0x{}", "ab".repeat(20));
    let mut json = transaction(json!({"userAddress": user, "signature": p256(), "version": "v2", "keyId": KEY_ID}));
    json["keyAuthorization"] = json!({
        "chainId": "0x1079", "keyType": "p256", "keyId": KEY_ID, "expiry": "0x69f63624",
        "limits": [{"token": token('2'), "limit": "0x64", "period": "0x0"}],
        "allowedCalls": [{"target": token('1'), "selectorRules": [
            {"selector": "0xa9059cbb", "recipients": [format!("0x{}", "11".repeat(20))]}]}],
        "witness": null, "signature": web_authn(),
    });
    json
}

fn hash(encoding: &Encoding) -> String {
    keccak256(&encoding.bytes).to_string()
}

fn signer(encoding: &Encoding) -> String {
    match &encoding.signer {
        Signer::None => String::new(),
        Signer::Signature { payload, .. } => keccak256(payload).to_string(),
        Signer::Address(address) => address.to_string().to_lowercase(),
    }
}

#[test]
fn each_kind_of_signature_is_hashed_as_on_the_chain() {
    let user = format!("0x{}", "ab".repeat(20));
    for (json, expected, signed_by) in [
        (transaction(secp256k1()), "0x74566cb709b7b43854434213fdca4fa37822b1b1f02cf9c503ab7f1f9b55fbd2", PAYLOAD),
        (transaction(p256()), "0x3c66c8ab31061f49ab0339f20fa951445e247f2d28f4e279eb6988b0d1764118", KEY_ID),
        (transaction(web_authn()), "0x69ca0fee917bcb87de2bf39717ab40e1237a8a73c1f60cbc52d160980bb8b903", KEY_ID),
        (of_key_chain(), "0xac67beefe5028bd5612eddfec66fa60f751bea0e549e7ea92280f738b0137e14", user.as_str()),
    ] {
        let encoding = CALLS.encode(&json).expect("all fields are there");
        assert_eq!(hash(&encoding), expected);
        assert_eq!(signer(&encoding), signed_by);
        assert_eq!(encoding.evidence, Evidence::Blocks);
    }
}

#[test]
fn who_is_sponsored_signs_no_fee_token() {
    let mut json = transaction(secp256k1());
    json["feePayerSignature"] = json!({"yParity": "0x1", "r": word("9a"), "s": word("bc")});
    let encoding = CALLS.encode(&json).expect("all fields are there");
    assert_eq!(hash(&encoding), "0xcc41144196cb5f1b7940688580b239ec32bfb94c333bc2b099df9f3f7324d5ee");
    assert_eq!(signer(&encoding), "0x3754307a2779eb0be6b7fe04d501e80cf07dc851d946f027455e775d25d28b75");
    assert_eq!(encoding.evidence, Evidence::Code, "no real block has one");
}

#[test]
fn what_was_never_tried_is_an_error_that_names_it() {
    let error = |change: fn(&mut Map<String, Value>)| {
        let mut json = of_key_chain();
        change(&mut json);
        CALLS.encode(&json).expect_err("a shape that no real block has")
    };
    assert_eq!(error(|json| json["aaAuthorizationList"] = json!([{}])), EncodingError::Untried("aaAuthorizationList"));
    assert_eq!(
        error(|json| json["keyAuthorization"]["limits"] = Value::Null),
        EncodingError::Untried("keyAuthorization")
    );
    assert_eq!(error(|json| json["signature"]["version"] = json!("v9")), EncodingError::Untried("signature.version"));
    let other = |json: &mut Map<String, Value>| json["signature"]["keyId"] = json!(format!("0x{}", "cd".repeat(20)));
    assert_eq!(error(other), EncodingError::Malformed("signature"), "the id of another key");
    let mut repeated = transaction(secp256k1());
    repeated["signature"]["v"] = json!("0x0");
    assert_eq!(CALLS.encode(&repeated), Err(EncodingError::Malformed("signature")), "another parity");
}
