//! The accept loop: connections are accepted until the order to stop, and each is served by a task of its own.

use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::{Request, Response};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::{Notify, watch};
use tokio::time::timeout;
use tower::{Service, ServiceExt};

use crate::client::{Client, Scheme};
use crate::connection::Connection;
use crate::files;
use crate::limits::Limits;
use crate::quota::Quota;
use crate::refusal::Refusals;
use crate::tcp;
use crate::tls::{Tls, Transport};

/// How serving ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shutdown {
    /// Every request was answered.
    Complete,
    /// Requests were still in progress after [`Limits::shutdown_timeout`].
    TimedOut,
}

/// A bound socket, and how its connections are taken.
pub(crate) struct Acceptor {
    pub socket: TcpListener,
    pub limits: Limits,
    pub tls: Option<Arc<Tls>>,
}

impl Acceptor {
    /// Serves until `stop`: see [`Listener::serve`](crate::Listener::serve).
    pub async fn serve<S>(mut self, service: S, stop: impl Future<Output = ()>) -> Shutdown
    where
        S: Service<Request<Body>, Response = Response<Body>, Error = Infallible> + Clone + Send + 'static,
        S::Future: Send,
    {
        let limits = self.limits;
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new()).header_read_timeout(limits.head_timeout);
        let quota = Quota::new(files::make_room_for(limits.connections).into(), limits.connections_per_client.into());
        let refusals = Refusals::new();
        let (stopping, _) = watch::channel(());
        let mut stop = pin!(stop);
        let mut watching = pin!(watch_files(self.tls.clone()));
        loop {
            let (connection, address) = tokio::select! {
                // axum's `accept` skips connections that broke in the queue, and pauses when descriptors run out.
                accepted = axum::serve::Listener::accept(&mut self.socket) => accepted,
                () = &mut watching => break,
                () = &mut stop => break,
            };
            let client = Client::of(address.ip());
            let share = match (quota.take(client, 1), &self.tls) {
                (Ok(share), _) => share,
                (Err(full), None) => {
                    refusals.refuse(connection, client, full);
                    continue;
                }
                (Err(full), Some(_)) => {
                    refusals.count(client, full);
                    continue;
                }
            };
            tcp::prepare(&connection);
            let connection = Connection::new(connection, limits.write_timeout, share);
            let (http, first_head_timeout) = (http.clone(), limits.first_head_timeout);
            let scheme = if self.tls.is_some() { Scheme::Https } else { Scheme::Http };
            let serving = ConnectionContext { http, client, scheme, first_head_timeout };
            let (service, stopping) = (service.clone(), stopping.subscribe());
            match self.tls.clone() {
                None => drop(tokio::spawn(serving.serve(connection, service, stopping))),
                Some(tls) => drop(tokio::spawn(serving.serve_encrypted(tls, connection, service, stopping))),
            }
        }
        drop(self.socket);
        stopping.send_replace(());
        // Each connection holds a receiver until it ends.
        match timeout(limits.shutdown_timeout, stopping.closed()).await {
            Ok(()) => Shutdown::Complete,
            Err(_) => Shutdown::TimedOut,
        }
    }
}

/// Reads a certificate again whenever it changes; never ends.
async fn watch_files(tls: Option<Arc<Tls>>) {
    match tls {
        Some(tls) => tls.watch().await,
        None => std::future::pending().await,
    }
}

/// What serving a connection needs beside it.
struct ConnectionContext {
    http: http1::Builder,
    client: Client,
    scheme: Scheme,
    first_head_timeout: Duration,
}

impl ConnectionContext {
    /// Serves one connection after its handshake.
    async fn serve_encrypted<C, S>(self, tls: Arc<Tls>, connection: C, service: S, mut stopping: watch::Receiver<()>)
    where
        C: Transport,
        S: Service<Request<Body>, Response = Response<Body>, Error = Infallible> + Clone + Send + 'static,
        S::Future: Send,
    {
        let encrypted = tokio::select! {
            encrypted = tls.greet(connection, self.client) => encrypted,
            _ = stopping.changed() => return,
        };
        if let Some(encrypted) = encrypted {
            self.serve(encrypted, service, stopping).await;
        }
    }

    /// Serves one connection until its client closes it, or until it is idle after `stopping` has changed.
    ///
    /// `hyper_util::server::graceful` does the same for connections without upgrades only, and its `auto` connections,
    /// which have them, wait for the first bytes without a time limit (hyper-util 0.1.21).
    async fn serve<C, S>(self, connection: C, service: S, mut stopping: watch::Receiver<()>)
    where
        C: Transport,
        S: Service<Request<Body>, Response = Response<Body>, Error = Infallible> + Clone + Send + 'static,
        S::Future: Send,
    {
        let (client, scheme, began) = (self.client, self.scheme, Arc::new(Notify::new()));
        let service = service.map_request({
            let began = Arc::clone(&began);
            move |request: Request<Incoming>| {
                began.notify_one();
                let mut request = request.map(Body::new);
                request.extensions_mut().insert(client);
                request.extensions_mut().insert(scheme);
                request
            }
        });
        let service = TowerToHyperService::new(service);
        let mut served = pin!(self.http.serve_connection(TokioIo::new(connection), service).with_upgrades());
        let outcome = tokio::select! {
            outcome = served.as_mut() => outcome,
            _ = stopping.changed() => {
                served.as_mut().graceful_shutdown();
                served.await
            }
            () = silence(&began, self.first_head_timeout) => return,
        };
        if let Err(error) = outcome {
            tracing::trace!(%error, "a connection broke");
        }
    }
}

/// Resolves if nothing has begun after `limit`.
async fn silence(began: &Notify, limit: Duration) {
    if timeout(limit, began.notified()).await.is_ok() {
        return std::future::pending().await;
    }
    metrics::counter!("trawl_connections_ended_total", "reason" => "no request").increment(1);
    tracing::debug!("closing a connection that sent no request head within {limit:?}");
}

#[cfg(test)]
mod tests {
    use super::*;

    use std::time::Duration;

    use axum::Router;
    use axum::routing::get;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpStream;
    use tokio::sync::oneshot;
    use tokio::time::{Instant, sleep};

    const LIMIT: Duration = Duration::from_millis(400);
    impl Acceptor {
        fn plain(socket: TcpListener, limits: Limits) -> Self {
            Self { socket, limits, tls: None }
        }
    }

    const LONG: Duration = Duration::from_secs(20);

    async fn read_to_end(mut connection: TcpStream) -> String {
        let mut answer = Vec::new();
        let ended = timeout(LONG, connection.read_to_end(&mut answer)).await.expect("the server ends it");
        // What the client sent after that may have made it a reset.
        ended.map_or_else(|error| error.to_string(), |_| String::from_utf8_lossy(&answer).into_owned())
    }

    #[tokio::test]
    async fn a_head_sent_byte_by_byte_times_out_and_a_slow_answer_does_not() {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let slow = async || {
            sleep(LIMIT * 3).await;
            "late\n"
        };
        let (stop, stopped) = oneshot::channel::<()>();
        let router = Router::new().route("/", get(slow));
        let limits =
            Limits { first_head_timeout: LIMIT, head_timeout: LONG, shutdown_timeout: LONG, ..Limits::default() };
        let serving =
            tokio::spawn(Acceptor::plain(listener, limits).serve(router, async { stopped.await.expect("an order") }));

        let mut one_byte = TcpStream::connect(address).await.expect("connects");
        one_byte.write_all(b"G").await.expect("sends");
        let mut trickle = TcpStream::connect(address).await.expect("connects");
        let mut whole = TcpStream::connect(address).await.expect("connects");
        whole.write_all(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n").await.expect("sends");
        let started = Instant::now();
        for byte in b"GET / HTTP/1.1\r\nhost: x\r\nx: aaaaaaaaaaaaaaaaaaaaaaaa" {
            sleep(LIMIT / 10).await;
            if trickle.write_all(&[*byte]).await.is_err() {
                break;
            }
        }
        assert!(started.elapsed() > LIMIT, "it was still sending when the limit was over");
        assert!(!read_to_end(one_byte).await.contains("200"));
        assert!(!read_to_end(trickle).await.contains("200"));
        stop.send(()).expect("it serves");
        assert!(read_to_end(whole).await.ends_with("late\n"));
        let ended = timeout(LONG, serving).await.expect("it ends").expect("without a panic");
        assert_eq!(ended, Shutdown::Complete);
    }

    #[tokio::test]
    async fn a_request_that_does_not_end_holds_the_shutdown_up_to_its_limit() {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let (arrived, arrival) = oneshot::channel::<()>();
        let arrived = Arc::new(std::sync::Mutex::new(Some(arrived)));
        let endless = move || async move {
            let _ = arrived.lock().expect("no panic").take().expect("one request").send(());
            std::future::pending::<&'static str>().await
        };
        let router = Router::new().route("/", get(endless));
        let limits = Limits { shutdown_timeout: LIMIT, ..Limits::default() };
        let serving = Acceptor::plain(listener, limits).serve(router, async { arrival.await.expect("a request") });
        let serving = tokio::spawn(serving);
        let mut client = TcpStream::connect(address).await.expect("connects");
        client.write_all(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n").await.expect("sends");
        let ended = timeout(LONG, serving).await.expect("it ends").expect("without a panic");
        assert_eq!(ended, Shutdown::TimedOut);
    }

    #[tokio::test]
    async fn a_client_beyond_its_connections_is_refused_and_takes_none_from_others() {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let router = Router::new().route("/", get(async |client: axum::Extension<Client>| format!("{client:?}")));
        let limits = Limits { connections: 3, connections_per_client: 2, ..Limits::default() };
        tokio::spawn(Acceptor::plain(listener, limits).serve(router, std::future::pending()));
        let from = async |source: &str| {
            let socket = tokio::net::TcpSocket::new_v4().expect("a socket");
            socket.bind(format!("{source}:0").parse().expect("an address")).expect("an address of this machine");
            socket.connect(address).await.expect("connects")
        };
        let ask = async |mut connection: TcpStream| {
            let request = b"GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
            connection.write_all(request).await.expect("sends");
            read_to_end(connection).await
        };
        let (first, second) = (from("127.0.0.1").await, from("127.0.0.1").await);
        let refused = ask(from("127.0.0.1").await).await;
        assert!(refused.starts_with("HTTP/1.1 503") && refused.contains("retry-after: "), "{refused}");
        let other = ask(from("127.0.0.2").await).await;
        assert!(other.starts_with("HTTP/1.1 200") && other.contains("127.0.0.2"), "{other}");
        let _third = from("127.0.0.3").await;
        assert!(ask(from("127.0.0.4").await).await.starts_with("HTTP/1.1 503"), "there are three in all");
        drop((first, second));
        let again = async { while !ask(from("127.0.0.1").await).await.starts_with("HTTP/1.1 200") {} };
        timeout(LONG, again).await.expect("connections are free again");
    }

    #[tokio::test]
    async fn an_answer_that_is_not_read_is_ended() {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let (ended, end) = oneshot::channel::<()>();
        let ended = Arc::new(std::sync::Mutex::new(Some(ended)));
        let endless = move || {
            let ended = ended.lock().expect("no panic").take();
            async move {
                let chunk = || Ok::<_, Infallible>(axum::body::Bytes::from(vec![b'x'; 1 << 16]));
                // What the answer holds, for example a statement, is dropped with it.
                Body::from_stream(futures_util::stream::repeat_with(move || (chunk(), &ended).0))
            }
        };
        let limits = Limits { write_timeout: LIMIT, ..Limits::default() };
        tokio::spawn(
            Acceptor::plain(listener, limits).serve(Router::new().route("/", get(endless)), std::future::pending()),
        );
        let mut client = TcpStream::connect(address).await.expect("connects");
        client.write_all(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n").await.expect("sends");
        assert!(timeout(LONG, end).await.expect("it is ended").is_err());
    }
}
