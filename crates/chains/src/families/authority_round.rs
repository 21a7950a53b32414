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
    burnt: BurntFees::Nothing,
    reader: ReaderFacts { block: &[Fact::new("Step", RestSource::Own("auraStep"), Unit::Number)], ..ReaderFacts::NONE },
    ..ETHEREUM_RULES
};
