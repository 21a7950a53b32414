//! What rollups exchange with their L1.

pub(crate) mod deposits;
pub(crate) mod messages;

use axum::Router;

use crate::app::App;
use crate::http::route::get;

/// The routes of these endpoints, at the paths that clients of each family know.
pub(super) fn routes() -> Router<App> {
    let messages = trawl_chains::message_paths().into_iter();
    let deposits = trawl_chains::deposit_paths().into_iter();
    let router = messages.fold(Router::new(), |router, path| router.route(path, get(messages::list)));
    let of_transaction = trawl_chains::transaction_message_paths().into_iter();
    let router = of_transaction.fold(router, |router, path| router.route(path, get(messages::of_transaction)));
    let newest = trawl_chains::newest_deposit_paths().into_iter();
    let router = deposits.fold(router, |router, path| router.route(path, get(deposits::list)));
    newest.fold(router, |router, path| router.route(path, get(deposits::newest)))
}
