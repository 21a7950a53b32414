//! HyperEVM: blocks as Ethereum's; system transactions, where a node shows them, are not known.

use super::ethereum::ETHEREUM_RULES;
use crate::chain::Chain;
use crate::family::Family;
use crate::finality::Finality;

/// HyperEVM and its test network.
pub static HYPEREVM: Family = Family {
    name: "hyperevm",
    chains: &[Chain::new(999, "HyperEVM", "HYPE"), Chain::new(998, "HyperEVM Testnet", "HYPE")],
    finality: Finality::AtOnce,
    ..ETHEREUM_RULES
};
