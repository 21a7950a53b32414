//! Values in the notation of JSON-RPC, in any request: quantities, hashes, addresses, names of blocks.

use std::str::FromStr;

use serde_json::{Map, Value};

use crate::error::Problem;
use trawl_core::primitives::{Address, B256, BlockNumber, Bytes};
use trawl_core::store::Head;

/// A block by height or by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BlockName {
    /// A height, as a quantity.
    Number(BlockNumber),
    /// `earliest`, the genesis.
    Earliest,
    /// The newest readable block; also `pending`, since no newer one is known.
    Head,
    /// The newest readable block that is safe according to the node.
    Safe,
    /// The newest readable block that is final.
    Finalized,
}

impl BlockName {
    /// The height; `None` if no block of that kind is readable yet.
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

/// A member of an object that is there and not null. Its name may have any letter case, as geth reads it; one of this
/// spelling counts before others.
pub(crate) fn member<'a>(object: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    let other = || object.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value);
    object.get(name).or_else(other).filter(|value| !value.is_null())
}

/// The problem of a wrong parameter, with its text.
pub(crate) fn invalid(text: &str) -> Problem {
    Problem::InvalidParams(text.into())
}

/// `0x` and hexadecimal digits, at most 64 bits; leading zeros and `0x` alone are fine.
pub(crate) fn quantity(text: &str) -> Option<u64> {
    let digits = text.strip_prefix("0x")?;
    hex_number(digits)
}

/// Hexadecimal digits, at most 64 bits; no digits are zero.
pub(crate) fn hex_number(digits: &str) -> Option<u64> {
    if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    let significant = digits.trim_start_matches('0');
    if significant.is_empty() { Some(0) } else { u64::from_str_radix(significant, 16).ok() }
}

/// A height or a tag, as text.
pub(crate) fn block_name(value: &Value) -> Option<BlockName> {
    match value.as_str()? {
        "earliest" => Some(BlockName::Earliest),
        "latest" | "pending" => Some(BlockName::Head),
        "safe" => Some(BlockName::Safe),
        "finalized" => Some(BlockName::Finalized),
        text => quantity(text).map(BlockName::Number),
    }
}

/// `0x` and two hexadecimal digits a byte.
pub(crate) fn bytes(value: &Value) -> Option<Bytes> {
    let digits = value.as_str()?.strip_prefix("0x")?;
    const_hex::decode(digits).ok().map(Bytes::from)
}

/// `0x` and two digits for each byte of the type, in any letter case.
fn fixed_hex<T: FromStr>(value: &Value) -> Option<T> {
    let text = value.as_str()?;
    text.strip_prefix("0x").filter(|digits| digits.len() == 2 * size_of::<T>())?;
    text.parse().ok()
}

/// 32 bytes: a hash, a topic or a storage slot.
pub(crate) fn bytes32(value: &Value) -> Option<B256> {
    fixed_hex(value)
}

/// A 20-byte address.
pub(crate) fn address(value: &Value) -> Option<Address> {
    fixed_hex(value)
}

/// The name as JSON that reads the same, for fuzz targets.
#[cfg(fuzzing)]
pub(crate) fn written(name: BlockName) -> Value {
    match name {
        BlockName::Number(number) => format!("{number:#x}").into(),
        BlockName::Earliest => "earliest".into(),
        BlockName::Head => "latest".into(),
        BlockName::Safe => "safe".into(),
        BlockName::Finalized => "finalized".into(),
    }
}

/// Most alternatives that a filter may have for its address, or for one of its topics. Indexers of factories send as
/// many addresses as that: Envio 5,000, graph-node 2,000.
pub(crate) const MAX_ALTERNATIVES: usize = 5_000;

/// One end of a range of a filter. Only here a height may also be a JSON integer, which clients of this API family
/// send.
pub(crate) fn range_end(value: &Value) -> Option<BlockName> {
    match value {
        Value::Number(number) => number.as_u64().map(BlockName::Number),
        other => block_name(other),
    }
}

/// One address of a filter or several, sorted and without repeats; none means any.
///
/// # Errors
///
/// When one is no address, or there are more than [`MAX_ALTERNATIVES`].
pub(crate) fn addresses(given: Option<&Value>) -> Result<Vec<Address>, Problem> {
    let wrong = || invalid("invalid address");
    let mut addresses: Vec<Address> = match given {
        None => Vec::new(),
        Some(Value::Array(list)) => list.iter().map(|one| address(one).ok_or_else(wrong)).collect::<Result<_, _>>()?,
        Some(one) => vec![address(one).ok_or_else(wrong)?],
    };
    addresses.sort_unstable();
    addresses.dedup();
    if addresses.len() > MAX_ALTERNATIVES {
        return Err(Problem::TooManyAlternatives { limit: MAX_ALTERNATIVES });
    }
    Ok(addresses)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

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
