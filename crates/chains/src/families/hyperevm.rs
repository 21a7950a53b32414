//! HyperEVM: blocks as Ethereum's; system transactions, where a node shows them, stand outside of roots and bloom
//! (<https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/hyperevm/json-rpc>, hl-archive-node/nanoreth).

use super::ethereum::ETHEREUM_RULES;
use crate::chain::Chain;
use crate::family::{Family, NodeQuirks};
use crate::finality::Finality;
use crate::unsigned::UnsignedRule;

/// HyperEVM and its test network.
pub static HYPEREVM: Family = Family {
    name: "hyperevm",
    chains: &[Chain::new(999, "HyperEVM", "HYPE"), Chain::new(998, "HyperEVM Testnet", "HYPE")],
    finality: Finality::AtOnce,
    unsigned: UnsignedRule::System,
    quirks: NodeQuirks {
        system_receipts: Some("nodes may give receipts of system transactions that are not in the block"),
        ..NodeQuirks::NONE
    },
    ..ETHEREUM_RULES
};
