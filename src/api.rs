//! Floor 3: HTTP. The only room that serves requests, names request parameters and knows status codes.

use std::any::Any;
use std::sync::{Arc, Once};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{Request, Response};
use axum::middleware;
use axum::response::IntoResponse;
use axum::routing::{get, post};
use metrics_exporter_prometheus::PrometheusHandle;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{DefaultPredicate, Predicate, SizeAbove};

use crate::store::{Head, HeadWatch, Reader};

pub mod accept;
mod directory;
mod escapes;
pub mod fit;
mod headers;
mod lacking;
mod lookup;
mod measures;
pub mod prices;
mod probes;
mod problem;
pub mod rest;
pub mod rpc;
mod streamed;

use prices::PriceWatch;

pub use measures::keep_up;
pub use problem::Problem;

/// What all requests share.
#[derive(Clone)]
pub struct App(Arc<Shared>);

struct Shared {
    reader: Reader,
    head: HeadWatch,
    options: Options,
    metrics: Option<PrometheusHandle>,
    other_chain: Once,
}

/// Settings of the API.
#[derive(Debug, Clone)]
pub struct Options {
    /// The chain, for as long as the loaded data does not tell it.
    pub chain_id: Option<u64>,
    /// What to do with a log range that is not wholly indexed.
    pub gaps: Gaps,
    /// Most calls in a JSON-RPC batch.
    pub max_batch: usize,
    /// Widest range of blocks that `eth_getLogs` reads without address and topics.
    pub max_unfiltered_blocks: u64,
    /// What tokens are worth.
    pub prices: PriceWatch,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            chain_id: None,
            gaps: Gaps::Refuse,
            max_batch: 100,
            max_unfiltered_blocks: 10_000,
            prices: PriceWatch::default(),
        }
    }
}

/// The options name another chain than the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "the loaded blocks belong to chain {data} and --chain-id says {option}: leave it out, or choose another database"
)]
pub struct OtherChain {
    option: u64,
    data: u64,
}

impl Options {
    /// The chain that is served: the one of the data, or the one of the options while the data does not tell it.
    pub fn served_chain(&self, head: &Head) -> Result<Option<u64>, OtherChain> {
        match (self.chain_id, head.chain_id) {
            (Some(option), Some(data)) if option != data => Err(OtherChain { option, data }),
            (option, data) => Ok(data.or(option)),
        }
    }
}

/// What a log query over missing blocks gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gaps {
    /// An error that names the missing ranges.
    Refuse,
    /// What there is.
    Serve,
}

impl App {
    /// An application over a store.
    #[must_use]
    pub fn new(reader: Reader, head: HeadWatch, options: Options, metrics: Option<PrometheusHandle>) -> Self {
        Self(Arc::new(Shared { reader, head, options, metrics, other_chain: Once::new() }))
    }

    fn reader(&self) -> &Reader {
        &self.0.reader
    }

    fn options(&self) -> &Options {
        &self.0.options
    }

    /// What is readable now; a request asks once. An error while the store has not answered yet.
    fn head(&self) -> Result<Arc<Head>, Problem> {
        self.0.head.now().ok_or(Problem::NotReady)
    }

    /// The chain. The options were held against the data at the start; what was loaded since is right in any case.
    fn chain_id(&self, head: &Head) -> Option<u64> {
        self.options().served_chain(head).unwrap_or_else(|error| {
            self.0.other_chain.call_once(|| tracing::warn!(%error, "answering with the chain of the data"));
            Some(error.data)
        })
    }

    /// All routes.
    pub fn router(self) -> Router {
        let rest = rest::router(self.clone());
        let rpc = Router::new()
            .route("/api/eth-rpc", post(rpc::serve))
            .route("/api/v1/eth-rpc", post(rpc::serve))
            .with_state(self.clone());
        let probes = Router::new()
            .route("/health/live", get(probes::live))
            .route("/health/ready", get(probes::ready))
            .route("/api/health", get(probes::health))
            .route("/metrics", get(probes::metrics))
            .with_state(self);
        let not_tiny = DefaultPredicate::new().and(SizeAbove::new(1024));
        Router::new()
            .merge(rest)
            .merge(rpc)
            .merge(probes)
            .fallback(async || Problem::NotFound)
            .method_not_allowed_fallback(async || Problem::MethodNotAllowed)
            .layer(CompressionLayer::new().compress_when(not_tiny))
            .layer(CatchPanicLayer::custom(panicked))
            .layer(middleware::from_fn(headers::decorate))
            // Outermost, so that what the others refuse is counted too.
            .layer(middleware::from_fn(measures::measure))
    }
}

/// A handler that panicked is a bug; its client gets the ruled 500.
fn panicked(panic: Box<dyn Any + Send + 'static>) -> Response<Body> {
    tracing::error!(panic = panic_text(&*panic), "a handler panicked");
    Problem::Internal.into_response()
}

/// What a panic said, if it said it in words.
fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let owned = || panic.downcast_ref::<String>().map(String::as_str);
    panic.downcast_ref::<&str>().copied().or_else(owned).unwrap_or_default()
}

/// How long requests that are being answered may go on after the order to stop.
pub const GRACE: Duration = Duration::from_secs(25);

/// Removes a trailing slash, which is the same route.
pub fn trim_slash(mut request: Request<Body>) -> Request<Body> {
    let path = request.uri().path();
    if path.len() > 1 && path.ends_with('/') {
        let query = request.uri().query().map_or_else(String::new, |query| format!("?{query}"));
        if let Ok(uri) = format!("{}{query}", path.trim_end_matches('/')).parse() {
            *request.uri_mut() = uri;
        }
    }
    request
}
