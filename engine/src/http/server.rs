//! The HTTP server: routes, one blocking thread a statement, and an orderly end.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use axum::extract::{Request as HttpRequest, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Response, StatusCode};
use axum::middleware::{from_fn, from_fn_with_state};
use axum::response::IntoResponse;
use axum::routing::{any, get};
use tokio::sync::{SemaphorePermit, oneshot};
use trawl_metrics::Exposition;
use trawl_serve::{Client, Listener, LogLimiter, Shutdown};

use crate::account::{Accounts, Role};
use crate::chdb::engine::Engine;
use crate::codec::{EncodedBody, Encoding};
use crate::exception::Exception;
use crate::execute::admission::{AdmissionControl, Slot, WorkloadLimits};
use crate::execute::changes::Changes;
use crate::execute::figures::SystemTables;
use crate::execute::job::{Job, Reply};
use crate::execute::query_log::{Entry, QueryLog, Statement};
use crate::execute::reader_session::ReaderSessions;
use crate::execute::run::{self, Preparation};
use crate::execute::running::StatementRegistry;
use crate::execute::session::Sessions;
use crate::http::access_log::{self, AccessLog};
use crate::http::body::read_body;
use crate::http::buffered_body::held;
use crate::http::cancel::CancelOnDrop;
use crate::http::changes::{ChangeWaiters, changes};
use crate::http::door::{Door, RequestGate, enter};
use crate::http::head::{Context, refuse};
use crate::http::metrics::{EngineCounts, metrics};
use crate::http::request::Request;
use crate::http::respond::respond;
use crate::http::upload_permit::{self, UploadPermit};
use crate::sql::limits::ReaderLimits;
use crate::sql::log_comment;

/// What all requests share.
#[derive(Debug)]
pub struct Server {
    engine: Arc<Engine>,
    accounts: Accounts,
    sessions: Arc<Sessions>,
    reader_sessions: Arc<ReaderSessions>,
    /// Where statements run, so that threads and pipes are bounded, and no workload takes those of another.
    slots: AdmissionControl,
    bounds: Bounds,
    running: Arc<StatementRegistry>,
    query_log: Option<Arc<QueryLog>>,
    changes: Arc<Changes>,
    waiting: ChangeWaiters,
    /// One permit a statement that is arriving; so threads are left for those that run, and for cancelling.
    arriving: UploadPermit,
    next_id: AtomicU64,
    /// Makes query ids that no client can guess and take in advance.
    hasher: RandomState,
    exposition: Exposition,
    tables: Arc<SystemTables>,
    refused_logins: LogLimiter,
}

/// How much longer than its statement may run a reader may take to take the answer: it waits in a pipe, which no time
/// limit of the engine ends.
const READER_MARGIN: Duration = Duration::from_secs(30);
/// Threads beside: for cancelling.
const SPARE: usize = 16;

/// What statements and their clients may take.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Slots of each workload.
    pub shares: WorkloadLimits,
    /// What the reader's statements may use.
    pub reader: ReaderLimits,
    /// Slots of the reader's workload that one reader may take.
    pub slots_of_each_reader: u32,
    /// Bytes of the log of what ran; 0 for none.
    pub query_log: u64,
    /// How long statements that were cancelled at the end may take to end.
    pub cancelled: Duration,
}

/// How many blocking threads a server with these bounds needs.
#[must_use]
pub fn threads(bounds: &Bounds) -> usize {
    let slots: u32 = bounds.shares.iter().map(|share| share.slots).sum();
    slots as usize + upload_permit::THREADS + SPARE
}

impl Server {
    /// A server that keeps to `bounds`.
    ///
    /// # Errors
    ///
    /// The engine's exception if it cannot have the log.
    pub fn new(
        engine: Arc<Engine>,
        accounts: Accounts,
        bounds: Bounds,
        exposition: Exposition,
    ) -> Result<Arc<Self>, Exception> {
        let readers = accounts.iter().filter(|account| account.role.is_limited());
        let names = readers.map(|account| account.user.as_str());
        let slots = AdmissionControl::new(bounds.shares).with_readers(names, bounds.slots_of_each_reader);
        let (running, tables) = (Arc::default(), Arc::new(SystemTables::new(Arc::clone(&engine))));
        let query_log = match bounds.query_log {
            0 => None,
            bytes => Some(QueryLog::start(&engine, bytes, Arc::clone(&running))?),
        };
        Ok(Arc::new(Self {
            engine,
            accounts,
            sessions: Arc::default(),
            reader_sessions: Arc::default(),
            slots,
            bounds,
            running,
            query_log,
            changes: Arc::default(),
            waiting: ChangeWaiters::default(),
            next_id: AtomicU64::new(1),
            arriving: UploadPermit::default(),
            hasher: RandomState::new(),
            exposition,
            tables,
            refused_logins: LogLimiter::default(),
        }))
    }

    /// Serves `listener` for those that `door` lets in, until `stop` resolves, then lets running statements end and
    /// closes the store.
    pub async fn serve(
        self: Arc<Self>,
        listener: Listener,
        door: Door,
        access_log: AccessLog,
        stop: impl Future<Output = ()>,
    ) {
        let doorway = Arc::new(RequestGate { door, address: listener.address(), refused: LogLimiter::default() });
        let router = Router::new()
            .route("/", any(handle))
            .route("/query", any(handle))
            .route("/ping", get(async || "Ok.\n"))
            .route("/changes", get(handle_changes))
            .route("/metrics", get(handle_metrics))
            .fallback(async || {
                (StatusCode::NOT_FOUND, "There is no handle; try /, /query, /ping, /changes or /metrics\n")
            })
            .with_state(Arc::clone(&self))
            .layer(from_fn_with_state(doorway, enter));
        let router = match access_log {
            AccessLog::Off => router,
            AccessLog::On => router.layer(from_fn(access_log::write)),
        };
        let expiring = tokio::spawn(expire_sessions(Arc::clone(&self.sessions), Arc::clone(&self.reader_sessions)));
        let waited = listener.limits().shutdown_timeout;
        let stopped = async {
            stop.await;
            // Those who wait for a change need not hold the end up.
            self.changes.close();
        };
        if listener.serve(router, stopped).await == Shutdown::TimedOut {
            tracing::warn!("statements still run after {} s and are cancelled", waited.as_secs_f64());
            self.slots.close();
            self.cancel_all().await;
        }
        expiring.abort();
        self.close().await;
    }

    /// Cancels what runs. Twice, because a statement that has just taken its slot may not have reached the engine yet.
    async fn cancel_all(&self) {
        for pause in [Duration::ZERO, Duration::from_millis(500)] {
            tokio::time::sleep(pause).await;
            let engine = Arc::clone(&self.engine);
            // It ends early only if this program does.
            let _ = tokio::task::spawn_blocking(move || engine.cancel_all(log_comment::ANY)).await;
        }
    }

    /// Closes every connection, then the engine: the order that libchdb needs.
    async fn close(&self) {
        let everything = tokio::time::timeout(self.bounds.cancelled, self.slots.all_free()).await;
        self.sessions.clear();
        if everything.is_err() {
            tracing::warn!("statements were still running at exit; the next start finds their tables as after a crash");
        }
        if let Some(log) = self.query_log.clone() {
            // It ends early only if this program does.
            let _ = tokio::task::spawn_blocking(move || log.close()).await;
        }
        self.engine.shutdown();
    }

    /// The role of a request's user. Whose password is wrong is in the log with its address, once in a while.
    fn authenticate(&self, request: &Request, client: Option<&Client>) -> Result<Role, Exception> {
        self.accounts.authenticate(&request.credentials).inspect_err(|_| {
            if let Some(count) = self.refused_logins.admit() {
                let user: String = request.credentials.user.chars().take(64).collect();
                let client = client.map(ToString::to_string).unwrap_or_default();
                tracing::warn!(user, client, count, "a login was refused");
            }
        })
    }

    /// What is known of a request before it is read.
    fn context(&self) -> Context {
        Context {
            engine: Arc::clone(&self.engine),
            query_id: self.query_id(),
            encoding: Encoding::Identity,
            wait_end_of_query: false,
            started: Instant::now(),
            timezone: None,
        }
    }

    fn query_id(&self) -> String {
        let number = self.next_id.fetch_add(1, Ordering::Relaxed);
        format!("{:016x}-{number:x}", self.hasher.hash_one(number))
    }
}

async fn expire_sessions(sessions: Arc<Sessions>, of_readers: Arc<ReaderSessions>) {
    let mut tick = tokio::time::interval(Duration::from_secs(1));
    loop {
        tick.tick().await;
        sessions.expire();
        of_readers.expire();
    }
}

async fn handle_changes(State(server): State<Arc<Server>>, http: HttpRequest) -> Response<Body> {
    let (parts, _) = http.into_parts();
    let answer = changes(&parts, &server.accounts, &server.changes, &server.waiting).await;
    answer.unwrap_or_else(|exception| refuse(&server.context(), &exception))
}

async fn handle_metrics(State(server): State<Arc<Server>>, http: HttpRequest) -> Response<Body> {
    let (parts, _) = http.into_parts();
    let known = Request::read(&parts.method, &parts.uri, &parts.headers, String::new())
        .and_then(|request| server.authenticate(&request, parts.extensions.get()));
    match known {
        Ok(_) => {
            let counted = EngineCounts {
                uses: server.slots.uses().into(),
                broken_parts: server.engine.broken_count(),
                left_out_of_log: server.query_log.as_ref().map(|log| log.left_out()),
            };
            metrics(&server.exposition, &server.tables, counted).await
        }
        Err(exception) => refuse(&server.context(), &exception),
    }
}

async fn handle(State(server): State<Arc<Server>>, http: HttpRequest) -> Response<Body> {
    let (parts, body) = http.into_parts();
    let mut context = server.context();
    let request = match Request::read(&parts.method, &parts.uri, &parts.headers, context.query_id.clone()) {
        Ok(request) => request,
        Err(exception) => return refuse(&context, &exception),
    };
    context.query_id.clone_from(&request.query_id);
    context.wait_end_of_query = request.wait_end_of_query;
    if asks_nothing(&request, &parts) {
        return "Ok.\n".into_response();
    }
    let role = match server.authenticate(&request, parts.extensions.get()) {
        Ok(role) => role,
        Err(exception) => return refuse(&context, &exception),
    };
    // The Java client does not decompress the answer to a refused login.
    context.encoding = request.encoding;
    match answer(&server, request, role, parts.headers, body).await {
        Ok(Answer { reply, watch, slot }) => {
            let answer = respond(context, reply, watch).await;
            let longest = server.bounds.reader.time + READER_MARGIN;
            match slot.filter(|_| role.is_limited()) {
                Some(slot) => held(answer, slot, longest),
                None => answer,
            }
        }
        Err(exception) => refuse(&context, &exception),
    }
}

/// Whether a request only looks if somebody is there: GET or HEAD of `/` without a statement, also in its body.
fn asks_nothing(request: &Request, parts: &Parts) -> bool {
    let has_length = parts.headers.get("content-length").is_some_and(|length| length != "0");
    let has_body = has_length || parts.headers.contains_key("transfer-encoding");
    request.query.is_read_only && request.query.text.is_empty() && !has_body && parts.uri.path() == "/"
}

/// An answer that has begun; its statement may still be going on.
struct Answer {
    reply: Reply,
    watch: CancelOnDrop,
    /// `None` for what needs none.
    slot: Option<Arc<Slot>>,
}

/// Runs a request's statement.
async fn answer(
    server: &Server,
    mut request: Request,
    role: Role,
    headers: HeaderMap,
    body: Body,
) -> Result<Answer, Exception> {
    let ticket = server.running.enter(&request.query_id, &request.credentials.user)?;
    let mut watch = CancelOnDrop::new(Arc::clone(&server.engine), &ticket);
    let arriving = server.arriving.begin(role).await.inspect_err(|_| watch.over())?;
    let body = read_body(&mut request, &headers, body, role).await.inspect_err(|_| watch.over())?;
    let (engine, sessions, reader_sessions) =
        (Arc::clone(&server.engine), Arc::clone(&server.sessions), Arc::clone(&server.reader_sessions));
    let user_agent = headers.get("user-agent").map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
    let statement = Statement {
        user: request.credentials.user.clone(),
        query_id: request.query_id,
        is_get: request.query.is_read_only,
        user_agent: user_agent.unwrap_or_default(),
    };
    let query_log = server.query_log.clone();
    let entry = query_log.as_ref().map(|log| Entry::new(Arc::clone(log), statement));
    let body = EncodedBody { bytes: body, headers, has_blocks: request.decompress };
    let changes = Arc::clone(&server.changes);
    let (query, user, limits) =
        (request.query, request.credentials.user, (role.is_limited()).then_some(server.bounds.reader));
    let job = Job { engine, sessions, reader_sessions, changes, query, user, role, limits, ticket, entry, query_log };
    let (reply, slot) = start(server, job, body, arriving).await.inspect_err(|_| watch.over())?;
    Ok(Answer { reply, watch, slot })
}

/// Runs `job` on a thread of its own. It takes a slot when its text is there: a slow client keeps none from others.
async fn start(
    server: &Server,
    job: Job,
    body: EncodedBody,
    arriving: SemaphorePermit<'_>,
) -> Result<(Reply, Option<Arc<Slot>>), Exception> {
    let broken = || Exception::new(1002, "UNKNOWN_EXCEPTION", "the statement's thread ended without an answer");
    let user = job.user.clone();
    let prepared = match tokio::task::spawn_blocking(|| run::prepare(job, body)).await.map_err(|_| broken())?? {
        Preparation::Statement(prepared) => prepared,
        // It stays among those that arrive, so that there are never many.
        Preparation::Kill(kill) => return Ok((kill.carry_out().await, None)),
    };
    drop(arriving);
    let slot = match server.slots.enter(prepared.workload(), &user).await {
        Ok(slot) => Arc::new(slot),
        Err(exception) => {
            prepared.refused(&exception);
            return Err(exception);
        }
    };
    let running = Arc::clone(&slot);
    let (sender, reply) = oneshot::channel();
    tokio::task::spawn_blocking(move || {
        run::run(prepared, sender);
        drop(running);
    });
    let reply = reply.await.unwrap_or_else(|_| Err(broken()))?;
    Ok((reply, Some(slot)))
}
