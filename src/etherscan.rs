//! The Etherscan-compatible interface, `/api?module=…&action=…` (docs/reference/etherscan.md).

mod account;
mod answer;
mod block;
mod dispatch;
mod params;

pub(crate) use dispatch::{get, post};
