//! `/sql/query`: statements of visitors, each under the account of its visitor (docs/reference/sql.md#console). The
//! limits of that account are those of the database; this adds bounds of its own, and knows no account.

mod error;
mod format;
mod pages;
mod stream;

use axum::Router;
use axum::body::Body;
use axum::extract::{RawQuery, State};
use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use std::time::Duration;
use trawl_core::store::Login;
use trawl_serve::Client;

use crate::app::App;
use crate::error::Problem;
use crate::http::request_body;
use crate::middleware::requester::Requester;
use error::ConsoleError;
use format::TextFormat;

/// Where statements are sent.
pub(crate) const PATH: &str = "/sql/query";
/// Longest text of a statement, in bytes: what ClickHouse's parser takes (`max_query_size`).
const MAX_STATEMENT: usize = 256 << 10;
/// How long a client waits for the answer to a wrong password, so that trying many takes long.
const WRONG_LOGIN_PAUSE: Duration = Duration::from_secs(1);

/// The route, where the operator turns it on.
pub(crate) fn router(app: App) -> Router {
    let router = Router::new().route(PATH, post(run));
    router.method_not_allowed_fallback(async || Problem::MethodNotAllowed).with_state(app)
}

async fn run(
    State(app): State<App>,
    Requester(client): Requester,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let answer = answer(&app, client, query.as_deref().unwrap_or_default(), &headers, body);
    answer.await.unwrap_or_else(IntoResponse::into_response)
}

async fn answer(
    app: &App,
    client: Client,
    query: &str,
    headers: &HeaderMap,
    body: Body,
) -> Result<Response, ConsoleError> {
    pages::refuse_others(headers)?;
    let format = TextFormat::of_request(query)?;
    let login = login(headers)?;
    let text = request_body::read(&app.limits().bodies, client, headers, body, MAX_STATEMENT).await?;
    let statement = std::str::from_utf8(&text.text).map_err(|_| Problem::Malformed)?;
    if statement.trim().is_empty() {
        return Err(ConsoleError::NoStatement);
    }
    let slot = app.limits().take_statement(client)?;
    let visitor = match stream::in_time(stream::LOGIN_TIMEOUT, app.reader().admit(login)).await? {
        Ok(visitor) => visitor,
        Err(error) => {
            let error = ConsoleError::from(error);
            if matches!(error, ConsoleError::WrongLogin) {
                tokio::time::sleep(WRONG_LOGIN_PAUSE).await;
            }
            return Err(error);
        }
    };
    stream::respond(app, client, &visitor, statement, format, slot).await
}

/// The account that a request names (RFC 7617).
fn login(headers: &HeaderMap) -> Result<Login, ConsoleError> {
    let value = headers.get(AUTHORIZATION).ok_or(ConsoleError::NoLogin)?;
    let read = || {
        let (scheme, text) = value.to_str().ok()?.split_once(' ')?;
        let is_basic = scheme.eq_ignore_ascii_case("basic");
        let text = String::from_utf8(BASE64_STANDARD.decode(text.trim()).ok()?).ok()?;
        let (user, password) = text.split_once(':').filter(|(user, _)| is_basic && !user.is_empty())?;
        Some(Login { user: user.to_owned(), password: password.to_owned() })
    };
    read().ok_or(ConsoleError::NoLogin)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_login_is_a_name_and_a_password() {
        let read = |value: &'static str| {
            let headers = HeaderMap::from_iter([(AUTHORIZATION, value.parse().expect("a value"))]);
            login(&headers).ok().map(|login| (login.user, login.password))
        };
        let both = |user: &str, password: &str| Some((user.to_owned(), password.to_owned()));
        assert_eq!(read("Basic YW5hOnM6ZWNyZXQ="), both("ana", "s:ecret"));
        assert_eq!(read("basic YW5hOg=="), both("ana", ""));
        for wrong in ["Basic", "Basic YW5h", "Basic OnNlY3JldA==", "Bearer YW5hOg==", "Basic \u{7f}", "Basic /w=="] {
            if let Ok(value) = wrong.parse() {
                assert!(login(&HeaderMap::from_iter([(AUTHORIZATION, value)])).is_err(), "{wrong}");
            }
        }
        let shown = format!("{:?}", Login { user: "ana".into(), password: "secret".into() });
        assert!(shown.contains("ana") && !shown.contains("secret"));
    }
}
