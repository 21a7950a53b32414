//! `module=account`: what one account has and did.

pub(crate) mod balances;
pub(crate) mod frames;
pub(crate) mod funding;
pub(crate) mod mined_blocks;
mod sides;
pub(crate) mod token_balances;
pub(crate) mod transactions;
pub(crate) mod transfers;
pub(crate) mod withdrawals;
