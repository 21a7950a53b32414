//! JSON-RPC requests and responses as text.

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use trawl_core::primitives::B256;

use crate::error::call::{Answer, CallError};
use crate::error::failure::Failure;

#[derive(Deserialize)]
struct Envelope {
    id: Option<usize>,
    result: Option<Box<RawValue>>,
    error: Option<CallError>,
}

/// The request of several calls; their positions are their ids.
pub fn batch_request(calls: &[(&'static str, Value)]) -> String {
    let body = calls
        .iter()
        .enumerate()
        .map(|(id, (method, params))| json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
    Value::Array(body.collect()).to_string()
}

/// The answers in the response to a batch, in the order of its `calls`, one each.
pub fn batch_answers(response: &str, calls: usize) -> Result<Vec<Answer>, Failure> {
    match serde_json::from_str(response) {
        Ok(envelopes) => in_order(envelopes, calls),
        Err(error) => match serde_json::from_str::<Envelope>(response) {
            // Some nodes refuse a whole batch with one error object.
            Ok(Envelope { error: Some(error), .. }) => Err(error.into()),
            _ => Err(Failure::transient(format!("its answer is not JSON-RPC: {error}"))),
        },
    }
}

/// Sorts answers into the order of the calls; nodes may shuffle them.
fn in_order(envelopes: Vec<Envelope>, calls: usize) -> Result<Vec<Answer>, Failure> {
    let mut answers: Vec<Option<Answer>> = (0..calls).map(|_| None).collect();
    for envelope in envelopes {
        let slot = envelope.id.and_then(|id| answers.get_mut(id));
        let Some(slot) = slot else {
            return Err(match envelope.error {
                Some(error) => error.into(),
                None => Failure::transient("an answer belongs to no call"),
            });
        };
        *slot = Some(match envelope.error {
            Some(error) => Err(error),
            // An absent result and `null` are the same to serde.
            None => Ok(envelope.result.unwrap_or_else(null)),
        });
    }
    answers.into_iter().map(|answer| answer.ok_or_else(|| Failure::transient("a call was not answered"))).collect()
}

fn null() -> Box<RawValue> {
    RawValue::from_string("null".into()).expect("valid JSON")
}

/// The request of a single call with unchanged parameters.
pub fn single_request(method: &str, params: &[&RawValue]) -> String {
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string()
}

#[derive(Deserialize)]
struct RawEnvelope {
    #[serde(default, deserialize_with = "present")]
    result: Option<Box<RawValue>>,
    error: Option<Box<RawValue>>,
}

/// A member that is `null` is present; to serde it is the same as an absent one.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Box<RawValue>>, D::Error> {
    Box::<RawValue>::deserialize(deserializer).map(Some)
}

/// The unchanged result or error object in the response to a single call; `None` if the text is no such response.
pub fn raw_answer(response: &str) -> Option<Result<Box<RawValue>, Box<RawValue>>> {
    let envelope: RawEnvelope = serde_json::from_str(response).ok()?;
    match (envelope.error, envelope.result) {
        (Some(error), _) => error.get().starts_with('{').then_some(Err(error)),
        (None, Some(result)) => Some(Ok(result)),
        (None, None) => None,
    }
}

/// A quantity as nodes write them.
pub fn quantity(value: &RawValue) -> Result<u64, Failure> {
    let text: String = serde_json::from_str(value.get()).map_err(|error| Failure::transient(error.to_string()))?;
    let digits = text.strip_prefix("0x").filter(|digits| !digits.is_empty() && !digits.starts_with('+'));
    digits
        .and_then(|digits| u64::from_str_radix(digits, 16).ok())
        .ok_or_else(|| Failure::permanent(format!("`{text}` is not a 64-bit quantity")))
}

/// The hash of a block or header; `None` if there is none.
pub fn block_hash(block: &RawValue) -> Option<B256> {
    #[derive(Deserialize)]
    struct Block {
        hash: B256,
    }
    serde_json::from_str::<Option<Block>>(block.get()).ok()?.map(|block| block.hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raw_answers_are_taken_as_they_are() {
        let owned = |raw: Box<RawValue>| raw.get().to_owned();
        let text = |response: &str| raw_answer(response).map(|answer| answer.map(owned).map_err(owned));
        assert_eq!(text(r#"{"jsonrpc":"2.0","id":1,"result":null}"#), Some(Ok("null".into())));
        assert_eq!(text(r#"{"id":1,"result":{"a": 1.0}}"#), Some(Ok(r#"{"a": 1.0}"#.into())));
        let error = r#"{"code":3,"message":"execution reverted","data":"0x08c379a0"}"#;
        assert_eq!(text(&format!(r#"{{"id":1,"error":{error}}}"#)), Some(Err(error.into())));
        for garbage in ["", "{}", "[]", "null", r#"{"id":1}"#, r#"{"id":1,"error":"no"}"#, "<html>"] {
            assert!(raw_answer(garbage).is_none(), "{garbage}");
        }
    }

    #[test]
    fn shuffled_answers_are_sorted() {
        let answers = batch_answers(r#"[{"id":1,"result":"b"},{"id":0,"error":{"code":5}}]"#, 2).expect("two answers");
        assert_eq!(answers[0].as_ref().expect_err("an error").code, 5);
        assert_eq!(answers[1].as_ref().expect("a result").get(), r#""b""#);
        assert!(batch_answers(r#"[{"id":1,"result":"b"}]"#, 2).is_err());
    }
}
