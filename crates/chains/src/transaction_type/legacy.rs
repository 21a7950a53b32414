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

/// Which form a legacy transaction has, by its members in the JSON of a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LegacyForm {
    /// Ethereum's fields alone are hashed.
    Ethereum,
    /// The longer one, with these items between gas and recipient, in RLP.
    Longer(Vec<u8>),
    /// One of both: the node does not say which, and the longer one would have these items. The hash tells.
    Either(Vec<u8>),
    /// The same, and the items may be others: the node, or the file, has no fee of a gateway.
    Unspecified(Vec<u8>),
}

impl LegacyRule {
    /// Which form a transaction has. `extra`: its members in the JSON of a node that Ethereum's do not have; none where
    /// the source is no JSON.
    ///
    /// # Errors
    ///
    /// When a field is malformed.
    pub fn form(self, extra: &Map<String, Value>) -> Result<LegacyForm, EncodingError> {
        let is_compatible = extra.get(COMPATIBLE).and_then(Value::as_bool);
        if self == Self::Ethereum || is_compatible == Some(true) {
            return Ok(LegacyForm::Ethereum);
        }
        let mut items = Vec::new();
        FIELDS.iter().try_for_each(|field| field.encode(extra, &mut items))?;
        let names_fee = extra.get(GATEWAY_FEE).is_some_and(|fee| !fee.is_null());
        Ok(match is_compatible {
            Some(_) => LegacyForm::Longer(items),
            None if names_fee => LegacyForm::Either(items),
            None => LegacyForm::Unspecified(items),
        })
    }

    /// Whether the hash of a transaction of the longer form covers a member beyond Ethereum's.
    #[must_use]
    pub fn covers(self, name: &str) -> bool {
        self == Self::GatewayFee && (name == COMPATIBLE || FIELDS.iter().any(|field| field.names.contains(&name)))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn fields_are_there_unless_a_transaction_is_as_on_ethereum() {
        let form = |rule: LegacyRule, extra: Value| rule.form(extra.as_object().expect("an object"));
        let celo = |extra: Value| form(LegacyRule::GatewayFee, extra);
        let given =
            json!({"ethCompatible": false, "feeCurrency": null, "gatewayFeeRecipient": null, "gatewayFee": "0x0"});
        let empty = || vec![0x80, 0x80, 0x80];
        assert_eq!(celo(given.clone()), Ok(LegacyForm::Longer(empty())));
        assert_eq!(celo(json!({"ethCompatible": true, "gatewayFee": "0x0"})), Ok(LegacyForm::Ethereum));
        // Nodes of before CIP-35 name the fee of every transaction, and not which form it has.
        assert_eq!(celo(json!({"gatewayFee": "0x5"})), Ok(LegacyForm::Either(vec![0x80, 0x80, 5])));
        for unspecified in [json!({}), json!({"feeCurrency": null}), json!({"feeCurrency": null, "gatewayFee": null})] {
            assert_eq!(celo(unspecified), Ok(LegacyForm::Unspecified(empty())));
        }
        assert_eq!(form(LegacyRule::Ethereum, given.clone()), Ok(LegacyForm::Ethereum));
        assert!(celo(json!({"ethCompatible": false, "feeCurrency": "0x12"})).is_err());
        let given = given.as_object().expect("an object");
        assert!(given.keys().all(|name| LegacyRule::GatewayFee.covers(name)));
        assert!(given.keys().all(|name| !LegacyRule::Ethereum.covers(name)));
        assert!(!LegacyRule::GatewayFee.covers("l1Fee"));
    }
}
