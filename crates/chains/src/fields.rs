//! Fields of transactions and receipts by their names in the JSON of nodes, and how RLP writes them.

use alloy_primitives::{Address, B256, Bytes, U256};
use alloy_rlp::{BufMut, Encodable, Header};
use serde_json::{Map, Value};

/// Why a transaction or receipt of a family's own type cannot be encoded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EncodingError {
    /// A field is not there.
    #[error("the source has no {0}")]
    Missing(&'static str),
    /// A field is not what it should be.
    #[error("{0} is not what it should be")]
    Malformed(&'static str),
    /// A shape that no real block at hand has.
    #[error("the hashing of `{0}` was never checked on a real block")]
    Untried(&'static str),
    /// It is no JSON object.
    #[error("it is not a JSON object")]
    NoObject,
}

/// A field: where it is in the JSON, and what it is.
#[derive(Debug, Clone, Copy)]
pub struct Field {
    /// Names under which nodes give it, the first of them that has a value.
    pub names: &'static [&'static str],
    /// What it is.
    pub kind: Kind,
    /// Whether an absent one is written as empty or zero; else it is an error.
    pub is_optional: bool,
}

/// The chain that a transaction names.
pub(crate) const CHAIN_ID: Field = Field::required(&["chainId"], Kind::Quantity);
/// The nonce of the sender.
pub(crate) const NONCE: Field = Field::required(&["nonce"], Kind::Quantity);
/// The gas limit of the transaction.
pub(crate) const GAS: Field = Field::required(&["gas"], Kind::Quantity);
/// The recipient; a creation has none.
pub(crate) const TO: Field = Field::optional(&["to"], Kind::Address);
/// The amount that is sent, in wei.
pub(crate) const VALUE: Field = Field::required(&["value"], Kind::Quantity);
/// The call data, or the code of a creation.
pub(crate) const DATA: Field = Field::required(&["input", "data"], Kind::Bytes);

impl Field {
    /// A field that nodes always give.
    #[must_use]
    pub const fn required(names: &'static [&'static str], kind: Kind) -> Self {
        Self { names, kind, is_optional: false }
    }

    /// A field that nodes leave out, or give as `null`, where it is empty.
    #[must_use]
    pub const fn optional(names: &'static [&'static str], kind: Kind) -> Self {
        Self { names, kind, is_optional: true }
    }

    /// Its value, if it is there and not `null`.
    #[must_use]
    pub fn value<'v>(&self, json: &'v Map<String, Value>) -> Option<&'v Value> {
        self.names.iter().filter_map(|name| json.get(*name)).find(|value| !value.is_null())
    }

    /// Writes it in RLP.
    ///
    /// # Errors
    ///
    /// When it is missing or not what it should be.
    pub fn encode(&self, json: &Map<String, Value>, out: &mut Vec<u8>) -> Result<(), EncodingError> {
        match self.value(json) {
            Some(value) => match self.kind {
                Kind::Own(encode) | Kind::Trailing(encode) => {
                    out.extend_from_slice(&encode(value)?);
                    Ok(())
                }
                kind => kind.encode(value, out).ok_or(EncodingError::Malformed(self.names[0])),
            },
            None if self.is_optional => {
                self.kind.encode_absent(out);
                Ok(())
            }
            None => Err(EncodingError::Missing(self.names[0])),
        }
    }
}

/// What a field is.
#[derive(Debug, Clone, Copy)]
pub enum Kind {
    /// 32 bytes in hexadecimal.
    Hash,
    /// 20 bytes; an absent one is empty.
    Address,
    /// A number of up to 256 bits.
    Quantity,
    /// Any number of bytes in hexadecimal.
    Bytes,
    /// `true` or `false`, as one or zero.
    Flag,
    /// A list of addresses with slots (EIP-2930).
    AccessList,
    /// What only its family has, as that writes it.
    Own(EncodeValue),
    /// The same at the end of a list, where an absent one is left out.
    Trailing(EncodeValue),
}

/// Writes a value in RLP.
pub type EncodeValue = fn(&Value) -> Result<Vec<u8>, EncodingError>;

impl Kind {
    fn encode(self, value: &Value, out: &mut Vec<u8>) -> Option<()> {
        match self {
            Self::Flag => value.as_bool()?.encode(out),
            Self::AccessList => access_list(value)?.encode(out),
            Self::Hash => value.as_str()?.parse::<B256>().ok()?.encode(out),
            Self::Address => value.as_str()?.parse::<Address>().ok()?.encode(out),
            Self::Quantity => quantity(value)?.encode(out),
            Self::Bytes => value.as_str()?.parse::<Bytes>().ok()?.encode(out),
            Self::Own(encode) | Self::Trailing(encode) => out.extend_from_slice(&encode(value).ok()?),
        }
        Some(())
    }

    fn encode_absent(self, out: &mut dyn BufMut) {
        match self {
            Self::AccessList => Header { list: true, payload_length: 0 }.encode(out),
            Self::Trailing(_) => {}
            _ => out.put_u8(alloy_rlp::EMPTY_STRING_CODE),
        }
    }
}

/// A number as nodes write it: `0x` and up to 64 digits.
#[must_use]
pub(crate) fn quantity(value: &Value) -> Option<U256> {
    let digits = value.as_str()?.strip_prefix("0x")?;
    let is_hexadecimal = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    is_hexadecimal.then(|| U256::from_str_radix(digits, 16).ok())?
}

/// A number as some nodes write it: in hexadecimal, as a number of JSON, or in decimal digits.
#[must_use]
pub(crate) fn integer(value: &Value) -> Option<U256> {
    let decimal = |text: &str| {
        let is_decimal = text.bytes().all(|digit| digit.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
        (is_decimal && !text.is_empty()).then(|| U256::from_str_radix(text, 10).ok())?
    };
    quantity(value).or_else(|| value.as_u64().map(U256::from)).or_else(|| decimal(value.as_str()?))
}

/// Lists of an address and its storage keys.
fn access_list(value: &Value) -> Option<RawList> {
    let mut payload = Vec::new();
    for item in value.as_array()? {
        let address: Address = item.get("address")?.as_str()?.parse().ok()?;
        let keys = item.get("storageKeys")?.as_array()?;
        let keys = keys.iter().map(|key| key.as_str()?.parse::<B256>().ok()).collect::<Option<Vec<_>>>()?;
        let mut inner = Vec::new();
        address.encode(&mut inner);
        keys.encode(&mut inner);
        RawList(inner).encode(&mut payload);
    }
    Some(RawList(payload))
}

/// A list whose items are encoded.
pub(crate) struct RawList(pub Vec<u8>);

impl RawList {
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        Header { list: true, payload_length: self.0.len() }.encode(out);
        out.extend_from_slice(&self.0);
    }

    pub(crate) fn encoded(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.0.len() + 9);
        self.encode(&mut out);
        out
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_null_hides_no_value_under_another_name() {
        let data = Field::required(&["input", "data"], Kind::Bytes);
        let encoded = |given: Value| {
            let mut out = Vec::new();
            data.encode(given.as_object().expect("an object"), &mut out).map(|()| out)
        };
        let expected = Ok(vec![0x82, 0x12, 0x34]);
        for given in [json!({"input": "0x1234"}), json!({"data": "0x1234"}), json!({"input": null, "data": "0x1234"})] {
            assert_eq!(encoded(given), expected);
        }
        assert_eq!(encoded(json!({"input": null})), Err(EncodingError::Missing("input")));
    }
}
