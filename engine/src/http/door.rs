//! Which requests are let in at all: those that no web page sent from somebody's browser.
//!
//! A browser sends requests to any address in the name of any page. A page of another origin says so in `Origin` or
//! `Sec-Fetch-Site`; one whose name was made to mean this machine (DNS rebinding) has its own name in `Host`.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use trawl_serve::{Client, LogLimiter};

use crate::exception::Exception;

/// Names and origins that are let in beside those of this machine.
#[derive(Debug, Clone, Default)]
pub struct Door {
    /// Host names, without port.
    pub hosts: Vec<String>,
    /// Origins as a browser sends them, such as `https://sql.example.org`.
    pub origins: Vec<String>,
}

/// A door at the address of a listener.
#[derive(Debug)]
pub(super) struct RequestGate {
    pub(super) door: Door,
    pub(super) address: SocketAddr,
    pub(super) refused: LogLimiter,
}

/// Answers requests that are not let in.
pub(super) async fn enter(State(doorway): State<Arc<RequestGate>>, request: Request, next: Next) -> Response {
    match doorway.door.admit(doorway.address, request.uri(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(exception) => {
            if let Some(count) = doorway.refused.admit() {
                let client = request.extensions().get::<Client>().map(ToString::to_string).unwrap_or_default();
                tracing::warn!(error = exception.message, client, count, "a request was refused");
            }
            let code = [("X-ClickHouse-Exception-Code", exception.code.to_string())];
            (exception.status(), code, format!("{exception}\n")).into_response()
        }
    }
}

impl Door {
    /// Lets a request in that came to the listener at `address`, or says what to do.
    ///
    /// # Errors
    ///
    /// If its `Host` is not one of this machine or of [`Door::hosts`], or a page of another origin sent it.
    pub fn admit(&self, address: SocketAddr, uri: &Uri, headers: &HeaderMap) -> Result<(), Exception> {
        let header = |name| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
        let origin = header("origin");
        let is_foreign = match origin {
            Some(origin) => !self.origins.iter().any(|allowed| allowed.eq_ignore_ascii_case(origin)),
            None => header("sec-fetch-site").is_some_and(|site| site != "none" && site != "same-origin"),
        };
        if is_foreign {
            let origin = origin.unwrap_or("unnamed");
            return Err(Exception::access_denied(format!(
                "a web page of another origin ({origin}) sent this request: start trawl-engine with --allow-origin to \
                 allow it"
            )));
        }
        // A browser always sends one.
        let Some(host) = uri.authority().map(|authority| authority.as_str()).or_else(|| header("host")) else {
            return Ok(());
        };
        if self.is_ours(address, name_of(host)) {
            return Ok(());
        }
        Err(Exception::access_denied(format!(
            "`{host}` is not a name of this engine: start trawl-engine with --allow-host {} if it is",
            name_of(host)
        )))
    }

    fn is_ours(&self, address: SocketAddr, name: &str) -> bool {
        let is_local = match name.parse::<IpAddr>() {
            // No name server can make an address mean something else.
            Ok(host) => host.is_loopback() || address.ip().is_unspecified() || host == address.ip(),
            Err(_) => name.eq_ignore_ascii_case("localhost"),
        };
        is_local || self.hosts.iter().any(|allowed| allowed.eq_ignore_ascii_case(name))
    }
}

/// `Host` without port and without the brackets of an IPv6 address.
fn name_of(host: &str) -> &str {
    let host = host.trim();
    match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, _)) => address,
        None => host.rsplit_once(':').map_or(host, |(name, _)| name).trim_end_matches('.'),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admits(door: &Door, address: &str, headers: &[(&'static str, &str)]) -> bool {
        let headers =
            headers.iter().map(|(name, value)| (name.parse().expect("a name"), value.parse().expect("a value")));
        door.admit(address.parse().expect("an address"), &Uri::from_static("/"), &headers.collect()).is_ok()
    }

    #[test]
    fn hosts_of_this_machine_and_allowed_ones_are_let_in() {
        let door = Door { hosts: vec!["engine".into()], origins: Vec::new() };
        let home = "127.0.0.1:8123";
        for host in [
            "127.0.0.1:8123",
            "localhost",
            "LocalHost:1",
            "127.8.0.1",
            "[::1]:8123",
            "engine:8123",
            "Engine",
            "localhost.",
        ] {
            assert!(admits(&door, home, &[("host", host)]), "{host}");
        }
        for host in [
            "evil.example",
            "evil.example:8123",
            "localhost.evil.example",
            "10.0.0.1:8123",
            "[2001:db8::1]",
            "",
            ":8123",
            "127.0.0.1.nip.io",
        ] {
            assert!(!admits(&door, home, &[("host", host)]), "{host}");
        }
        assert!(admits(&door, "10.0.0.1:8123", &[("host", "10.0.0.1:8123")]));
        assert!(admits(&door, "0.0.0.0:8123", &[("host", "10.0.0.1:8123")]));
        assert!(!admits(&door, "0.0.0.0:8123", &[("host", "evil.example")]));
    }

    #[test]
    fn pages_of_other_origins_are_not_let_in() {
        let door = Door { hosts: Vec::new(), origins: vec!["https://sql.example".into()] };
        let home = "127.0.0.1:8123";
        let with =
            |more: &[(&'static str, &str)]| admits(&door, home, &[&[("host", "localhost:8123")][..], more].concat());
        assert!(with(&[]) && with(&[("origin", "https://sql.example")]) && with(&[("sec-fetch-site", "none")]));
        assert!(with(&[("origin", "https://sql.example"), ("sec-fetch-site", "cross-site")]));
        for origin in [
            "null",
            "https://evil.example",
            "http://localhost:3000",
            "http://localhost:8123",
            "https://sql.example.evil",
        ] {
            assert!(!with(&[("origin", origin)]), "{origin}");
        }
        assert!(!with(&[("sec-fetch-site", "cross-site")]) && !with(&[("sec-fetch-site", "same-site")]));
    }
}
