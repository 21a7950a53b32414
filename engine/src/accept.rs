//! Connections: accepted until the order to stop, each with a limit for how long a request's head may take.

use std::pin::pin;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use axum::serve::Listener;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tower::ServiceExt;

/// How long the head of a request may take, and how long a connection may be idle before the next one. Longer than
/// clients and proxies commonly keep idle connections, so that none sends a request into one that is being closed.
pub const HEAD_LIMIT: Duration = Duration::from_secs(75);

/// Serves `router` on `listener` until `stop` resolves, and then until the requests in hand are answered. A connection
/// on which no whole head arrives within `head_limit` is closed: whoever sends it in drops would hold it for ever.
pub async fn serve(mut listener: impl Listener, router: Router, head_limit: Duration, stop: impl Future<Output = ()>) {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(head_limit);
    let connections = GracefulShutdown::new();
    let mut stop = pin!(stop);
    loop {
        let (connection, _) = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut stop => break,
        };
        let service = router.clone().map_request(|request: Request<Incoming>| request.map(Body::new));
        let served = http.serve_connection(TokioIo::new(connection), TowerToHyperService::new(service));
        let served = connections.watch(served);
        tokio::spawn(async move {
            if let Err(error) = served.await {
                tracing::trace!(%error, "a connection broke");
            }
        });
    }
    drop(listener);
    connections.shutdown().await;
}

#[cfg(test)]
mod tests {
    use super::*;

    use std::io::{Read, Write};
    use std::net::TcpStream;
    use std::time::Instant;

    /// One byte of a head, and nothing more.
    #[tokio::test(flavor = "multi_thread")]
    async fn a_head_that_does_not_come_is_given_up() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let serving = tokio::spawn(serve(listener, Router::new(), Duration::from_millis(400), std::future::pending()));
        let client = tokio::task::spawn_blocking(move || {
            let started = Instant::now();
            let mut connection = TcpStream::connect(address).expect("connects");
            connection.set_read_timeout(Some(Duration::from_secs(20))).expect("a limit");
            connection.write_all(b"G").expect("sends");
            (connection.read(&mut [0; 100]).expect("the server ends it"), started.elapsed())
        });
        let (count, elapsed) = client.await.expect("no panic");
        assert!(count == 0 && elapsed >= Duration::from_millis(400), "{count} bytes after {elapsed:?}");
        serving.abort();
    }
}
