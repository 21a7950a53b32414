//! The Etherscan-compatible interface, `/api?module=…&action=…` (docs/reference/etherscan.md).

mod account;
mod answer;
mod block;
mod dispatch;
mod frames;
mod params;
mod placed;
mod rows;
mod transaction_gas;
mod transactions;
mod transfers;
mod window;

pub(crate) use dispatch::{get, post};
