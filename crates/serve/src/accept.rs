//! The accept loop: connections are accepted until the order to stop, and each is served by a task of its own.

use std::convert::Infallible;
use std::pin::pin;

use axum::body::Body;
use axum::http::{Request, Response};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::time::timeout;
use tower::{Service, ServiceExt};

use crate::limits::Limits;
use crate::tcp;

/// How serving ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shutdown {
    /// Every request was answered.
    Complete,
    /// Requests were still in progress after [`Limits::shutdown_timeout`].
    TimedOut,
}

/// See [`Listener::serve`](crate::Listener::serve).
pub(crate) async fn serve<S>(
    mut listener: TcpListener,
    service: S,
    limits: Limits,
    stop: impl Future<Output = ()>,
) -> Shutdown
where
    S: Service<Request<Body>, Response = Response<Body>, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
{
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(limits.head_timeout);
    let (stopping, _) = watch::channel(());
    let mut stop = pin!(stop);
    loop {
        let (connection, _) = tokio::select! {
            // axum's `accept` skips connections that broke in the queue, and pauses when descriptors run out.
            accepted = axum::serve::Listener::accept(&mut listener) => accepted,
            () = &mut stop => break,
        };
        tcp::prepare(&connection);
        tokio::spawn(serve_connection(http.clone(), connection, service.clone(), stopping.subscribe()));
    }
    drop(listener);
    stopping.send_replace(());
    // Each connection holds a receiver until it ends.
    match timeout(limits.shutdown_timeout, stopping.closed()).await {
        Ok(()) => Shutdown::Complete,
        Err(_) => Shutdown::TimedOut,
    }
}

/// Serves one connection until its client closes it, or until it is idle after `stopping` has changed.
///
/// `hyper_util::server::graceful` does the same for connections without upgrades only, and its `auto` connections, which
/// have them, wait for the first bytes without a time limit (hyper-util 0.1.21).
async fn serve_connection<C, S>(http: http1::Builder, connection: C, service: S, mut stopping: watch::Receiver<()>)
where
    C: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    S: Service<Request<Body>, Response = Response<Body>, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
{
    let service = service.map_request(|request: Request<Incoming>| request.map(Body::new));
    let served = http.serve_connection(TokioIo::new(connection), TowerToHyperService::new(service)).with_upgrades();
    let mut served = pin!(served);
    let outcome = tokio::select! {
        outcome = served.as_mut() => outcome,
        _ = stopping.changed() => {
            served.as_mut().graceful_shutdown();
            served.await
        }
    };
    if let Err(error) = outcome {
        tracing::trace!(%error, "a connection broke");
    }
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
        let limits = Limits { head_timeout: LIMIT, shutdown_timeout: LONG };
        let serving = tokio::spawn(serve(listener, router, limits, async { stopped.await.expect("an order") }));

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
        let arrived = std::sync::Arc::new(std::sync::Mutex::new(Some(arrived)));
        let endless = move || async move {
            let _ = arrived.lock().expect("no panic").take().expect("one request").send(());
            std::future::pending::<&'static str>().await
        };
        let router = Router::new().route("/", get(endless));
        let limits = Limits { head_timeout: LONG, shutdown_timeout: LIMIT };
        let serving = serve(listener, router, limits, async { arrival.await.expect("a request") });
        let serving = tokio::spawn(serving);
        let mut client = TcpStream::connect(address).await.expect("connects");
        client.write_all(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n").await.expect("sends");
        let ended = timeout(LONG, serving).await.expect("it ends").expect("without a panic");
        assert_eq!(ended, Shutdown::TimedOut);
    }
}
