//! Transactions: one, its parts, and items of lists.

mod calls;
pub(super) mod coin_changes;
pub(super) mod coin_moves;
mod failures;
pub(super) mod frame_items;
pub(super) mod items;
pub(super) mod log_items;
pub(crate) mod parts;
mod revert_chains;
pub(super) mod sorted;
pub(super) mod state_change_cursor;
pub(crate) mod state_changes;
pub(crate) mod summary;
pub(crate) mod transaction;
pub(super) mod transfer_items;

use axum::Router;

use crate::app::App;
use crate::http::route::get;

/// The routes of these endpoints.
pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/api/v2/transactions/{transaction_hash}", get(transaction::transaction))
        .route("/api/v2/transactions/{transaction_hash}/logs", get(transaction::logs))
        .route("/api/v2/transactions/{transaction_hash}/token-transfers", get(parts::token_transfers))
        .route("/api/v2/transactions/{transaction_hash}/internal-transactions", get(parts::frames))
        .route("/api/v2/transactions/{transaction_hash}/blobs", get(parts::blobs))
        .route("/api/v2/transactions/{transaction_hash}/state-changes", get(state_changes::state_changes))
        .route("/api/v2/transactions/{transaction_hash}/calls", get(calls::calls))
        .route("/api/v2/transactions/{transaction_hash}/raw-trace", get(transaction::raw_trace))
        .route("/api/v2/transactions/{transaction_hash}/summary", get(summary::summary))
}
