//! What transactions of a family are that Ethereum's are not: the name of their type, and their calls.

use alloy_primitives::Address;
use serde_json::Value;

use crate::facts::ReaderFacts;
use crate::family::Family;
use crate::fields::quantity;
use crate::rest::RestFacts;

/// What says of which type a transaction is.
#[derive(Debug, Clone, Copy)]
pub struct TypeSigns {
    /// Its byte (EIP-2718).
    pub byte: u8,
    /// Sender, `from` of JSON-RPC.
    pub from: Address,
    /// Whether it has a signature; `None` if that is not known.
    pub is_signed: Option<bool>,
}

/// A call of a transaction that has several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InnerCall {
    /// Whom it calls; `None` for a creation.
    pub to: Option<Address>,
    /// Wei, as decimal text.
    pub value: String,
    /// Its data, in hexadecimal.
    pub input: String,
}

impl Family {
    /// Whether readers are shown anything beyond Ethereum's facts of a transaction.
    #[must_use]
    pub fn has_own_transactions(&self) -> bool {
        let ReaderFacts { fee, transaction, senders, .. } = self.reader;
        let is_all_signed = self.transaction_types.is_empty() && self.unsigned.name().is_none();
        !(fee.is_empty() && transaction.is_empty() && senders.is_empty() && is_all_signed)
    }

    /// The name of the type of a transaction, where it is one that Ethereum does not have.
    #[must_use]
    pub fn type_name(&self, signs: TypeSigns) -> Option<&'static str> {
        let of_sender = self.reader.senders.iter().find(|(sender, _)| *sender == signs.from);
        let of_byte = || self.transaction_type(signs.byte).map(|known| known.name);
        // The zero address signs nothing.
        let is_unsigned = signs.byte == 0 && (signs.from.is_zero() || signs.is_signed == Some(false));
        let of_unsigned = || self.unsigned.name().filter(|_| is_unsigned);
        of_sender.map(|(_, name)| *name).or_else(of_byte).or_else(of_unsigned)
    }

    /// The calls of a transaction that may have several, in order.
    #[must_use]
    pub fn calls(&self, facts: &RestFacts<'_>) -> Option<Vec<InnerCall>> {
        let list = facts.transaction.get(self.reader.calls?)?.as_array()?;
        Some(list.iter().filter_map(call).collect())
    }
}

fn call(json: &Value) -> Option<InnerCall> {
    let text = |name: &str| json.get(name).and_then(Value::as_str);
    let value = json.get("value").and_then(quantity)?;
    Some(InnerCall {
        to: text("to").and_then(|to| to.parse().ok()),
        value: value.to_string(),
        input: text("input").or_else(|| text("data")).unwrap_or("0x").to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::families::{ARBITRUM, ETHEREUM, OPTIMISM, POLYGON, TEMPO};
    use crate::rest::{RestSource, RestValue};
    use alloy_primitives::{U256, address};
    use serde_json::{Map, json};

    #[test]
    fn types_have_names() {
        let user = address!("00000000000000000000000000000000000a11ce");
        let signs = |byte, from, is_signed| TypeSigns { byte, from, is_signed: Some(is_signed) };
        let system = address!("deaddeaddeaddeaddeaddeaddeaddeaddead0001");
        assert_eq!(OPTIMISM.type_name(signs(0x7e, system, false)), Some("L1 attributes"));
        assert_eq!(OPTIMISM.type_name(signs(0x7e, user, false)), Some("deposit"));
        assert_eq!(OPTIMISM.type_name(signs(0, user, false)), Some("L1 message"));
        assert_eq!(OPTIMISM.type_name(signs(2, user, true)), None);
        assert_eq!(POLYGON.type_name(signs(0, Address::ZERO, false)), Some("state sync"));
        assert_eq!(POLYGON.type_name(signs(0x7f, Address::ZERO, false)), Some("state sync"));
        assert_eq!(TEMPO.type_name(signs(0x76, user, true)), Some("calls"));
        assert_eq!(ARBITRUM.type_name(signs(0x69, user, false)), Some("submit retryable"));
        assert_eq!(ETHEREUM.type_name(signs(0, user, false)), None);
        assert!(!ETHEREUM.has_own_transactions() && POLYGON.has_own_transactions());
    }

    #[test]
    fn fees_of_operators_are_those_of_the_receipt() {
        let value = |receipt: &Value| {
            let (none, receipt) = (Map::new(), receipt.as_object().cloned().unwrap_or_default());
            let facts = RestFacts { transaction: &none, receipt: &receipt, gas_used: 21_000, price: U256::from(7) };
            RestSource::OperatorFee.value(&facts)
        };
        // As in the tests of the formulas: 21,000 × 500,000 / 10^6 + 77, and 21,000 × 500,000 × 100 + 77.
        let isthmus = json!({"operatorFeeScalar": "0x7a120", "operatorFeeConstant": "0x4d"});
        assert_eq!(value(&isthmus), Some(RestValue::Text("10577".into())));
        let jovian =
            json!({"operatorFeeScalar": "0x7a120", "operatorFeeConstant": "0x4d", "daFootprintGasScalar": "0x190"});
        assert_eq!(value(&jovian), Some(RestValue::Text("1050000000077".into())));
        assert_eq!(value(&json!({"l1Fee": "0x1"})), None);
        let deposit = json!({"operatorFeeScalar": "0x7a120", "operatorFeeConstant": "0x4d", "depositNonce": "0x1"});
        assert_eq!(value(&deposit), None);
    }

    #[test]
    fn calls_are_read_in_order() {
        let to = "0x00000000000000000000000000000000000a11ce";
        let given = json!({"calls": [{"to": to, "value": "0x10", "input": "0x1234"}, {"to": null, "value": "0x0", "data": "0x60"}]});
        let (transaction, none) = (given.as_object().cloned().unwrap_or_default(), Map::new());
        let facts = RestFacts { transaction: &transaction, receipt: &none, gas_used: 0, price: U256::ZERO };
        let call = |to: Option<&str>, value: &str, input: &str| InnerCall {
            to: to.and_then(|to| to.parse().ok()),
            value: value.into(),
            input: input.into(),
        };
        assert_eq!(TEMPO.calls(&facts), Some(vec![call(Some(to), "16", "0x1234"), call(None, "0", "0x60")]));
        assert_eq!(OPTIMISM.calls(&facts), None);
    }
}
