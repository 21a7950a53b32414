//! Polygon PoS (0xPolygon/bor): state syncs stand outside of roots and bloom.

use super::ethereum::ETHEREUM_RULES;
use crate::family::Family;
use crate::finality::Finality;
use crate::unsigned::UnsignedRule;

/// Polygon, its test networks, Shibarium.
pub static POLYGON: Family = Family {
    name: "polygon",
    unsigned: UnsignedRule::StateSync,
    // Before milestones, reorganisations of more than 100 blocks were seen.
    finality: Finality::Tag { depth: 256 },
    ..ETHEREUM_RULES
};
