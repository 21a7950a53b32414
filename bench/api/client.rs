//! The client of all legs: one thread, connections that stay open, answers that are read to their end and dropped.

use std::cell::RefCell;
use std::collections::HashMap;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use axum::body::Body;
use futures_util::StreamExt as _;
use futures_util::future::try_join_all;
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

/// An HTTP request.
#[derive(Debug, Clone)]
pub struct Request {
    /// Host and port.
    host: String,
    path: String,
    /// Body of a POST; `None` for a GET.
    body: Option<String>,
}

impl Request {
    /// POST of JSON or SQL. `url` is that of the server.
    pub fn post(url: &str, path: &str, body: String) -> Self {
        Self { body: Some(body), ..Self::get(url, path) }
    }

    /// GET. `url` is that of the server.
    pub fn get(url: &str, path: &str) -> Self {
        Self { host: url.trim_start_matches("http://").into(), path: path.into(), body: None }
    }

    fn build(&self) -> anyhow::Result<hyper::Request<Body>> {
        let request = hyper::Request::builder().uri(&self.path).header("host", &self.host);
        let request = request.header("accept-encoding", "identity").header("content-type", "application/json");
        Ok(match &self.body {
            Some(body) => request.method("POST").body(Body::from(body.clone()))?,
            None => request.body(Body::empty())?,
        })
    }
}

/// An answer that was read to its end.
#[derive(Debug, Clone, Default)]
pub struct FullAnswer {
    /// Seconds until the first byte of its body.
    pub first_byte: f64,
    /// Seconds until its end.
    pub total: f64,
    /// Length of its body.
    pub bytes: u64,
    /// The body, where requested.
    pub body: Vec<u8>,
}

/// Keeps one connection to each server.
pub struct Client {
    runtime: tokio::runtime::Runtime,
    connections: RefCell<HashMap<String, SendRequest<Body>>>,
}

/// The throughput and latency of concurrent clients.
#[derive(Debug, Clone, Copy)]
pub struct Load {
    /// Answers a second.
    pub rate: f64,
    /// Median of their times, in seconds.
    pub median: f64,
    /// 99th percentile of their times, in seconds.
    pub p99: f64,
}

impl Client {
    /// A client without connections.
    pub fn new() -> anyhow::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        Ok(Self { runtime, connections: RefCell::default() })
    }

    /// Reads an answer and drops it.
    pub fn drain(&self, request: &Request) -> anyhow::Result<FullAnswer> {
        self.on_pooled_connection(request, BodyRetention::Nothing)
    }

    /// Reads an answer and keeps its body.
    pub fn fetch(&self, request: &Request) -> anyhow::Result<FullAnswer> {
        self.on_pooled_connection(request, BodyRetention::Body)
    }

    fn on_pooled_connection(&self, request: &Request, keep: BodyRetention) -> anyhow::Result<FullAnswer> {
        self.runtime.block_on(async {
            let pooled = self.connections.borrow_mut().remove(&request.host);
            let mut connection = match pooled.filter(|connection| !connection.is_closed()) {
                Some(connection) => connection,
                None => open(&request.host).await?,
            };
            let whole = read(&mut connection, request, keep).await?;
            self.connections.borrow_mut().insert(request.host.clone(), connection);
            Ok(whole)
        })
    }

    /// Seconds that `groups` take one after another, with all requests of a group at once.
    pub fn groups(&self, groups: &[Vec<Request>]) -> anyhow::Result<f64> {
        let host = &groups.iter().flatten().next().context("a request")?.host;
        let most = groups.iter().map(Vec::len).max().unwrap_or_default();
        self.runtime.block_on(async {
            let mut connections = try_join_all((0..most).map(|_| open(host))).await?;
            let started = Instant::now();
            for group in groups {
                let pairs = group.iter().zip(&mut connections);
                try_join_all(pairs.map(|(request, connection)| read(connection, request, BodyRetention::Nothing)))
                    .await?;
            }
            Ok(started.elapsed().as_secs_f64())
        })
    }

    /// Lets `clients` send one request after another for `seconds`; `request` gets a number that is new each time.
    pub fn load(&self, clients: usize, seconds: f64, request: impl Fn(u64) -> Request) -> anyhow::Result<Load> {
        let counter = std::cell::Cell::new(0);
        let next = || {
            counter.set(counter.get() + 1);
            request(counter.get())
        };
        let started = Instant::now();
        let end = started + Duration::from_secs_f64(seconds);
        let work = async || {
            let mut connection = open(&next().host).await?;
            let mut times = Vec::new();
            while Instant::now() < end {
                let request = next();
                if connection.is_closed() {
                    connection = open(&request.host).await?;
                }
                times.push(read(&mut connection, &request, BodyRetention::Nothing).await?.total);
            }
            anyhow::Ok(times)
        };
        let times = self.runtime.block_on(try_join_all((0..clients).map(|_| work())))?;
        let took = started.elapsed().as_secs_f64();
        let mut times: Vec<f64> = times.into_iter().flatten().collect();
        times.sort_by(f64::total_cmp);
        ensure!(!times.is_empty(), "nothing was answered in {seconds} s");
        let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
        Ok(Load { rate: times.len() as f64 / took, median: at(0.5), p99: at(0.99) })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BodyRetention {
    Nothing,
    Body,
}

async fn open(host: &str) -> anyhow::Result<SendRequest<Body>> {
    let stream = TcpStream::connect(host).await.with_context(|| format!("cannot reach {host}"))?;
    stream.set_nodelay(true)?;
    let (sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    // Ends when the server or the sender does; what fails shows at the sender.
    tokio::spawn(connection);
    Ok(sender)
}

async fn read(
    connection: &mut SendRequest<Body>,
    request: &Request,
    keep: BodyRetention,
) -> anyhow::Result<FullAnswer> {
    connection.ready().await?;
    let message = request.build()?;
    let started = Instant::now();
    let response = connection.send_request(message).await.with_context(|| request.path.clone())?;
    let status = response.status();
    let mut whole = FullAnswer::default();
    let mut body = Body::new(response.into_body()).into_data_stream();
    let keep = if status.is_success() { keep } else { BodyRetention::Body };
    while let Some(piece) = body.next().await {
        let piece = piece.context("the answer broke off")?;
        if whole.bytes == 0 {
            whole.first_byte = started.elapsed().as_secs_f64();
            // JSON-RPC answers errors with 200, and sooner than anything else.
            let beginning = &piece[..piece.len().min(64)];
            ensure!(!beginning.windows(7).any(|word| word == b"\"error\""), "{}", String::from_utf8_lossy(&piece));
        }
        whole.bytes += piece.len() as u64;
        if keep == BodyRetention::Body {
            whole.body.extend_from_slice(&piece);
        }
    }
    whole.total = started.elapsed().as_secs_f64();
    ensure!(status.is_success(), "{}: {status}: {}", request.path, String::from_utf8_lossy(&whole.body));
    Ok(whole)
}
