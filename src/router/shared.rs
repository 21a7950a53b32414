//! What all chains of a server share: their list, probes, metrics, files of the page, and the answer where a path
//! begins with no chain.

use axum::extract::{Request, State};
use axum::http::header::VARY;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{any, get};
use axum::{Json, Router, middleware};
use futures_util::future::join_all;
use serde_json::{Map, Value, json};
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;

use super::chain_ids::NoChain;
use super::chains::{ChainService, Chains};
use super::panics::panicked;
use crate::error::Problem;
use crate::http::{headers, metrics};
use crate::middleware::access_log;
use crate::service::{chain_list, health};
use crate::{etherscan, web};

/// The routes beside those of chains.
pub(super) fn router(chains: Chains) -> Router {
    let first = chains.services.first().map(|service| service.app().clone());
    let router = Router::new()
        .route("/", get(list))
        .route("/api", any(no_chain_of_id))
        .route("/v2/api", any(no_chain_of_id))
        .route("/v2/chainlist", get(endpoints))
        .route("/health/live", get(health::live))
        .route("/health/ready", get(ready))
        .route("/api/health", get(health_of_all))
        .route("/metrics", get(measurements))
        .fallback(elsewhere)
        .method_not_allowed_fallback(async || Problem::MethodNotAllowed)
        .with_state(chains)
        .layer(CompressionLayer::new())
        .layer(CatchPanicLayer::custom(panicked))
        .layer(middleware::from_fn(headers::refuse_unreadable))
        .layer(middleware::from_fn(etherscan::in_envelope))
        .layer(middleware::from_fn(headers::decorate));
    let logged = match first {
        Some(app) => router.layer(middleware::from_fn_with_state(app, access_log::write)),
        None => router,
    };
    logged.layer(middleware::from_fn(metrics::measure))
}

/// The chains; who reads pages is led to the first one.
async fn list(State(chains): State<Chains>, headers: HeaderMap) -> Response {
    let vary = [(VARY, "accept")];
    match chains.services.first() {
        Some(first) if web::accepts_pages(&headers) && first.has_page() => {
            (vary, Redirect::temporary(&format!("/{}", first.name()))).into_response()
        }
        _ => (vary, Json(json!({"chains": items(&chains)}))).into_response(),
    }
}

fn items(chains: &Chains) -> Vec<Value> {
    let item = |service: &ChainService| {
        let id = service.id().map(|id| id.to_string());
        json!({"name": service.name(), "chain_id": id, "path": format!("/{}", service.name())})
    };
    chains.services.iter().map(item).collect()
}

/// The chains as clients of Etherscan's version 2 request them.
async fn endpoints(State(chains): State<Chains>, request: Request) -> Json<Value> {
    chain_list::list(&request, chains.services.iter().map(ChainService::app))
}

async fn no_chain_of_id(request: Request) -> Response {
    match request.extensions().get::<NoChain>() {
        Some(none) => none.clone().respond(),
        None => Problem::NotFound.into_response(),
    }
}

/// Files of the page, which all chains share; else what paths begin with.
async fn elsewhere(State(chains): State<Chains>, request: Request) -> Response {
    let path = request.uri().path();
    let file = web::asset(path, request.headers()).filter(|_| chains.services.iter().any(ChainService::has_page));
    file.unwrap_or_else(|| {
        let names: Vec<String> = chains.services.iter().map(|service| format!("/{}", service.name())).collect();
        let message = format!("Not found: paths begin with the name of a chain: {}", names.join(", "));
        (StatusCode::NOT_FOUND, Json(json!({"message": message, "data": {"chains": items(&chains)}}))).into_response()
    })
}

/// The answer of each chain, in their order.
async fn of_each<T, F: Future<Output = T>>(chains: &Chains, answer: impl Fn(&ChainService) -> F) -> Vec<T> {
    join_all(chains.services.iter().map(|service| service.chain().scope(answer(service)))).await
}

/// The process answers as long as one chain does: a load balancer must not remove the others for one.
fn best_of(statuses: impl Iterator<Item = StatusCode>) -> StatusCode {
    statuses.min().unwrap_or(StatusCode::SERVICE_UNAVAILABLE)
}

/// Whether a chain can be answered for; a line of each says whether it can.
async fn ready(State(chains): State<Chains>) -> Response {
    let states = of_each(&chains, |service| {
        let (name, app) = (service.name(), service.app().clone());
        async move {
            let (status, text) = health::readiness(&app).await;
            (status, format!("{name}: {}\n", text.trim_end().replace('\n', "; ")))
        }
    });
    let (statuses, lines): (Vec<_>, Vec<_>) = states.await.into_iter().unzip();
    (best_of(statuses.into_iter()), lines.concat()).into_response()
}

/// The health of each chain.
async fn health_of_all(State(chains): State<Chains>) -> Response {
    let states = of_each(&chains, |service| {
        let (name, app) = (service.name(), service.app().clone());
        async move { (name, health::health(State(app)).await) }
    });
    let states = states.await;
    let status = best_of(states.iter().map(|(_, (status, _))| *status));
    let is_healthy = states.iter().all(|(_, (status, _))| *status == StatusCode::OK);
    let bodies: Map<String, Value> = states.into_iter().map(|(name, (_, Json(body)))| (name.into(), body)).collect();
    (status, Json(json!({"healthy": is_healthy, "chains": bodies}))).into_response()
}

/// The metrics of this process, and of each chain.
async fn measurements(State(chains): State<Chains>) -> Response {
    of_each(&chains, |service| {
        let app = service.app().clone();
        async move { health::measure(&app).await }
    })
    .await;
    match chains.services.first() {
        Some(first) => health::text(first.app(), &chains.exposition),
        None => Problem::NotFound.into_response(),
    }
}
