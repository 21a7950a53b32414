//! Addresses: one, its lists and counters, and all by rank.

pub(crate) mod coin_balances;
pub(super) mod counters;
pub(crate) mod lists;
pub(crate) mod mined_blocks;
pub(super) mod page;
pub(crate) mod ranking;
pub(super) mod tab_counts;

use axum::Router;

use crate::app::App;
use crate::http::route::get;

/// The routes of these endpoints.
pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/api/v2/addresses/{address_hash}", get(page::address_page))
        .route("/api/v2/addresses/{address_hash}/counters", get(counters::counters))
        .route("/api/v2/addresses/{address_hash}/tabs-counters", get(tab_counts::tabs))
        .route("/api/v2/addresses/{address_hash}/transactions", get(lists::transactions))
        .route("/api/v2/addresses/{address_hash}/logs", get(lists::logs))
        .route("/api/v2/addresses/{address_hash}/blocks-validated", get(mined_blocks::blocks_validated))
        .route("/api/v2/addresses/{address_hash}/coin-balance-history", get(coin_balances::history))
        .route("/api/v2/addresses/{address_hash}/coin-balance-history-by-day", get(coin_balances::by_day))
        .route("/api/v2/addresses/{address_hash}/withdrawals", get(lists::withdrawals))
        .route("/api/v2/addresses/{address_hash}/internal-transactions", get(lists::internal_transactions))
        .route("/api/v2/addresses/{address_hash}/token-transfers", get(lists::token_transfers))
        .route("/api/v2/addresses", get(ranking::addresses))
}
