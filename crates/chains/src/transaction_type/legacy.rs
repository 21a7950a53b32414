//! Legacy transactions with fields that Ethereum's do not have.

use serde_json::{Map, Value};

use crate::fields::{EncodingError, Field, Kind};

/// What legacy transactions of a family are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LegacyRule {
    /// What Ethereum's are.
    Ethereum,
    /// Also the token that pays for gas and a gateway's fee, between gas and recipient, unless the transaction is as
    /// Ethereum's all the same (celo-org/celo-proposals, CIP-35).
    GatewayFee,
}

/// Says whether a transaction is as Ethereum's.
const COMPATIBLE: &str = "ethCompatible";
const GATEWAY_FEE: &str = "gatewayFee";
const FIELDS: [Field; 3] = [
    Field::optional(&["feeCurrency"], Kind::Address),
    Field::optional(&["gatewayFeeRecipient"], Kind::Address),
    Field::optional(&[GATEWAY_FEE], Kind::Quantity),
];

impl LegacyRule {
    /// What stands between gas and recipient, in RLP; `None` if the transaction is as Ethereum's.
    /// `extra`: its members in the JSON of a node that Ethereum's do not have.
    ///
    /// # Errors
    ///
    /// When a field is malformed.
    pub fn fields_after_gas(self, extra: &Map<String, Value>) -> Result<Option<Vec<u8>>, EncodingError> {
        if !self.is_longer(extra) {
            return Ok(None);
        }
        let mut list = Vec::new();
        FIELDS.iter().try_for_each(|field| field.encode(extra, &mut list))?;
        Ok(Some(list))
    }

    /// Whether the hash of a legacy transaction covers a member beyond Ethereum's. `extra`: all of them.
    #[must_use]
    pub fn covers(self, extra: &Map<String, Value>, name: &str) -> bool {
        self.is_longer(extra) && (name == COMPATIBLE || FIELDS.iter().any(|field| field.names.contains(&name)))
    }

    /// Nodes of before CIP-35 name the fee of every transaction, and not whether it is as Ethereum's.
    fn is_longer(self, extra: &Map<String, Value>) -> bool {
        let is_compatible = extra.get(COMPATIBLE).and_then(Value::as_bool);
        self == Self::GatewayFee && !is_compatible.unwrap_or(!extra.contains_key(GATEWAY_FEE))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn fields_are_there_unless_a_transaction_is_as_on_ethereum() {
        let list = |rule: LegacyRule, extra: Value| rule.fields_after_gas(extra.as_object().expect("an object"));
        let celo = |extra: Value| list(LegacyRule::GatewayFee, extra);
        let given =
            json!({"ethCompatible": false, "feeCurrency": null, "gatewayFeeRecipient": null, "gatewayFee": "0x0"});
        assert_eq!(celo(given.clone()), Ok(Some(vec![0x80, 0x80, 0x80])));
        assert_eq!(celo(json!({"gatewayFee": "0x5"})), Ok(Some(vec![0x80, 0x80, 5])));
        for compatible in [json!({}), json!({"ethCompatible": true, "gatewayFee": "0x0"}), json!({"feeCurrency": null})]
        {
            assert_eq!(celo(compatible), Ok(None));
        }
        assert_eq!(list(LegacyRule::Ethereum, given.clone()), Ok(None));
        assert!(celo(json!({"ethCompatible": false, "feeCurrency": "0x12"})).is_err());
        let given = given.as_object().expect("an object");
        assert!(given.keys().all(|name| LegacyRule::GatewayFee.covers(given, name)));
        assert!(given.keys().all(|name| !LegacyRule::Ethereum.covers(given, name)));
    }
}
