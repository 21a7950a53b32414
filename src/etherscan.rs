//! The Etherscan-compatible interface, `/api?module=…&action=…` (docs/reference/etherscan.md).

mod account;
mod action;
mod actions;
mod answer;
mod block;
mod contract;
mod failures;
mod gas;
mod joined_rows;
mod logs;
mod params;
mod proxy;
mod request;
mod rows;
mod serve;
mod state;
mod stats;
mod token;
mod transaction;
mod window;

pub(crate) use failures::in_envelope;
pub(crate) use serve::{chain_id, get, legacy, post, refuse};
