//! The ABI of a contract, entry by entry.

use alloy_json_abi::Error;
use alloy_primitives::{Selector, keccak256};
use serde_json::Value;
use trawl_core::primitives::B256;
use trawl_core::primitives::abi::{KnownEvent, MAX_TEXT, function_from_json};

/// Longest ABI, in bytes of JSON.
const MAX_ABI: usize = 2 << 20;

/// The ABI of one contract.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Abi {
    /// Its entries, in order.
    pub entries: Vec<AbiEntry>,
    /// Keccak-256 of its entries.
    pub digest: B256,
}

/// An entry of an ABI.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AbiEntry {
    /// `function`, `event`, `error`, `constructor`, `fallback` or `receive`.
    pub entry_type: &'static str,
    /// First four bytes of the hash of its signature; zero if it has none.
    pub selector: Selector,
    /// Name and types; empty if it has none, or if it has types of a library that its ABI does not define.
    pub signature: String,
    /// The entry as JSON.
    pub entry: String,
}

/// Whether a value looks like an ABI: a list of objects with types of entries.
pub fn looks_like_abi(value: &Value) -> bool {
    value.as_array().is_some_and(|entries| {
        !entries.is_empty()
            && entries.iter().all(|entry| entry["type"].as_str().is_some_and(|ty| known_type(ty).is_some()))
    })
}

fn known_type(ty: &str) -> Option<&'static str> {
    ["function", "event", "error", "constructor", "fallback", "receive"].into_iter().find(|known| *known == ty)
}

impl Abi {
    /// Reads an ABI; a text is JSON inside JSON. The error names what is wrong.
    pub fn new(value: &Value) -> Result<Self, String> {
        if let Value::String(text) = value {
            if text.len() > MAX_ABI {
                return Err(format!("an ABI of {} bytes is too long", text.len()));
            }
            let inner: Value = serde_json::from_str(text).map_err(|error| format!("the ABI is not JSON: {error}"))?;
            return if inner.is_string() { Err("the ABI is not a list".into()) } else { Self::new(&inner) };
        }
        let entries = value.as_array().ok_or("the ABI is not a list")?;
        let entries: Vec<AbiEntry> = entries
            .iter()
            .enumerate()
            .map(|(position, entry)| entry_of(entry).map_err(|reason| format!("entry {position} of the ABI: {reason}")))
            .collect::<Result<_, _>>()?;
        let whole: Vec<&str> = entries.iter().map(|entry| entry.entry.as_str()).collect();
        let whole = whole.join(",");
        if whole.len() > MAX_ABI {
            return Err(format!("an ABI of {} bytes is too long", whole.len()));
        }
        Ok(Self { entries, digest: keccak256(whole) })
    }
}

fn entry_of(value: &Value) -> Result<AbiEntry, String> {
    let object = value.as_object().ok_or("it is not an object")?;
    // As the ABI specification has it, an entry without a type is a function.
    let ty = object.get("type").map_or(Some("function"), Value::as_str).ok_or("its type is not text")?;
    let entry_type = known_type(ty).ok_or_else(|| format!("the type `{ty:.40}` is unknown"))?;
    let entry = value.to_string();
    if entry.len() > MAX_TEXT {
        return Err(format!("{} bytes are too long", entry.len()));
    }
    if matches!(entry_type, "function" | "event" | "error") && !object.get("name").is_some_and(Value::is_string) {
        return Err(format!("the {entry_type} has no name"));
    }
    // The ABI of a library has types that only its compiler knows; such entries are stored, and decode nothing.
    let signature = match entry_type {
        "event" => KnownEvent::from_json(&entry).ok().map(|known| known.event.signature()),
        "function" => function_from_json(&entry).ok().map(|function| function.signature()),
        "error" => serde_json::from_str::<Error>(&entry).ok().map(|error| error.signature()),
        _ => None,
    };
    let selector =
        signature.as_ref().map_or(Selector::ZERO, |signature| Selector::from_slice(&keccak256(signature)[..4]));
    Ok(AbiEntry { entry_type, selector, signature: signature.unwrap_or_default(), entry })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn entries_of_every_kind_are_stored() {
        let abi = Abi::new(&json!([
            {"type": "constructor", "inputs": []},
            {"type": "function", "name": "transfer", "inputs": [{"name": "to", "type": "address"}, {"name": "value", "type": "uint256"}],
             "outputs": [], "stateMutability": "nonpayable"},
            {"type": "event", "name": "E", "anonymous": false, "inputs": [{"name": "a", "type": "uint8[4000000000]", "indexed": false}]},
            {"type": "function", "name": "of", "inputs": [{"name": "kind", "type": "Library.Kind"}], "outputs": [], "stateMutability": "view"},
            {"type": "function", "name": "put", "inputs": [{"name": "set", "type": "Library.Set storage"}], "outputs": [], "stateMutability": "view"},
        ]))
        .expect("an ABI");
        let signatures: Vec<&str> = abi.entries.iter().map(|entry| entry.signature.as_str()).collect();
        // A library's selectors are made with the names of its enumerations, which lie in call data as `uint8`.
        assert_eq!(signatures, ["", "transfer(address,uint256)", "", "of(Library.Kind)", ""]);
        assert_eq!(abi.entries[1].selector, Selector::from([0xa9, 0x05, 0x9c, 0xbb]));
        assert_eq!(Abi::new(&json!("[]")).map(|abi| abi.entries.len()), Ok(0));
    }

    #[test]
    fn what_is_no_abi_says_why() {
        for (value, reason) in [
            (json!({}), "not a list"),
            (json!("{"), "not JSON"),
            (json!("\"[]\""), "not a list"),
            (json!([1]), "entry 0 of the ABI: it is not an object"),
            (json!([{"type": "spell"}]), "unknown"),
            (json!([{"type": "event", "inputs": []}]), "no name"),
            (json!([{"type": "event", "name": "x".repeat(70_000), "inputs": []}]), "too long"),
        ] {
            let error = Abi::new(&value).expect_err("no ABI");
            assert!(error.contains(reason), "{error}");
        }
    }
}
