//! HyperEVM: blocks as Ethereum's; system transactions, where a node shows them, are not known.

use super::ethereum::ETHEREUM_RULES;
use crate::family::Family;
use crate::finality::Finality;

/// HyperEVM and its test network.
pub static HYPEREVM: Family = Family { name: "hyperevm", finality: Finality::AtOnce, ..ETHEREUM_RULES };
