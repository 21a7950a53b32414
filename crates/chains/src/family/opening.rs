//! What the protocol of some families puts at the beginning of each block: it shows of which family a chain is.

use alloy_primitives::{Address, B256, U256, keccak256};
use serde_json::{Map, Value};

use crate::fields::quantity;
use crate::transaction_type::FamilyTransactionType;

/// The transaction that the protocol makes at the beginning of each block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpeningTransaction {
    /// Its type (EIP-2718), one of the family's own.
    pub byte: u8,
    /// Who sends it.
    pub sender: Address,
}

impl OpeningTransaction {
    /// Whether a transaction, as nodes give it, is this one, and has the hash that it has as of `kind`, its type: no
    /// transaction of another form has that.
    #[must_use]
    pub fn is(&self, transaction: &Map<String, Value>, kind: &FamilyTransactionType) -> bool {
        let text = |name: &str| transaction.get(name).and_then(Value::as_str);
        let byte = transaction.get("type").and_then(quantity);
        let from = text("from").and_then(|from| from.parse::<Address>().ok());
        let hash = text("hash").and_then(|hash| hash.parse::<B256>().ok());
        let encoded = || kind.encode(transaction).ok();
        byte == Some(U256::from(self.byte))
            && from == Some(self.sender)
            && encoded().is_some_and(|known| Some(keccak256(known.bytes)) == hash)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The first transaction of the first recorded block that has one.
    fn first_of(name: &str) -> Map<String, Value> {
        let file = format!("{}/../../tests/fixtures/chains/{name}", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(file).expect("the fixture");
        let blocks = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
        let mut first = blocks.filter_map(|line| line["block"]["transactions"][0].as_object().cloned());
        first.next().expect("a transaction")
    }

    fn name_of(transaction: &Map<String, Value>) -> Option<&'static str> {
        crate::by_opening(transaction).map(|family| family.name)
    }

    #[test]
    fn real_blocks_show_their_family() {
        for (name, expected) in [
            ("optimism-11155420.ndjson", Some("optimism")),
            ("optimism-goerli-5003318.json", Some("optimism")),
            ("arbitrum-without-receipts-421614.ndjson", Some("arbitrum")),
            ("polygon-137.ndjson", None),
            ("scroll-534352.ndjson", None),
            ("optimism-10.ndjson", None),
        ] {
            assert_eq!(name_of(&first_of(name)), expected, "{name}");
        }
    }

    #[test]
    fn nothing_else_is_taken_for_an_opening() {
        let deposit = first_of("optimism-11155420.ndjson");
        let changed = |name: &str, value: Value| {
            let mut other = deposit.clone();
            other.insert(name.into(), value);
            other
        };
        for (name, value) in [
            ("from", json!("0x00000000000000000000000000000000000a11ce")),
            ("gas", json!("0x1")),
            ("type", json!("0x2")),
            ("type", json!("0x6a")),
            ("hash", json!(B256::ZERO.to_string())),
            ("sourceHash", Value::Null),
        ] {
            assert_eq!(name_of(&changed(name, value)), None, "{name}");
        }
        // An account that deposits something begins no block.
        let mut of_account = changed("from", json!("0x00000000000000000000000000000000000a11ce"));
        let kind = crate::families::OPTIMISM.transaction_type(0x7e).expect("a type");
        let hash = keccak256(kind.encode(&of_account).expect("a deposit").bytes);
        of_account.insert("hash".into(), json!(hash.to_string()));
        assert_eq!(name_of(&of_account), None);
        assert_eq!(name_of(&Map::new()), None);
    }
}
