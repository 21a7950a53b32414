//! The Etherscan-compatible interface, `/api?module=…&action=…` (docs/reference/etherscan.md).

mod account;
mod answer;
mod block;
mod dispatch;
mod params;
mod rows;
mod transactions;
mod window;

pub(crate) use dispatch::{get, post};
