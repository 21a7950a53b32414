//! The HTTP server: routes, one blocking thread a statement, and an orderly end.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, BodyDataStream};
use axum::extract::{Request as HttpRequest, State};
use axum::http::{HeaderMap, Response, StatusCode};
use axum::response::IntoResponse;
use axum::routing::{any, get};
use axum::serve::ListenerExt;
use bytes::Bytes;
use futures_util::StreamExt;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, mpsc, oneshot};

use crate::account::Accounts;
use crate::codec::Encoding;
use crate::connection::Engine;
use crate::exception::Exception;
use crate::execute::{self, Job};
use crate::request::Request;
use crate::respond::{CancelOnDrop, Context, refuse, respond};
use crate::session::Sessions;

/// What all requests share.
#[derive(Debug)]
pub struct Server {
    engine: Arc<Engine>,
    accounts: Accounts,
    sessions: Arc<Sessions>,
    /// One permit a running statement, so that threads and pipes are bounded; further statements wait.
    slots: Arc<Semaphore>,
    slot_count: u32,
    next_id: AtomicU64,
    /// Makes query ids differ between runs.
    run: u64,
}

/// Chunks of a request body in flight between the socket and the statement's thread; each is what hyper
/// read at once, so this bounds a body's buffers to about 1 MiB.
const BODY_CHUNKS: usize = 8;
/// Form bodies carry a statement and its parameters, never data.
const MAX_FORM: u64 = 64 << 20;
/// How long shutdown waits for running statements before it cancels them.
const GRACE: Duration = Duration::from_secs(25);

impl Server {
    /// A server that runs at most `slots` statements at a time.
    #[must_use]
    pub fn new(engine: Arc<Engine>, accounts: Accounts, slots: u32) -> Arc<Self> {
        let run =
            std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |since| since.as_millis());
        Arc::new(Self {
            engine,
            accounts,
            sessions: Arc::default(),
            slots: Arc::new(Semaphore::new(slots as usize)),
            slot_count: slots,
            next_id: AtomicU64::new(1),
            run: u64::try_from(run).unwrap_or(u64::MAX),
        })
    }

    /// Serves `listener` until `stop` resolves, then lets running statements end and closes the store.
    pub async fn serve(
        self: Arc<Self>,
        listener: TcpListener,
        stop: impl Future<Output = ()> + Send + 'static,
    ) -> io::Result<()> {
        let router = Router::new()
            .route("/", any(handle))
            .route("/ping", get(async || "Ok.\n"))
            .fallback(async || (StatusCode::NOT_FOUND, "There is no handle; try / or /ping\n"))
            .with_state(Arc::clone(&self));
        let expiring = tokio::spawn(expire_sessions(Arc::clone(&self.sessions)));
        let (stopping, stopped) = oneshot::channel::<()>();
        // Small answers must not wait for the acknowledgement of the piece before them.
        let listener = listener.tap_io(|connection| {
            if let Err(error) = connection.set_nodelay(true) {
                tracing::debug!(%error, "a connection keeps Nagle's algorithm");
            }
        });
        let serving = axum::serve(listener, router).with_graceful_shutdown(async move {
            stop.await;
            let _ = stopping.send(());
        });
        tokio::select! {
            served = async { serving.await } => served?,
            () = async { let _ = stopped.await; tokio::time::sleep(GRACE).await } => {
                tracing::warn!("statements still ran after {} s and were cancelled", GRACE.as_secs());
            }
        }
        expiring.abort();
        self.close().await;
        Ok(())
    }

    /// Closes every connection, then the engine: the order libchdb asks for.
    async fn close(&self) {
        let everything = tokio::time::timeout(Duration::from_secs(5), self.slots.acquire_many(self.slot_count)).await;
        self.sessions.clear();
        if everything.is_err() {
            tracing::warn!(
                "statements were still running at the end; the next start finds their tables as after a crash"
            );
        }
        self.engine.shutdown();
    }

    fn query_id(&self) -> String {
        format!("{:x}-{:x}", self.run, self.next_id.fetch_add(1, Ordering::Relaxed))
    }
}

async fn expire_sessions(sessions: Arc<Sessions>) {
    let mut tick = tokio::time::interval(Duration::from_secs(1));
    loop {
        tick.tick().await;
        sessions.expire();
    }
}

async fn handle(State(server): State<Arc<Server>>, http: HttpRequest) -> Response<Body> {
    let (parts, body) = http.into_parts();
    let mut context = Context {
        engine: Arc::clone(&server.engine),
        query_id: server.query_id(),
        encoding: Encoding::Identity,
        wait_end_of_query: false,
        started: Instant::now(),
    };
    let mut request = match Request::read(&parts.method, &parts.uri, &parts.headers, context.query_id.clone()) {
        Ok(request) => request,
        Err(exception) => return refuse(&context, &exception),
    };
    context.query_id.clone_from(&request.query_id);
    context.encoding = request.encoding;
    context.wait_end_of_query = request.wait_end_of_query;
    if request.method_is_readonly && request.query.is_empty() {
        return "Ok.\n".into_response();
    }
    let role = match server.accounts.authenticate(&request.credentials) {
        Ok(role) => role,
        Err(exception) => return refuse(&context, &exception),
    };
    let body = match read_body(&mut request, &parts.headers, body).await {
        Ok(body) => body,
        Err(exception) => return refuse(&context, &exception),
    };
    let job = Job {
        engine: Arc::clone(&server.engine),
        sessions: Arc::clone(&server.sessions),
        request,
        role,
        body,
        headers: parts.headers,
    };
    let watch = CancelOnDrop::new(Arc::clone(&server.engine), context.query_id.clone());
    let reply = start(&server, job).await;
    respond(context, reply, watch).await
}

/// Runs `job` on a thread of its own, as soon as one is free.
async fn start(server: &Server, job: Job) -> Result<execute::Reply, Exception> {
    let gone = || Exception::new(210, "NETWORK_ERROR", "the engine is shutting down");
    let slot = Arc::clone(&server.slots).acquire_owned().await.map_err(|_| gone())?;
    let (sender, reply) = oneshot::channel();
    tokio::task::spawn_blocking(move || {
        execute::run(job, sender);
        drop(slot);
    });
    reply.await.unwrap_or_else(|_| {
        Err(Exception::new(1002, "UNKNOWN_EXCEPTION", "the statement's thread ended without an answer"))
    })
}

/// The body as a blocking reader; a form is read into `request` at once.
async fn read_body(request: &mut Request, headers: &HeaderMap, body: Body) -> Result<Box<dyn Read + Send>, Exception> {
    let content_type = headers.get("content-type").and_then(|value| value.to_str().ok()).unwrap_or("");
    if let Ok(boundary) = multer::parse_boundary(content_type) {
        read_form(request, boundary, body.into_data_stream()).await?;
        return Ok(Box::new(io::empty()));
    }
    let (sender, receiver) = mpsc::channel(BODY_CHUNKS);
    tokio::spawn(pump(body.into_data_stream(), sender));
    Ok(Box::new(BodyReader { receiver, chunk: Bytes::new() }))
}

async fn read_form(request: &mut Request, boundary: String, body: BodyDataStream) -> Result<(), Exception> {
    let limits = multer::Constraints::new().size_limit(multer::SizeLimit::new().whole_stream(MAX_FORM));
    let mut form = multer::Multipart::with_constraints(body, boundary, limits);
    let unreadable = |error: multer::Error| Exception::bad_arguments(format!("the form cannot be read: {error}"));
    while let Some(field) = form.next_field().await.map_err(unreadable)? {
        let name = field.name().unwrap_or("").to_owned();
        if !Request::is_field(&name) {
            return Err(Exception::new(
                48,
                "NOT_IMPLEMENTED",
                format!("external table `{name}`: this engine takes no tables with a query"),
            ));
        }
        let value = field.text_with_charset("utf-8").await.map_err(unreadable)?;
        request.field(&name, value);
    }
    Ok(())
}

/// Moves a body to the statement's thread; stops when either side has gone.
async fn pump(mut body: BodyDataStream, sender: mpsc::Sender<io::Result<Bytes>>) {
    while let Some(chunk) = body.next().await {
        let failed = chunk.is_err();
        if sender.send(chunk.map_err(io::Error::other)).await.is_err() || failed {
            return;
        }
    }
}

/// Reads a body from a blocking thread.
struct BodyReader {
    receiver: mpsc::Receiver<io::Result<Bytes>>,
    chunk: Bytes,
}

impl Read for BodyReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.chunk.is_empty() {
            match self.receiver.blocking_recv() {
                Some(chunk) => self.chunk = chunk?,
                None => return Ok(0),
            }
        }
        let count = buffer.len().min(self.chunk.len());
        buffer[..count].copy_from_slice(&self.chunk.split_to(count));
        Ok(count)
    }
}
