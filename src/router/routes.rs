//! All routes of a chain, with the middleware of every request and answer.

use axum::routing::{get, post};
use axum::{Extension, Router, middleware};
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{DefaultPredicate, Predicate, SizeAbove};

use super::panics::panicked;
use crate::error::Problem;
use crate::http::{headers, metrics};
use crate::middleware::{access_log, newest_block, rates, request_origin};
use crate::rpc::{Endpoint, Rpc};
use crate::service::{chain_list, console, health, mcp, openapi};
use crate::web::{self, Web};
use crate::{etherscan, rest, rpc};

/// The service of all routes.
pub fn router(rpc: Rpc, web: Web) -> Router {
    let app = rpc.app().clone();
    let rest = rest::router(app.clone());
    let console = app.options().sql_console.then(|| console::router(app.clone()));
    let mcp = if app.options().mcp { mcp::router(rest.clone(), console.clone()) } else { Router::new() };
    let specification = Router::new()
        .route("/api/eth-rpc", post(rpc::serve).get(rpc::connect))
        .route("/api/v1/eth-rpc", post(rpc::serve).get(rpc::connect))
        .layer(Extension(Endpoint::Specification));
    let node = Router::new().route("/rpc", post(rpc::serve).get(rpc::connect)).layer(Extension(Endpoint::Node));
    let calls = specification.merge(node).with_state(rpc.clone());
    let etherscan = Router::new()
        .route("/api", get(etherscan::get).post(etherscan::post))
        .route("/v2/api", get(etherscan::get).post(etherscan::post))
        .route("/api/legacy/logs/get-logs", get(etherscan::legacy))
        .route("/api/legacy/block/get-block-number-by-time", get(etherscan::legacy))
        .route("/api/legacy/block/eth-block-number", get(etherscan::legacy))
        .with_state(rpc);
    let probes = Router::new()
        .route("/health/live", get(health::live))
        .route("/health/ready", get(health::ready))
        .route("/api/health", get(health::health))
        .route("/api/v1/health", get(health::of_first_version))
        .route("/metrics", get(health::metrics))
        .route("/docs", get(openapi::docs))
        .route("/v2/chainlist", get(chain_list::of_one))
        .route("/sourcify/v2/contract/{chain_id}/{address}", get(web::sourcify_contract))
        .with_state(app.clone());
    let newest_block = middleware::from_fn_with_state(app.clone(), newest_block::at_least);
    let origin = middleware::from_fn_with_state(app.clone(), request_origin::name);
    let rates = middleware::from_fn_with_state(app.clone(), rates::admit);
    let access_log = middleware::from_fn_with_state(app.clone(), access_log::write);
    let not_tiny = DefaultPredicate::new().and(SizeAbove::new(1024));
    Router::new()
        .merge(rest)
        .merge(calls)
        .merge(etherscan)
        .merge(probes)
        .merge(mcp)
        .fallback(async move |request| web::serve(&app, &web, request).await)
        .method_not_allowed_fallback(async || Problem::MethodNotAllowed)
        .layer(CompressionLayer::new().compress_when(not_tiny))
        // Above it: lines that say how far a statement is would wait for a block of the compression.
        .merge(console.unwrap_or_default())
        .layer(CatchPanicLayer::custom(panicked))
        .layer(newest_block)
        .layer(origin)
        .layer(middleware::from_fn(headers::refuse_unreadable))
        .layer(rates)
        .layer(middleware::from_fn(etherscan::in_envelope))
        .layer(middleware::from_fn(headers::decorate))
        .layer(access_log)
        // Outermost, so that requests refused by the other layers are counted too.
        .layer(middleware::from_fn(metrics::measure))
}
