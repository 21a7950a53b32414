//! Values in JSON-RPC parameters: quantities, hashes, block names. Texts of errors as ruled (section 4.3 and 4.5).

use std::str::FromStr;

use serde_json::Value;
use serde_json::value::RawValue;

use crate::api::{App, Problem};
use trawl_core::primitives::{Address, B256, BlockNumber, Bytes};
use trawl_core::store::Head;

/// A block by height or by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::api) enum BlockName {
    /// This height.
    Number(BlockNumber),
    /// Genesis.
    Earliest,
    /// The newest readable block; also `pending`, since nothing newer is known.
    Head,
    /// The newest readable block that the node called safe.
    Safe,
    /// The newest readable block that can change no more.
    Finalized,
}

impl BlockName {
    /// `None` if the name means none: nothing is readable, or nothing that is final yet.
    pub fn number(self, head: &Head) -> Option<BlockNumber> {
        match self {
            Self::Number(number) => Some(number),
            Self::Earliest => Some(0),
            Self::Head => head.number(),
            Self::Safe => head.safe(),
            Self::Finalized => head.finalized(),
        }
    }
}

/// A block by height, by name or by hash (EIP-1898).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockId {
    /// By height or name.
    Name(BlockName),
    /// By hash. Only the branch that counts is readable, so `requireCanonical` changes nothing.
    Hash(B256),
}

impl BlockId {
    /// Its height; `None` if it is not known or its name means none. A height is not held against what is readable.
    pub async fn number(self, app: &App, head: &Head) -> Result<Option<BlockNumber>, Problem> {
        match self {
            Self::Name(name) => Ok(name.number(head)),
            Self::Hash(hash) => app.block_with_hash(&hash, head).await,
        }
    }
}

/// A problem with a parameter, in these words.
pub(in crate::api) fn invalid(text: &str) -> Problem {
    Problem::InvalidParams(text.into())
}

/// A parameter as a JSON value; [`Call::read`](super::envelope::Call::read) lets no other through.
pub(super) fn value(param: &RawValue) -> Value {
    serde_json::from_str(param.get()).unwrap_or_default()
}

/// `0x` and hexadecimal digits, at most 64 bits; leading zeros and `0x` alone are fine.
pub(super) fn quantity(text: &str) -> Option<u64> {
    let digits = text.strip_prefix("0x")?;
    hex_number(digits)
}

/// Hexadecimal digits, at most 64 bits; none are zero.
pub(super) fn hex_number(digits: &str) -> Option<u64> {
    if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    let significant = digits.trim_start_matches('0');
    if significant.is_empty() { Some(0) } else { u64::from_str_radix(significant, 16).ok() }
}

/// A height or a tag, as text.
pub(in crate::api) fn block_name(value: &Value) -> Option<BlockName> {
    match value.as_str()? {
        "earliest" => Some(BlockName::Earliest),
        "latest" | "pending" => Some(BlockName::Head),
        "safe" => Some(BlockName::Safe),
        "finalized" => Some(BlockName::Finalized),
        text => quantity(text).map(BlockName::Number),
    }
}

/// A height, a tag, a hash, or the object of EIP-1898 with one of `blockNumber` and `blockHash`.
pub(super) fn block_id(value: &Value) -> Option<BlockId> {
    let Some(object) = value.as_object() else {
        return word(value).map(BlockId::Hash).or_else(|| block_name(value).map(BlockId::Name));
    };
    if object.get("requireCanonical").is_some_and(|flag| !flag.is_boolean()) {
        return None;
    }
    match (object.get("blockNumber"), object.get("blockHash")) {
        (Some(number), None) => block_name(number).map(BlockId::Name),
        (None, Some(hash)) => word(hash).map(BlockId::Hash),
        _ => None,
    }
}

/// A position in a list: `0x` and hexadecimal digits.
pub(super) fn index(param: &RawValue) -> Result<u64, Problem> {
    value(param).as_str().and_then(quantity).ok_or_else(|| invalid("Invalid integer"))
}

/// `0x` and two hexadecimal digits a byte.
pub(super) fn bytes(value: &Value) -> Option<Bytes> {
    let digits = value.as_str()?.strip_prefix("0x")?;
    const_hex::decode(digits).ok().map(Bytes::from)
}

/// The same, as a parameter of its own.
pub(super) fn data(value: &Value) -> Result<Bytes, Problem> {
    bytes(value).ok_or_else(|| invalid("Invalid hex data"))
}

/// `0x` and exactly as many digits as the type has, in any letter case.
fn hex_word<T: FromStr>(value: &Value) -> Option<T> {
    let text = value.as_str()?;
    text.strip_prefix("0x").filter(|digits| digits.len() == 2 * size_of::<T>())?;
    text.parse().ok()
}

/// A 32-byte word.
pub(super) fn word(value: &Value) -> Option<B256> {
    hex_word(value)
}

/// A 20-byte address.
pub(in crate::api) fn address(value: &Value) -> Option<Address> {
    hex_word(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn blocks_are_named_in_every_way_of_eip_1898() {
        let hash = format!("0x{}", "ab".repeat(32));
        let by_hash = Some(BlockId::Hash(hash.parse().expect("a hash")));
        assert_eq!(block_id(&json!(hash)), by_hash);
        assert_eq!(block_id(&json!({"blockHash": hash})), by_hash);
        assert_eq!(block_id(&json!({"blockHash": hash, "requireCanonical": true})), by_hash);
        assert_eq!(block_id(&json!({"blockNumber": "0x2"})), Some(BlockId::Name(BlockName::Number(2))));
        assert_eq!(block_id(&json!("safe")), Some(BlockId::Name(BlockName::Safe)));
        for bad in [
            json!({}),
            json!({"blockNumber": 2}),
            json!({"blockHash": "0x12"}),
            json!({"blockHash": hash, "blockNumber": "0x2"}),
            json!({"blockHash": hash, "requireCanonical": 1}),
            json!([]),
            json!(null),
        ] {
            assert_eq!(block_id(&bad), None, "{bad}");
        }
    }

    #[test]
    fn heights_are_hexadecimal_or_named() {
        assert_eq!(block_name(&json!("0x00ff")), Some(BlockName::Number(255)));
        assert_eq!(block_name(&json!("0x")), Some(BlockName::Number(0)));
        assert_eq!(block_name(&json!("0xffffffffffffffff")), Some(BlockName::Number(u64::MAX)));
        assert_eq!(block_name(&json!("safe")), Some(BlockName::Safe));
        for bad in [
            json!("10"),
            json!(10),
            json!("0x1g"),
            json!("-0x1"),
            json!("LATEST"),
            json!(""),
            json!(null),
            json!("0x10000000000000000"),
        ] {
            assert_eq!(block_name(&bad), None, "{bad}");
        }
    }
}
