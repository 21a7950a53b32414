//! Avalanche's C-Chain and subnets (ava-labs/coreth): headers with fields of their own.

use super::ethereum::ETHEREUM_RULES;
use crate::evidence::Evidence;
use crate::family::{Burnt, Family};
use crate::finality::Finality;
use crate::header::HeaderRule;

/// The C-Chain and Fuji.
pub static AVALANCHE: Family = Family {
    name: "avalanche",
    header: HeaderRule::Avalanche,
    finality: Finality::AtOnce,
    burnt: Burnt::Everything,
    evidence: Evidence::Code,
    ..ETHEREUM_RULES
};
