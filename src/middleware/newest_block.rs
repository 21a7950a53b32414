//! The newest block, for clients of several APIs behind one address: each answer names the newest that its API knows,
//! and a request may require an API that knows one (docs/reference/http-contract.md#several-servers).

use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use trawl_core::primitives::BlockNumber;

use crate::app::App;
use crate::error::Problem;
use crate::http::cors;

const NEWEST: HeaderName = HeaderName::from_static("trawl-newest-block");
const LEAST: HeaderName = HeaderName::from_static("trawl-min-block");

/// The longest that a request waits for the block that it requires.
const MAX_WAIT: Duration = Duration::from_secs(2);

/// Waits for the block that a request names, and refuses it if that does not come; names the newest block in the
/// answer.
pub(crate) async fn at_least(State(app): State<App>, request: Request, next: Next) -> Response {
    let path = request.uri().path();
    // A probe does not wait.
    if !cors::is_shared(path) || cors::is_probe(path) {
        return next.run(request).await;
    }
    let least = match least(request.headers()) {
        Ok(least) => least,
        Err(problem) => return problem.into_response(),
    };
    let is_there = match least {
        Some(least) => comes(&app, least).await,
        None => true,
    };
    let before = newest(&app);
    let mut response = if is_there { next.run(request).await } else { Problem::BlockNotThereYet.into_response() };
    let after = newest(&app);
    // A reorganisation may have ended below it meanwhile.
    if is_there && after < least {
        response = Problem::BlockNotThereYet.into_response();
    }
    if let Some(number) = before.max(after) {
        response.headers_mut().insert(NEWEST, HeaderValue::from(number));
    }
    response
}

/// The least block of a request, in decimal digits.
fn least(headers: &HeaderMap) -> Result<Option<BlockNumber>, Problem> {
    let number = |value: &HeaderValue| {
        let digits =
            value.to_str().ok().filter(|text| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()));
        digits.and_then(|digits| digits.parse().ok()).ok_or(Problem::InvalidMinBlock)
    };
    let numbers: Vec<BlockNumber> = headers.get_all(LEAST).iter().map(number).collect::<Result<_, _>>()?;
    Ok(numbers.into_iter().max())
}

fn newest(app: &App) -> Option<BlockNumber> {
    app.known_head().ok().and_then(|head| head.number())
}

/// Whether the newest block is `least` or above, now or soon.
async fn comes(app: &App, least: BlockNumber) -> bool {
    let mut watch = app.head_watch();
    let comes = async {
        while newest(app) < Some(least) {
            if watch.changed().await.is_none() {
                return false;
            }
        }
        true
    };
    tokio::time::timeout(MAX_WAIT, comes).await.unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_least_block_is_decimal_digits() {
        let read = |values: &[&'static str]| {
            least(&values.iter().map(|value| (LEAST, HeaderValue::from_static(value))).collect())
        };
        assert_eq!(read(&[]), Ok(None));
        assert_eq!(read(&["0"]), Ok(Some(0)));
        assert_eq!(read(&["7", "18446744073709551615"]), Ok(Some(u64::MAX)));
        for bad in ["", "0x10", "-1", "+1", "1 ", "latest", "18446744073709551616"] {
            assert_eq!(read(&["7", bad]), Err(Problem::InvalidMinBlock), "{bad}");
        }
    }
}
