//! Who sent a request: the address that connected, or the one that a proxy names.

use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr};

use axum::extract::{FromRef, FromRequestParts};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName};
use trawl_serve::Client;

use crate::app::App;

/// The client that a request counts for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Requester(pub Client);

impl<S: Send + Sync> FromRequestParts<S> for Requester
where
    App: FromRef<S>,
{
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Infallible> {
        let app = App::from_ref(state);
        let named = app.options().client_header.as_ref().and_then(|header| named(&parts.headers, header));
        // The server tells it of every request; without it all requests count for one client.
        let connected = || parts.extensions.get().copied();
        Ok(Self(named.or_else(connected).unwrap_or(Client::of(Ipv4Addr::UNSPECIFIED.into()))))
    }
}

/// The last address of a header: what stands before it came with the request, and can be anything.
fn named(headers: &HeaderMap, header: &HeaderName) -> Option<Client> {
    let text = headers.get_all(header).iter().next_back()?.to_str().ok()?;
    let last = text.rsplit(',').next()?.trim();
    last.parse::<IpAddr>().ok().map(Client::of)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proxy_names_the_last_address() {
        let name = HeaderName::from_static("x-forwarded-for");
        let client = |text: &str| Client::of(text.parse().expect("an address"));
        let mut headers = HeaderMap::new();
        assert_eq!(named(&headers, &name), None);
        headers.append(&name, "10.0.0.1, 10.0.0.2".parse().expect("a value"));
        assert_eq!(named(&headers, &name), Some(client("10.0.0.2")));
        headers.append(&name, "2001:db8::7".parse().expect("a value"));
        assert_eq!(named(&headers, &name), Some(client("2001:db8::1")));
        headers.append(&name, "unknown".parse().expect("a value"));
        assert_eq!(named(&headers, &name), None);
    }
}
