//! Contracts: one with its ABI, lists of them, and what a call of one means.

pub(crate) mod calldata;
pub(super) mod contract;
pub(crate) mod hot_contracts;
pub(crate) mod list;
pub(super) mod same_code;

use axum::Router;

use crate::app::App;
use crate::http::route::get;

/// The routes of these endpoints.
pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/api/v2/smart-contracts", get(list::contracts))
        .route("/api/v2/smart-contracts/counters", get(list::counters))
        .route("/api/v2/smart-contracts/{address_hash}", get(contract::smart_contract))
        .route("/api/v2/smart-contracts/{address_hash}/same-code", get(same_code::same_code))
        .route("/api/v2/utils/decode-calldata", get(calldata::decode_calldata))
        .route("/api/v2/stats/hot-smart-contracts", get(hot_contracts::hot_contracts))
}
