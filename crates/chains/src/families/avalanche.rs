//! Avalanche's C-Chain and subnets (ava-labs/coreth): headers with fields of their own.

use super::ethereum::ETHEREUM_RULES;
use crate::family::Family;
use crate::header::HeaderRule;

/// The C-Chain and Fuji.
pub static AVALANCHE: Family =
    Family { name: "avalanche", title: "Avalanche", header: HeaderRule::Avalanche, ..ETHEREUM_RULES };
