//! Requests are counted by key or by address, with --rate-limit (docs/operate/limits.md#rates).

use std::borrow::Cow;
use std::convert::Infallible;

use axum::extract::{FromRequestParts, Request, State};
use axum::http::Method;
use axum::http::request::Parts;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::requester::Requester;
use crate::app::App;
use crate::http::cors;
use crate::limits::Allowance;

/// Counts a request, refuses it if it is one too many, and says in the answer what is left.
pub(crate) async fn admit(
    State(app): State<App>,
    Requester(client): Requester,
    mut request: Request,
    next: Next,
) -> Response {
    let path = request.uri().path();
    // Probes and pages are not counted.
    let Some(rates) = app.rates().filter(|_| is_counted(path)) else {
        return next.run(request).await;
    };
    let allowance = rates.open(client);
    request.extensions_mut().insert(allowance.clone());
    let outcome = if has_form(&request) { Ok(()) } else { allowance.charge(key(&request).as_deref()) };
    let mut response = match outcome {
        Ok(()) => next.run(request).await,
        Err(problem) => problem.into_response(),
    };
    if !allowance.is_charged() {
        // A form that was not read. It has its answer; the next one will be refused.
        let _ = allowance.charge(None);
    }
    allowance.show(response.headers_mut());
    response
}

/// Whether requests of a path are counted: those of interfaces for programs, except the health probe.
fn is_counted(path: &str) -> bool {
    (cors::is_shared(path) && !cors::is_probe(path)) || matches!(path, "/mcp" | "/sql/query")
}

/// Whether the key may be in the body, whose handler counts the request then.
fn has_form(request: &Request) -> bool {
    request.method() == Method::POST && matches!(request.uri().path(), "/api" | "/v2/api")
}

/// The key of a request: the last one of its query, else that of its header.
fn key(request: &Request) -> Option<String> {
    let query = request.uri().query().unwrap_or_default();
    let is_key = |(name, _): &(Cow<str>, Cow<str>)| matches!(name.trim(), "apikey" | "key");
    let of_query = url::form_urlencoded::parse(query.as_bytes()).filter(is_key).last();
    of_query.map(|(_, key)| key.trim().to_owned()).or_else(|| of_header(request))
}

fn of_header(request: &Request) -> Option<String> {
    request.headers().get("x-api-key").and_then(|key| key.to_str().ok()).map(str::to_owned)
}

impl<S: Send + Sync> FromRequestParts<S> for Allowance {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(parts.extensions.get().cloned().unwrap_or(Self::UNLIMITED))
    }
}
