//! Failures of the service around the handlers, such as a rate limit: in the envelope too, because clients of these
//! paths read nothing else.

use axum::extract::Request;
use axum::http::header::{CONTENT_ENCODING, CONTENT_LENGTH};
use axum::middleware::Next;
use axum::response::Response;

use super::answer::failure;
use super::serve::{dialect_of_query, is_served_at};
use crate::error::Problem;

/// Writes the envelope in place of a problem's own body, at the paths of this interface. HTTP status and headers stay.
pub(crate) async fn in_envelope(request: Request, next: Next) -> Response {
    let uri = request.uri().clone();
    let mut response = next.run(request).await;
    if !is_served_at(uri.path()) {
        return response;
    }
    let Some(problem) = response.extensions_mut().remove::<Problem>() else { return response };
    let (parts, body) = failure(&problem, dialect_of_query(&uri)).into_parts();
    let headers = response.headers_mut();
    // Those of the other body.
    headers.remove(CONTENT_LENGTH);
    headers.remove(CONTENT_ENCODING);
    headers.extend(parts.headers);
    *response.body_mut() = body;
    response
}

#[cfg(test)]
mod tests {
    use axum::body::{Body, to_bytes};
    use axum::http::StatusCode;
    use axum::http::header::RETRY_AFTER;
    use axum::routing::get;
    use axum::{Router, middleware};
    use serde_json::{Value, json};
    use tower::ServiceExt;

    use super::*;

    /// The answer at a path where every request is refused.
    async fn refused(problem: Problem, uri: &str) -> (StatusCode, Option<String>, Value) {
        let handler = get(async move || problem.clone());
        let routes = ["/api", "/v2/api", "/api/v2/blocks"];
        let router = routes.into_iter().fold(Router::new(), |router, path| router.route(path, handler.clone()));
        let router = router.layer(middleware::from_fn(in_envelope));
        let request = Request::get(uri).body(Body::empty()).expect("a request");
        let response = router.oneshot(request).await.expect("an answer");
        let wait = response.headers().get(RETRY_AFTER).map(|wait| wait.to_str().expect("text").to_owned());
        let status = response.status();
        let length = response.headers().get(CONTENT_LENGTH).cloned();
        let body = to_bytes(response.into_body(), 1 << 20).await.expect("a body");
        assert!(length.is_none_or(|length| length == body.len().to_string().as_str()));
        (status, wait, serde_json::from_slice(&body).expect("JSON"))
    }

    #[tokio::test]
    async fn problems_are_in_the_envelope_of_each_kind_of_client() {
        let limit = Problem::TooManyRequests { limit: 4, period: std::time::Duration::from_secs(4), seconds: 3 };
        let sentence = format!("Max rate limit reached: {limit}");
        let (status, wait) = (StatusCode::TOO_MANY_REQUESTS, Some("3".to_owned()));
        for uri in ["/v2/api", "/api?chainid=1", "/v2/api?module=account"] {
            let due = json!({"status": "0", "message": "NOTOK", "result": sentence});
            assert_eq!(refused(limit.clone(), uri).await, (status, wait.clone(), due), "{uri}");
        }
        let due = json!({"status": "0", "message": sentence, "result": sentence});
        assert_eq!(refused(limit.clone(), "/api?module=account").await, (status, wait.clone(), due));
        let due = json!({"message": limit.to_string()});
        assert_eq!(refused(limit, "/api/v2/blocks").await, (status, wait, due));
        let due = json!({"status": "0", "message": "NOTOK", "result": Problem::Busy.to_string()});
        let busy = (StatusCode::SERVICE_UNAVAILABLE, Some("1".to_owned()), due);
        assert_eq!(refused(Problem::Busy, "/v2/api").await, busy);
    }
}
