//! User operations (ERC-4337): operations, bundles, wallets and paymasters
//! (docs/reference/http-contract.md#user-operations).

pub(crate) mod bundles;
pub(crate) mod lists;
mod operation;
mod page_token;
mod participants;

use axum::Router;
use axum::http::Uri;

use crate::app::App;
use crate::error::Problem;
use crate::http::route::get;

/// The routes of these endpoints. What would take a read of all operations is refused by name.
pub(super) fn routes() -> Router<App> {
    const ROOT: &str = "/api/v2/proxy/account-abstraction";
    Router::new()
        .route("/api/v2/proxy/account-abstraction/operations", get(lists::operations))
        .route("/api/v2/proxy/account-abstraction/operations/{operation_hash}", get(operation::operation))
        .route("/api/v2/proxy/account-abstraction/bundles", get(bundles::bundles))
        .route("/api/v2/proxy/account-abstraction/accounts/{address_hash}", get(participants::wallet))
        .route("/api/v2/proxy/account-abstraction/paymasters/{address_hash}", get(participants::paymaster))
        .route(&format!("{ROOT}/{{*rest}}"), get(others))
}

async fn others(path: Uri) -> Problem {
    let kind = path.path().split('/').nth(5).unwrap_or_default();
    match ["accounts", "bundlers", "factories", "paymasters"].into_iter().find(|known| *known == kind) {
        Some(kind) => Problem::UserOperations(kind),
        None => Problem::UserOperations("other things"),
    }
}
