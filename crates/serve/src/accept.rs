//! Connections: accepted until the order to stop, each with a limit for how long a request's head may take.

use std::convert::Infallible;
use std::pin::pin;
use std::time::Duration;

use axum::body::Body;
use axum::http::{Request, Response};
use axum::serve::Listener;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::sync::watch;
use tower::{Service, ServiceExt};

/// How long the head of a request may take, and how long a connection may be idle before the next one. Longer than the
/// 60 s for which proxies keep idle connections, so that none sends a request into one that is being closed.
pub const HEAD_LIMIT: Duration = Duration::from_secs(75);

/// Serves `service` on `listener` until `stop` resolves, and then until the requests in hand are answered. A connection
/// that becomes a WebSocket is its handler's from then on. A connection
/// on which no whole head arrives within `head_limit` is closed: whoever sends it in drops would hold it for ever.
pub async fn serve<L, S>(mut listener: L, service: S, head_limit: Duration, stop: impl Future<Output = ()>)
where
    L: Listener,
    S: Service<Request<Body>, Response = Response<Body>, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
{
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(head_limit);
    let (stopping, _) = watch::channel(());
    let mut stop = pin!(stop);
    loop {
        let (connection, _) = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut stop => break,
        };
        let service = service.clone().map_request(|request: Request<Incoming>| request.map(Body::new));
        let served = http.serve_connection(TokioIo::new(connection), TowerToHyperService::new(service)).with_upgrades();
        let mut stopped = stopping.subscribe();
        tokio::spawn(async move {
            let mut served = pin!(served);
            let outcome = tokio::select! {
                outcome = served.as_mut() => outcome,
                _ = stopped.changed() => {
                    served.as_mut().graceful_shutdown();
                    served.await
                }
            };
            if let Err(error) = outcome {
                tracing::trace!(%error, "a connection broke");
            }
        });
    }
    drop(listener);
    stopping.send_replace(());
    // Each connection holds a receiver until it ends.
    stopping.closed().await;
}

#[cfg(test)]
mod tests {
    use super::*;

    use axum::Router;
    use axum::routing::get;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::{TcpListener, TcpStream};
    use tokio::sync::oneshot;
    use tokio::time::{Instant, sleep, timeout};

    const LIMIT: Duration = Duration::from_millis(400);
    const LONG: Duration = Duration::from_secs(20);

    async fn read_to_end(mut connection: TcpStream) -> String {
        let mut answer = Vec::new();
        let ended = timeout(LONG, connection.read_to_end(&mut answer)).await.expect("the server ends it");
        // What the client sent after that may have made it a reset.
        ended.map_or_else(|error| error.to_string(), |_| String::from_utf8_lossy(&answer).into_owned())
    }

    #[tokio::test]
    async fn a_head_that_comes_in_drops_is_given_up_and_a_long_answer_is_not() {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let slow = async || {
            sleep(LIMIT * 3).await;
            "late\n"
        };
        let (stop, stopped) = oneshot::channel::<()>();
        let router = Router::new().route("/", get(slow));
        let serving = tokio::spawn(serve(listener, router, LIMIT, async { stopped.await.expect("an order") }));

        let mut one_byte = TcpStream::connect(address).await.expect("connects");
        one_byte.write_all(b"G").await.expect("sends");
        let mut drops = TcpStream::connect(address).await.expect("connects");
        let mut whole = TcpStream::connect(address).await.expect("connects");
        whole.write_all(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n").await.expect("sends");
        let started = Instant::now();
        for byte in b"GET / HTTP/1.1\r\nhost: x\r\nx: aaaaaaaaaaaaaaaaaaaaaaaa" {
            sleep(LIMIT / 10).await;
            if drops.write_all(&[*byte]).await.is_err() {
                break;
            }
        }
        assert!(started.elapsed() > LIMIT, "it was still sending when the limit was over");
        assert!(!read_to_end(one_byte).await.contains("200"));
        assert!(!read_to_end(drops).await.contains("200"));
        stop.send(()).expect("it serves");
        assert!(read_to_end(whole).await.ends_with("late\n"));
        timeout(LONG, serving).await.expect("it ends").expect("without a panic");
    }
}
