//! A server of several chains: the first word of a path is the name of one, as a server of its own has the rest. What
//! all share is beside them (docs/operate/several-chains.md).

use axum::Router;
use axum::extract::Request;
use axum::http::Uri;
use axum::http::uri::PathAndQuery;
use axum::response::Response;
use tower::ServiceExt;
use trawl_metrics::Exposition;

use super::chain_ids::{self, NoChain};
use super::chains::{ChainService, Chains};
use super::shared;

/// The service of all chains, of which there is at least one.
pub fn chains_router(services: Vec<ChainService>, exposition: Exposition) -> Router {
    let chains = Chains { services: services.into(), exposition };
    let shared = shared::router(chains.clone());
    Router::new().fallback(async move |request| answer(&chains, shared, request).await)
}

async fn answer(chains: &Chains, shared: Router, mut request: Request) -> Response {
    if let Some(service) = below_name(chains, &mut request) {
        return service.answer(request).await;
    }
    if chain_ids::names_chain(request.uri().path()) {
        match chain_ids::read(chains, &mut request).await {
            Ok((service, _held)) => return service.answer(request).await,
            Err(none) => drop(request.extensions_mut().insert::<NoChain>(none)),
        }
    }
    shared.oneshot(request).await.unwrap_or_else(|never| match never {})
}

/// The chain whose name a path begins with, which is taken out of it.
fn below_name<'chains>(chains: &'chains Chains, request: &mut Request) -> Option<&'chains ChainService> {
    let path = request.uri().path().strip_prefix('/')?;
    let name = path.split('/').next()?;
    let service = chains.services.iter().find(|service| service.name() == name)?;
    *request.uri_mut() = without_name(request.uri(), name)?;
    Some(service)
}

/// The target of a request without the first word of its path.
fn without_name(uri: &Uri, name: &str) -> Option<Uri> {
    let rest = uri.path_and_query()?.as_str().strip_prefix('/')?.strip_prefix(name)?;
    let rest = if rest.starts_with('/') { rest.to_owned() } else { format!("/{rest}") };
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = Some(rest.parse::<PathAndQuery>().ok()?);
    Uri::from_parts(parts).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_is_taken_out_of_the_path() {
        let rest = |uri: &str| without_name(&uri.parse().expect("a target"), "base").expect("a path").to_string();
        assert_eq!(rest("/base"), "/");
        assert_eq!(rest("/base?x=1"), "/?x=1");
        assert_eq!(rest("/base/api/v2/blocks?x=/base"), "/api/v2/blocks?x=/base");
        assert_eq!(rest("http://host/base/base"), "http://host/base");
        assert_eq!(rest("/base//etc"), "//etc");
    }
}
