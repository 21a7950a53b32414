//! Polygon PoS (0xPolygon/bor): state syncs stand outside of roots and bloom.

use super::ethereum::ETHEREUM_RULES;
use super::polygon_forks::FORKS;
use crate::chain::Chain;
use crate::family::{Family, Issuance};
use crate::finality::Finality;
use crate::producer::ProducerRule;
use crate::unsigned::UnsignedRule;

/// Polygon, its test networks, Shibarium.
pub static POLYGON: Family = Family {
    name: "polygon",
    producer: ProducerRule::Seal,
    // Before milestones, reorganisations of more than 100 blocks were seen.
    finality: Finality::Tag { depth: 256 },
    chains: &[
        Chain::new(137, "Polygon", "POL"),
        Chain::new(80_001, "Polygon Mumbai", "MATIC"),
        Chain::new(80_002, "Polygon Amoy", "POL"),
        Chain::new(109, "Shibarium", "BONE"),
    ],
    schedules: FORKS,
    unsigned: UnsignedRule::StateSync,
    issuance: Issuance::Nothing,
    ..ETHEREUM_RULES
};
