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
use tokio::sync::Semaphore;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{DefaultPredicate, Predicate, SizeAbove};

use trawl_core::store::{Head, HeadWatch, Reader};
use trawl_evm::StateCache;

pub mod accept;
mod answers;
mod block_hashes;
mod called;
mod catalogue;
pub mod describe;
mod directory;
mod escapes;
mod extent;
pub mod fit;
mod gather;
mod headers;
mod known;
mod lacking;
mod lasting;
mod log_stream;
mod lookup;
mod measures;
mod paged;
pub mod prices;
mod probes;
mod problem;
pub mod rest;
pub mod rpc;
mod scan;
mod state;
mod streamed;
mod upstream;

use answers::Answers;
use called::Called;
use catalogue::Catalogue;
use known::Known;
use prices::PriceWatch;

pub use measures::keep_up;
pub use problem::Problem;
pub use upstream::{Upstream, UpstreamError, UpstreamSettings};

/// What all requests share.
#[derive(Clone)]
pub struct App(Arc<Shared>);

struct Shared {
    reader: Reader,
    head: HeadWatch,
    answers: Option<Answers>,
    options: Options,
    metrics: Option<PrometheusHandle>,
    catalogue: Catalogue,
    known: Known,
    called: Called,
    other_chain: Once,
    state_cache: StateCache,
    /// As many computations at once as there are cores.
    computing: Semaphore,
    fees: rpc::Fees,
    sockets: rpc::Sockets,
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
    /// Longest body of a JSON-RPC request, in bytes.
    pub max_body: usize,
    /// Most logs in an answer of `eth_getLogs`; `None` for all.
    pub max_logs: Option<u64>,
    /// Limits of connections that stay open.
    pub sockets: rpc::SocketSettings,
    /// Widest range of blocks that `eth_getLogs` reads without address and topics.
    pub max_unfiltered_blocks: u64,
    /// Most gas of a call.
    pub call_gas: u64,
    /// Longest a call may take.
    pub call_timeout: Duration,
    /// About how much memory state that was read may take.
    pub state_cache_bytes: u64,
    /// What the gas oracle looks at.
    pub oracle: rpc::OracleSettings,
    /// Nodes for what the tables do not tell.
    pub upstream: Option<Upstream>,
    /// Memory for answers that are asked for again, in bytes; 0 keeps none.
    pub cache_bytes: u64,
    /// What tokens are worth.
    pub prices: PriceWatch,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            chain_id: None,
            gaps: Gaps::Refuse,
            max_batch: 100,
            call_gas: 50_000_000,
            call_timeout: Duration::from_secs(5),
            state_cache_bytes: 128 << 20,
            // As clients of this API family expect.
            max_body: 20_000_000,
            max_logs: Some(1_000),
            sockets: rpc::SocketSettings::default(),
            max_unfiltered_blocks: 10_000,
            oracle: rpc::OracleSettings::default(),
            upstream: None,
            cache_bytes: 64 << 20,
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
        let state_cache = StateCache::new(options.state_cache_bytes);
        let computing = Semaphore::new(std::thread::available_parallelism().map_or(2, std::num::NonZero::get));
        let sockets = rpc::Sockets::new(options.sockets);
        let fees = rpc::Fees::default();
        let answers = Answers::new(options.cache_bytes);
        let app = Self(Arc::new(Shared {
            reader,
            head,
            answers,
            options,
            metrics,
            catalogue: Catalogue::new(),
            known: Known::new(),
            called: Called::new(),
            other_chain: Once::new(),
            state_cache,
            computing,
            fees,
            sockets,
        }));
        rpc::start_feed(&app);
        app
    }

    fn reader(&self) -> &Reader {
        &self.0.reader
    }

    fn state_cache(&self) -> &StateCache {
        &self.0.state_cache
    }

    /// Runs what keeps a core busy, where it holds nobody up.
    async fn compute<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T, Problem> {
        let _permit = self.0.computing.acquire().await.map_err(|_| Problem::Internal)?;
        tokio::task::spawn_blocking(work).await.map_err(|error| {
            tracing::error!(%error, "a computation panicked");
            Problem::Internal
        })
    }

    fn sockets(&self) -> &rpc::Sockets {
        &self.0.sockets
    }

    /// Ends the connections that stay open, each with a word of why, and waits for that a moment.
    pub async fn end_sockets(&self) {
        self.0.sockets.end().await;
    }

    fn fees(&self) -> &rpc::Fees {
        &self.0.fees
    }

    fn catalogue(&self) -> &Catalogue {
        &self.0.catalogue
    }

    fn known(&self) -> &Known {
        &self.0.known
    }

    fn called(&self) -> &Called {
        &self.0.called
    }

    fn answers(&self) -> Option<&Answers> {
        self.0.answers.as_ref()
    }

    fn options(&self) -> &Options {
        &self.0.options
    }

    /// To follow what is readable.
    fn head_watch(&self) -> HeadWatch {
        self.0.head.clone()
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
            .route("/api/eth-rpc", post(rpc::serve).get(rpc::connect))
            .route("/api/v1/eth-rpc", post(rpc::serve).get(rpc::connect))
            .with_state(self.clone());
        let probes = Router::new()
            .route("/health/live", get(probes::live))
            .route("/health/ready", get(probes::ready))
            .route("/api/health", get(probes::health))
            .route("/metrics", get(probes::metrics))
            .route("/docs", get(describe::docs))
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
