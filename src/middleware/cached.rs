//! The middleware of lists: answers from the cache, conditional requests, caching headers.

use axum::extract::{Request, State};
use axum::http::Method;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::request_head::RequestHead;
use super::requester::Requester;
use crate::app::App;
use crate::cache::answer_variant::AnswerVariant;
use crate::cache::responses::{Answer, AnswerView, Key};

/// Answers from the cache if possible, adds caching headers, and sends 304 to a client that has the answer. Only for
/// routes whose answers are written whole.
pub(crate) async fn cached(
    State(app): State<App>,
    Requester(client): Requester,
    mut request: Request,
    next: Next,
) -> Response {
    let headers = request.headers().clone();
    // The router drops the body of a HEAD request again, so both methods share an entry.
    if request.method() == Method::HEAD {
        *request.method_mut() = Method::GET;
    }
    let taken = RequestHead::take(&app);
    let view = taken.known().map(|head| AnswerView { chain: head.view, prices: app.options().prices.moment() });
    request.extensions_mut().insert(taken);
    let answer = match (app.responses(), view) {
        (Some(cache), Some(view)) => {
            let key = Key::new(request.uri(), AnswerVariant::of(request.uri(), &headers), view);
            cache.get_or_make(key, next.run(request)).await
        }
        _ => Answer::whole(next.run(request).await).await,
    };
    match app.limits().answers.hold(client, answer.len()) {
        Ok(held) => answer.held_by(held).respond(&headers),
        Err(problem) => problem.into_response(),
    }
}
