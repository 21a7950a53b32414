//! Blocks: lists, one block, what was proven of them.

pub(crate) mod block;
pub(crate) mod list;
pub(super) mod verdicts;
pub(super) mod withdrawals;

use axum::Router;

use crate::app::App;
use crate::http::route::get;

/// The routes of these endpoints.
pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/api/v2/blocks", get(list::list))
        .route("/api/v2/blocks/{block_number_or_hash}", get(block::block))
        .route("/api/v2/blocks/{block_number_or_hash}/withdrawals", get(list::withdrawals))
        .route("/api/v2/blocks/{block_number_or_hash}/transactions", get(list::transactions))
        .route("/api/v2/blocks/{block_number_or_hash}/internal-transactions", get(block::internal_transactions))
        .route("/api/v2/blocks/{block_number_or_hash}/countdown", get(block::countdown))
}

/// Those of what was proven: a block may be proven anew while the chain stands still, so that no cache holds them.
pub(super) fn routes_of_verdicts() -> Router<App> {
    Router::new()
        .route("/api/v2/blocks/{block_number_or_hash}/verdict", get(verdicts::verdict))
        .route("/api/v2/stats/verdicts", get(verdicts::totals))
}
