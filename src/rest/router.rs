//! The routes under `/api/v2`.

use axum::http::Uri;
use axum::{Router, middleware, routing};

use super::{
    account_abstraction, activity, addresses, advanced_filters, blocks, contracts, everything, main_page, rollups,
    search, stats, tokens, transactions,
};
use crate::app::App;
use crate::error::Problem;
use crate::http::route::get;
use crate::middleware::cached::cached;
use crate::middleware::queued::queued;
use crate::scan::{self, exports};
use crate::service::{health, openapi};
use trawl_query::scan::{InternalTransactionScan, TokenTransferScan, TransactionScan};

/// Routes of the API family, of wide scans and of the service itself.
pub(crate) fn router(app: App) -> Router {
    let lists = Router::new()
        .merge(blocks::routes())
        .merge(transactions::routes())
        .merge(addresses::routes())
        .merge(tokens::routes())
        .merge(contracts::routes())
        .merge(stats::routes())
        .merge(rollups::routes())
        .merge(account_abstraction::routes())
        .route("/api/v2/addresses/{address_hash}/activity/counterparties", get(activity::of_counterparties))
        .route("/api/v2/addresses/{address_hash}/activity/coins", get(activity::of_coins))
        .route("/api/v2/addresses/{address_hash}/activity/failures", get(activity::of_failures))
        .route("/api/v2/stats/activity/failures", get(activity::of_all_failures))
        .route("/api/v2/addresses/{address_hash}/activity/events", get(activity::of_events))
        .route("/api/v2/addresses/{address_hash}/activity/methods", get(activity::of_methods))
        .route("/api/v2/tokens/{address_hash}/activity", get(activity::of_transfers))
        .route("/api/v2/stats/activity", get(activity::of_chain))
        .route("/api/v2/transactions", get(everything::transactions))
        .route("/api/v2/token-transfers", get(everything::token_transfers))
        .route("/api/v2/internal-transactions", get(everything::internal_transactions))
        .route("/api/v2/advanced-filters", get(advanced_filters::list))
        .route("/api/v2/advanced-filters/methods", get(advanced_filters::methods))
        .route("/api/v2/withdrawals", get(everything::withdrawals))
        .route("/api/v2/withdrawals/counters", get(everything::withdrawal_counters))
        .route("/api/v2/main-page/blocks", get(main_page::blocks))
        .route("/api/v2/main-page/transactions", get(main_page::transactions))
        .route("/api/v2/main-page/indexing-status", get(main_page::indexing_status))
        .route("/api/v2/search", get(search::search))
        .route("/api/v2/search/quick", get(search::quick))
        .route("/api/v2/search/check-redirect", get(search::check_redirect))
        // What is in the cache waits for nothing.
        .route_layer(middleware::from_fn_with_state(app.clone(), queued))
        .route_layer(middleware::from_fn_with_state(app.clone(), cached));
    let uncached = blocks::routes_of_verdicts()
        .merge(stats::routes_of_storage())
        .route_layer(middleware::from_fn_with_state(app.clone(), queued));
    Router::new()
        .merge(lists)
        .merge(uncached)
        .route("/api/v2/scan/logs", get(scan::get).post(scan::post))
        .route("/api/v2/scan/internal-transactions", get(scan::rows::<InternalTransactionScan>))
        .route("/api/v2/scan/token-transfers", get(scan::rows::<TokenTransferScan>))
        .route("/api/v2/scan/transactions", get(scan::rows::<TransactionScan>))
        .route("/api/v2/advanced-filters/csv", get(advanced_filters::csv))
        .route("/api/v2/addresses/{address_hash}/transactions/csv", get(exports::transactions))
        .route("/api/v2/addresses/{address_hash}/token-transfers/csv", get(exports::token_transfers))
        .route("/api/v2/addresses/{address_hash}/internal-transactions/csv", get(exports::internal_transactions))
        .route("/api/v2/addresses/{address_hash}/logs/csv", get(exports::logs))
        .route("/api/v2/config/backend-version", routing::get(health::backend_version))
        .route("/api/v2/config/json-rpc-url", get(health::json_rpc_url))
        .route("/api/v2/openapi", routing::get(openapi::openapi))
        .route("/api/v2", get(unknown))
        .route("/api/v2/{*rest}", get(unknown))
        .with_state(app)
}

async fn unknown(_: Uri) -> Problem {
    Problem::UnknownAction
}
