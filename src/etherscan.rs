//! The Etherscan-compatible interface, `/api?module=…&action=…` (docs/reference/etherscan.md).

mod account;
mod answer;
mod block_reward;
mod block_time;
mod contract;
mod dispatch;
mod frames;
mod log_union;
mod logs;
mod mined_blocks;
mod params;
mod placed;
mod proxy;
mod rows;
mod stats;
mod tokens;
mod transaction;
mod transaction_gas;
mod transaction_info;
mod transactions;
mod transfers;
mod window;

pub(crate) use dispatch::{block_by_time, get, logs, post};
