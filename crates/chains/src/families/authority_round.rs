//! Gnosis and other chains of Authority Round: a step and a seal instead of mix hash and nonce.

use super::ethereum::ETHEREUM_RULES;
use crate::family::{Burnt, Family};
use crate::header::HeaderRule;

/// Gnosis and Chiado, which are as Ethereum since their merge; POA, Energy Web, Fuse.
pub static AUTHORITY_ROUND: Family =
    Family { name: "gnosis", header: HeaderRule::AuthorityRound, burnt: Burnt::Nothing, ..ETHEREUM_RULES };
