//! Figures about the chain, and the charts of the statistics service.

pub(crate) mod figures;
pub(crate) mod service;
mod storage;

use axum::Router;

use crate::app::App;
use crate::http::route::get;

/// The routes of these endpoints.
pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/api/v2/stats", get(figures::stats))
        .route("/api/v2/stats/charts/transactions", get(figures::transactions_chart))
        .route("/api/v2/stats/charts/market", get(figures::market_chart))
        .route("/api/v2/transactions/stats", get(figures::last_day))
        .route("/api/v1/gas-price-oracle", get(figures::gas_price_oracle))
        .route("/stats-service/api/v1/counters", get(service::counters))
        .route("/stats-service/api/v1/lines", get(service::lines))
        .route("/stats-service/api/v1/lines/{name}", get(service::line))
        .route("/stats-service/api/v1/pages/main", get(service::main_page))
        .route("/stats-service/api/v1/pages/transactions", get(service::transactions_page))
        .route("/stats-service/api/v1/pages/contracts", get(service::contracts_page))
}

/// The route of what changes without a new block, and is not cached for that.
pub(super) fn routes_of_storage() -> Router<App> {
    Router::new().route("/api/v2/stats/storage", get(storage::storage))
}
