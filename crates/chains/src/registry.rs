//! Which chain is of which family.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::chain::Chain;
use crate::families::{
    ARBITRUM, AUTHORITY_ROUND, AVALANCHE, BERACHAIN, BNB, CELO, COSMOS, FRONTIER, HYPEREVM, MANTLE, OPTIMISM, POLYGON,
    RONIN, SCROLL, SONIC, STABLE, TEMPO, ZKSYNC,
};
use crate::family::Family;

pub use crate::families::ETHEREUM;

/// Every family; each lists its chains.
static FAMILIES: [&Family; 19] = [
    &ETHEREUM,
    &OPTIMISM,
    &CELO,
    &MANTLE,
    &ARBITRUM,
    &POLYGON,
    &BNB,
    &AUTHORITY_ROUND,
    &AVALANCHE,
    &SCROLL,
    &TEMPO,
    &HYPEREVM,
    &ZKSYNC,
    &COSMOS,
    &STABLE,
    &FRONTIER,
    &BERACHAIN,
    &SONIC,
    &RONIN,
];

/// The family of a chain; Ethereum's rules for a chain that is not listed.
#[must_use]
pub fn by_chain_id(chain_id: u64) -> &'static Family {
    listed(chain_id).unwrap_or(&ETHEREUM)
}

/// The family of a chain that is listed.
#[must_use]
pub fn listed(chain_id: u64) -> Option<&'static Family> {
    FAMILIES.iter().copied().find(|family| family.chain(chain_id).is_some())
}

/// A chain that a family lists.
#[must_use]
pub fn chain(chain_id: u64) -> Option<&'static Chain> {
    FAMILIES.iter().find_map(|family| family.chain(chain_id))
}

/// The family of a chain whose operator may have `stated` one, by its name.
#[must_use]
pub fn of_chain(chain_id: u64, stated: Option<&str>) -> &'static Family {
    stated.and_then(by_name).unwrap_or_else(|| by_chain_id(chain_id))
}

/// The family whose blocks each begin with a transaction such as this one, in the JSON of nodes; none if it may be of
/// any chain.
#[must_use]
pub fn by_opening(transaction: &Map<String, Value>) -> Option<&'static Family> {
    let opens = |family: &Family| {
        let opening = family.opening?;
        Some(opening.is(transaction, family.transaction_type(opening.byte)?))
    };
    FAMILIES.iter().copied().find(|family| opens(family) == Some(true))
}

/// The family whose headers alone have such members beside Ethereum's; none if they may be of any chain. A member that
/// is null says nothing.
#[must_use]
pub fn by_header(extra: &Map<String, Value>) -> Option<&'static Family> {
    let has = |name: &&str| extra.get(*name).is_some_and(|value| !value.is_null());
    let has_all = |family: &Family| family.header_signs.iter().all(has);
    FAMILIES.iter().copied().find(|family| !family.header_signs.is_empty() && has_all(family))
}

/// The family of a name.
#[must_use]
pub fn by_name(name: &str) -> Option<&'static Family> {
    FAMILIES.iter().copied().find(|family| family.name == name)
}

/// The names of all families.
pub fn names() -> impl Iterator<Item = &'static str> {
    FAMILIES.iter().map(|family| family.name)
}

/// The paths of all families' lists of messages to L1.
#[must_use]
pub fn message_paths() -> BTreeSet<&'static str> {
    FAMILIES.iter().filter_map(|family| Some(family.messages?.path)).collect()
}

/// The paths of all families' lists of one transaction's messages to L1.
#[must_use]
pub fn transaction_message_paths() -> BTreeSet<&'static str> {
    FAMILIES.iter().filter_map(|family| Some(family.messages?.of_transaction.as_ref()?.path)).collect()
}

/// The paths of all families' lists of transactions from L1.
#[must_use]
pub fn deposit_paths() -> BTreeSet<&'static str> {
    FAMILIES.iter().filter_map(|family| Some(family.deposits?.path)).collect()
}

/// The paths of all families' lists of the newest transactions from L1.
#[must_use]
pub fn newest_deposit_paths() -> BTreeSet<&'static str> {
    FAMILIES.iter().filter_map(|family| Some(family.deposits?.newest.as_ref()?.path)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_is_of_one_family_and_a_name_of_one() {
        let mut ids: Vec<u64> = FAMILIES.iter().flat_map(|family| family.chains).map(|chain| chain.id).collect();
        let all = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), all);
        let mut names: Vec<&str> = FAMILIES.iter().map(|family| family.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), FAMILIES.len());
        assert_eq!(by_chain_id(8453).name, "optimism");
        assert_eq!(by_chain_id(1337).name, "ethereum");
        assert_eq!(chain(8453).map(|chain| (chain.name, chain.coin)), Some(("Base", Some("ETH"))));
        assert_eq!(chain(1337), None);
    }

    #[test]
    fn members_of_a_header_that_are_null_are_of_no_family() {
        let of = |timestamp: Value| {
            let members = serde_json::json!({"l1BatchNumber": "0x1", "l1BatchTimestamp": timestamp});
            by_header(members.as_object().expect("an object")).map(|family| family.name)
        };
        assert_eq!((of("0x2".into()), of(Value::Null)), (Some("zksync"), None));
    }

    #[test]
    fn a_byte_is_of_one_type_in_a_family() {
        for family in FAMILIES {
            let mut bytes: Vec<u8> = family.transaction_types.iter().map(|known| known.byte).collect();
            bytes.sort_unstable();
            bytes.dedup();
            assert_eq!(bytes.len(), family.transaction_types.len(), "{}", family.name);
            assert!(bytes.iter().all(|byte| *byte > 4), "{}: Ethereum's types are Ethereum's", family.name);
        }
    }
}
