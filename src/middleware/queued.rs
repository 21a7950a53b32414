//! The middleware of lists that reads take turns.

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::app::App;

/// Waits for a slot among the reads, or refuses. Only for routes whose answers are written whole.
pub(crate) async fn queued(State(app): State<App>, request: Request, next: Next) -> Response {
    match app.limits().reads.enter().await {
        Ok(_slot) => next.run(request).await,
        Err(problem) => problem.into_response(),
    }
}
