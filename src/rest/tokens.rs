//! Tokens: one, its lists and instances, what addresses hold, and all by rank.

pub(crate) mod balances;
pub(crate) mod holders_csv;
pub(super) mod instance_lists;
pub(crate) mod instances;
pub(crate) mod lists;
pub(crate) mod ranking;
pub(crate) mod token;

use axum::Router;

use crate::app::App;
use crate::http::route::get;

/// The routes of these endpoints.
pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/api/v2/tokens", get(ranking::tokens))
        .route("/api/v2/tokens/{address_hash}", get(token::token))
        .route("/api/v2/tokens/{address_hash}/counters", get(token::counters))
        .route("/api/v2/tokens/{address_hash}/holders", get(lists::holders))
        .route("/api/v2/tokens/{address_hash}/holders/csv", get(holders_csv::holders_csv))
        .route("/api/v2/tokens/{address_hash}/transfers", get(lists::transfers))
        .route("/api/v2/tokens/{address_hash}/instances", get(instances::instances))
        .route("/api/v2/tokens/{address_hash}/instances/{token_id}", get(instances::instance))
        .route("/api/v2/tokens/{address_hash}/instances/{token_id}/transfers", get(instance_lists::transfers))
        .route("/api/v2/tokens/{address_hash}/instances/{token_id}/transfers-count", get(instance_lists::total))
        .route("/api/v2/tokens/{address_hash}/instances/{token_id}/holders", get(instance_lists::holders))
        .route("/api/v2/addresses/{address_hash}/nft", get(instances::nft))
        .route("/api/v2/addresses/{address_hash}/nft/collections", get(instances::nft_collections))
        .route("/api/v2/addresses/{address_hash}/token-balances", get(balances::token_balances))
        .route("/api/v2/addresses/{address_hash}/tokens", get(balances::tokens))
}
