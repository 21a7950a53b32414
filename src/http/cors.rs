//! Which pages of other origins may read answers: the CORS protocol of the Fetch standard
//! (docs/reference/http-contract.md#cors).

use axum::extract::Request;
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_CREDENTIALS, ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS,
    ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_METHOD,
    ORIGIN, VARY,
};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse, Response};

/// Paths of interfaces for programs: they, and what is below them. The others are pages and probes.
const SHARED: [&str; 6] = ["/api", "/v2/api", "/v2/chainlist", "/rpc", "/sourcify", "/stats-service"];

/// Headers of answers that pages may read, beside those that every page may.
const EXPOSED: &str = "bypass-429-option,x-ratelimit-reset,x-ratelimit-limit,x-ratelimit-remaining,api-v2-temp-token,\
                       x-request-id,retry-after,content-disposition,trawl-newest-block";

/// Headers of requests that pages may send.
const ALLOWED: &str = "Authorization,Content-Type,Accept,Origin,User-Agent,DNT,Cache-Control,X-Mx-ReqToken,Keep-Alive,\
                       X-Requested-With,If-Modified-Since,X-CSRF-Token,x-apollo-tracing,updated-gas-oracle,\
                       recaptcha-v2-response,recaptcha-v3-response,recaptcha-bypass-token,\
                       scoped-recaptcha-bypass-token,show-scam-tokens,api-v2-temp-token,x-api-key,x-request-id,\
                       trawl-min-block";

/// Whether pages of other origins may read what is at a path.
pub(crate) fn is_shared(path: &str) -> bool {
    let is_below = |above: &str| path.strip_prefix(above).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    SHARED.iter().any(|above| is_below(above))
}

/// Whether a shared path is a probe, which neither waits nor counts.
pub(crate) fn is_probe(path: &str) -> bool {
    matches!(path, "/api/health" | "/api/v1/health")
}

/// Whether a request is the preflight of a browser.
pub(super) fn is_preflight(request: &Request) -> bool {
    request.method() == Method::OPTIONS && request.headers().contains_key(ACCESS_CONTROL_REQUEST_METHOD)
}

/// The answer to a preflight.
pub(super) fn preflight() -> Response {
    let mut response = StatusCode::NO_CONTENT.into_response();
    for (name, value) in [
        (ACCESS_CONTROL_MAX_AGE, "1728000"),
        (ACCESS_CONTROL_ALLOW_METHODS, "GET,POST,PUT,PATCH,DELETE,OPTIONS"),
        (ACCESS_CONTROL_ALLOW_HEADERS, ALLOWED),
    ] {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

/// The origins that may read an answer.
pub(super) enum CorsPolicy {
    /// Any origin, without credentials: the request names no origin.
    AnyOrigin,
    /// Pages of this origin, with credentials or without. A wildcard does not allow credentials.
    Origin(HeaderValue),
}

impl CorsPolicy {
    /// The policy for a request. Pages without an origin of their own, which send `null`, count as any origin: they get
    /// no answers with credentials.
    pub fn of(headers: &HeaderMap) -> Self {
        match headers.get(ORIGIN) {
            Some(origin) if origin != "null" && !origin.is_empty() => Self::Origin(origin.clone()),
            _ => Self::AnyOrigin,
        }
    }

    /// Adds the headers that say so.
    pub fn add_to(self, headers: &mut HeaderMap) {
        // For caches: another origin gets another answer, one without an origin too.
        headers.append(VARY, HeaderValue::from_static("Origin"));
        headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(EXPOSED));
        match self {
            Self::AnyOrigin => drop(headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"))),
            Self::Origin(origin) => {
                headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
                headers.insert(ACCESS_CONTROL_ALLOW_CREDENTIALS, HeaderValue::from_static("true"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::is_shared;

    #[test]
    fn interfaces_are_shared_and_pages_are_not() {
        for path in ["/api", "/api/v2/blocks", "/api/nothing", "/v2/api", "/v2/chainlist", "/rpc"] {
            assert!(is_shared(path), "{path}");
        }
        for path in ["/", "/apis", "/rpcs", "/blocks", "/metrics", "/v2", "/v2/chainlists"] {
            assert!(!is_shared(path), "{path}");
        }
    }
}
