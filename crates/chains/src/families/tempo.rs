//! Tempo (<https://docs.tempo.xyz>): headers inside of another list, fees in tokens.

use alloy_primitives::Address;

use super::ethereum::ETHEREUM_RULES;
use crate::family::{Burnt, Family};
use crate::header::HeaderRule;
use crate::unsigned::UnsignedRule;

/// Tempo and Moderato.
pub static TEMPO: Family = Family {
    name: "tempo",
    header: HeaderRule::Tempo,
    unsigned: UnsignedRule::Hashed { senders: &[Address::ZERO] },
    burnt: Burnt::Unknown,
    ..ETHEREUM_RULES
};
