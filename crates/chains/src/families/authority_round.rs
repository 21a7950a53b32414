//! Gnosis and other chains of Authority Round: a step and a seal instead of mix hash and nonce.

use super::ethereum::ETHEREUM_RULES;
use super::gnosis_forks::FORKS;
use crate::chain::Chain;
use crate::facts::{Fact, ReaderFacts, Unit};
use crate::family::{BurntFees, Family};
use crate::header::HeaderRule;
use crate::rest::RestSource;

/// Gnosis and Chiado, which are as Ethereum since their merge; POA, Energy Web, Fuse.
pub static AUTHORITY_ROUND: Family = Family {
    name: "gnosis",
    chains: &[
        Chain::new(100, "Gnosis", "xDAI"),
        Chain::new(10_200, "Gnosis Chiado", "xDAI"),
        Chain::new(77, "POA Sokol", "SPOA"),
        Chain::new(99, "POA Core", "POA"),
        Chain::new(246, "Energy Web", "EWT"),
        Chain::new(73_799, "Energy Web Volta", "VT"),
        Chain::new(122, "Fuse", "FUSE"),
    ],
    schedules: FORKS,
    header: HeaderRule::AuthorityRound,
    // Nodes still name both, after the merge as null or zero.
    unhashed: &["auraStep", "auraSeal", "step", "signature"],
    burnt: BurntFees::Nothing,
    reader: ReaderFacts { block: STEP, ..ReaderFacts::NONE },
    ..ETHEREUM_RULES
};

/// The step, under the name of the node that gave it: Erigon; Nethermind and OpenEthereum.
const STEP: &[Fact] = &[
    Fact::new("Step", RestSource::Number("auraStep"), Unit::Number),
    Fact::new("Step", RestSource::Number("step"), Unit::Number),
];

#[cfg(test)]
mod tests {
    use alloy_primitives::U256;
    use serde_json::json;

    use super::*;
    use crate::rest::RestFacts;

    #[test]
    fn a_step_is_shown_under_each_of_its_names() {
        let none = serde_json::Map::new();
        for block in [json!({"auraStep": "0x12f4263f"}), json!({"step": 317_990_463}), json!({"step": "317990463"})] {
            let block = block.as_object().expect("an object");
            let facts = RestFacts { transaction: block, receipt: &none, gas_used: 0, price: U256::ZERO };
            let shown: Vec<String> = STEP.iter().filter_map(|fact| fact.value(&facts)).collect();
            assert_eq!(shown, ["317990463"], "{block:?}");
        }
    }
}
