//! Parameters of Otterscan's methods: numbers come as JSON numbers, in hexadecimal or in decimal digits.

use serde_json::Value;
use serde_json::value::RawValue;

use crate::error::Problem;
use crate::http::values::{BlockName, block_name, bytes32, invalid, quantity};
use crate::rpc::protocol::params::value;
use trawl_core::primitives::{Address, B256};

/// A number in any of the three forms.
fn number(value: &Value) -> Option<u64> {
    let text = || value.as_str().filter(|text| !text.is_empty());
    let decimal = |text: &str| text.bytes().all(|digit| digit.is_ascii_digit()).then(|| text.parse().ok()).flatten();
    value.as_u64().or_else(|| text().and_then(|text| quantity(text).or_else(|| decimal(text))))
}

/// A block by height or name.
///
/// # Errors
///
/// When the parameter is anything else.
pub(super) fn block(param: &RawValue) -> Result<BlockName, Problem> {
    let value = value(param);
    let named = number(&value).map(BlockName::Number).or_else(|| block_name(&value));
    named.ok_or_else(|| invalid("Invalid block number"))
}

/// A number that is not a block; `what` names it in the error.
///
/// # Errors
///
/// When the parameter is anything else.
pub(super) fn count(param: &RawValue, what: &str) -> Result<u64, Problem> {
    number(&value(param)).ok_or_else(|| invalid(&format!("Invalid {what}")))
}

/// An account: `0x` and 40 hexadecimal digits.
///
/// # Errors
///
/// When the parameter is anything else.
pub(super) fn address(param: &RawValue) -> Result<Address, Problem> {
    crate::http::values::address(&value(param)).ok_or_else(|| invalid("Invalid address"))
}

/// A hash of a block or transaction.
///
/// # Errors
///
/// When the parameter is anything else.
pub(super) fn hash(param: &RawValue) -> Result<B256, Problem> {
    bytes32(&value(param)).ok_or_else(|| invalid("Invalid hash"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn blocks_come_as_numbers_and_as_text() {
        let raw = |value: Value| RawValue::from_string(value.to_string()).expect("JSON");
        for ninety in [json!(90), json!("0x5a"), json!("90")] {
            assert_eq!(block(&raw(ninety)), Ok(BlockName::Number(90)));
        }
        assert_eq!(block(&raw(json!("latest"))), Ok(BlockName::Head));
        for bad in [json!(-1), json!(1.5), json!(""), json!("9a"), json!("-1"), json!(null), json!([1]), json!(true)] {
            assert!(block(&raw(bad.clone())).is_err(), "{bad}");
            assert!(count(&raw(bad), "page").is_err());
        }
    }
}
