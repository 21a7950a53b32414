//! Statements know the request that they are sent for.

use axum::extract::{Extension, Request, State};
use axum::middleware::Next;
use axum::response::Response;
use trawl_core::store::RequestOrigin;

use crate::app::App;
use crate::http::headers::RequestId;

/// Runs the request with its id: a client's own is the `log_comment` of the statements, and each slow one is logged.
pub(crate) async fn name(
    State(app): State<App>,
    Extension(id): Extension<RequestId>,
    request: Request,
    next: Next,
) -> Response {
    let log_comment = match &id {
        RequestId::OfClient(id) => Some(id.clone()),
        RequestId::New(_) => None,
    };
    let slow_after = app.options().slow_statement;
    RequestOrigin { id: id.text().to_owned(), log_comment, slow_after }.scope(next.run(request)).await
}
