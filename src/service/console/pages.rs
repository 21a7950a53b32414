//! Which pages may send statements: those of this origin. Programs say no origin.

use axum::http::header::{HOST, ORIGIN};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName};

use super::error::ConsoleError;

const SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const FORWARDED_HOST: HeaderName = HeaderName::from_static("x-forwarded-host");

/// Refuses a request of a page that is not of this host: as the client names it, or the proxy in front.
pub(super) fn refuse_others(headers: &HeaderMap) -> Result<(), ConsoleError> {
    let is_own_site = text(headers, SITE).is_none_or(|site| matches!(site, "same-origin" | "none"));
    let is_own_origin = match headers.get(ORIGIN) {
        None => true,
        Some(origin) => origin.to_str().ok().and_then(authority).is_some_and(|origin| {
            [HOST, FORWARDED_HOST].into_iter().filter_map(|name| text(headers, name)).any(|host| host == origin)
        }),
    };
    if is_own_site && is_own_origin { Ok(()) } else { Err(ConsoleError::OtherPage) }
}

/// The header with a text of one line, if it has one.
fn text(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// The host and the port of an origin.
fn authority(origin: &str) -> Option<&str> {
    let (scheme, authority) = origin.split_once("://")?;
    let is_whole = matches!(scheme, "http" | "https") && authority.parse::<Authority>().is_ok();
    is_whole.then_some(authority)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_of_the_host_of_the_request() {
        let is_refused = |pairs: &[(HeaderName, &'static str)]| {
            let pairs = pairs.iter().map(|(name, value)| (name.clone(), value.parse().expect("a value")));
            refuse_others(&pairs.collect()).is_err()
        };
        let host = (HOST, "explorer.example:4000");
        assert!(!is_refused(std::slice::from_ref(&host)));
        assert!(!is_refused(&[host.clone(), (ORIGIN, "https://explorer.example:4000"), (SITE, "same-origin")]));
        assert!(!is_refused(&[(HOST, "api"), (FORWARDED_HOST, "a.example"), (ORIGIN, "https://a.example")]));
        for origin in ["null", "", "https://evil.example", "https://explorer.example", "file://", "x://a b"] {
            assert!(is_refused(&[host.clone(), (ORIGIN, origin)]), "{origin}");
        }
        for site in ["cross-site", "same-site"] {
            assert!(is_refused(&[host.clone(), (SITE, site)]), "{site}");
        }
    }
}
