//! Parsing of parameters of JSON-RPC calls: blocks in every form, positions, bytes
//! (docs/reference/http-contract.md#json-rpc).

use serde_json::Value;
use serde_json::value::RawValue;

use crate::app::App;
use crate::error::Problem;
pub(crate) use crate::http::values::invalid;
use crate::http::values::{BlockName, block_name, bytes, bytes32, member, quantity};
use trawl_core::primitives::{B256, BlockNumber, Bytes};
use trawl_core::store::Head;

/// A block by height, by name or by hash (EIP-1898).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BlockId {
    /// By height or name.
    Name(BlockName),
    /// By hash. Only the canonical branch is readable, so `requireCanonical` has no effect.
    Hash(B256),
}

impl BlockId {
    /// The height of the block; `None` for an unknown hash or a name that means no block. A given height is returned
    /// unchecked.
    ///
    /// # Errors
    ///
    /// When the lookup of a hash fails.
    pub async fn number(self, app: &App, head: &Head) -> Result<Option<BlockNumber>, Problem> {
        match self {
            Self::Name(name) => Ok(name.number(head)),
            Self::Hash(hash) => app.block_with_hash(&hash, head).await,
        }
    }
}

/// A parameter as a JSON value; [`Call::read`](super::envelope::Call::read) refuses all others.
pub(crate) fn value(param: &RawValue) -> Value {
    serde_json::from_str(param.get()).unwrap_or_default()
}

/// A height, a tag, a hash, or the object of EIP-1898 with one of `blockNumber` and `blockHash`; the other may be null.
pub(crate) fn block_id(value: &Value) -> Option<BlockId> {
    let Some(object) = value.as_object() else {
        return bytes32(value).map(BlockId::Hash).or_else(|| block_name(value).map(BlockId::Name));
    };
    if member(object, "requireCanonical").is_some_and(|flag| !flag.is_boolean()) {
        return None;
    }
    match (member(object, "blockNumber"), member(object, "blockHash")) {
        (Some(number), None) => block_name(number).map(BlockId::Name),
        (None, Some(hash)) => bytes32(hash).map(BlockId::Hash),
        _ => None,
    }
}

/// A position in a list: `0x` and hexadecimal digits.
///
/// # Errors
///
/// When the parameter is anything else.
pub(crate) fn index(param: &RawValue) -> Result<u64, Problem> {
    value(param).as_str().and_then(quantity).ok_or_else(|| invalid("Invalid integer"))
}

/// A parameter of bytes: `0x` and two hexadecimal digits for each byte.
///
/// # Errors
///
/// When the parameter is anything else.
pub(crate) fn data(value: &Value) -> Result<Bytes, Problem> {
    bytes(value).ok_or_else(|| invalid("Invalid hex data"))
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
        assert_eq!(block_id(&json!({"blockHash": hash, "blockNumber": null, "requireCanonical": null})), by_hash);
        assert_eq!(block_id(&json!({"blockNumber": "0x2"})), Some(BlockId::Name(BlockName::Number(2))));
        assert_eq!(block_id(&json!("safe")), Some(BlockId::Name(BlockName::Safe)));
        for bad in [
            json!({}),
            json!({"blockNumber": 2}),
            json!({"blockHash": "0x12"}),
            json!({"blockHash": hash, "blockNumber": "0x2"}),
            json!({"blockHash": null, "blockNumber": null}),
            json!({"blockHash": hash, "requireCanonical": 1}),
            json!([]),
            json!(null),
        ] {
            assert_eq!(block_id(&bad), None, "{bad}");
        }
    }
}
