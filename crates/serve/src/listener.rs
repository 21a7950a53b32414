//! A bound address, from which a service is served.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::body::Body;
use axum::http::{Request, Response};
use tokio::net::TcpListener;
use tower::Service;

use crate::accept::{Acceptor, Shutdown};
use crate::client::Scheme;
use crate::limits::Limits;
use crate::tls::Tls;

/// The address cannot be listened on: it is taken, not this machine's, or needs privileges.
#[derive(Debug, thiserror::Error)]
#[error("cannot listen on {address}")]
pub struct BindError {
    address: SocketAddr,
    source: io::Error,
}

/// A bound TCP address. Clients can connect from now on; they are answered once [`Listener::serve`] runs.
#[derive(Debug)]
pub struct Listener {
    socket: TcpListener,
    address: SocketAddr,
    limits: Limits,
    tls: Option<Arc<Tls>>,
}

impl Listener {
    /// Binds `address` with the default [`Limits`]; port 0 picks a free one.
    ///
    /// # Errors
    ///
    /// If the system refuses the address.
    pub async fn bind(address: SocketAddr) -> Result<Self, BindError> {
        let failed = |source| BindError { address, source };
        let socket = TcpListener::bind(address).await.map_err(failed)?;
        let address = socket.local_addr().map_err(failed)?;
        Ok(Self { socket, address, limits: Limits::default(), tls: None })
    }

    /// Other limits than the default ones.
    #[must_use]
    pub fn with_limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// With TLS, if there is some.
    #[must_use]
    pub fn with_tls(self, tls: Option<Tls>) -> Self {
        Self { tls: tls.map(Arc::new), ..self }
    }

    /// The limits that connections get.
    #[must_use]
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// The bound address, with the port that was picked.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The bound address as a URL, with the port that was picked.
    #[must_use]
    pub fn url(&self) -> String {
        let scheme = if self.tls.is_some() { Scheme::Https } else { Scheme::Http };
        format!("{}://{}", scheme.name(), self.address)
    }

    /// Serves `service` until `stop` resolves, then closes the listening socket and waits until the requests in
    /// progress are answered, at most [`Limits::shutdown_timeout`]. Connections that are still open then go on as tasks
    /// of the runtime, so a program ends them by its own end. A connection that becomes a WebSocket is its handler's
    /// from then on, and not waited for.
    ///
    /// Each connection has TCP keepalive (a vanished client is noticed after two minutes) and is closed if the head of
    /// a request takes longer than [`Limits::first_head_timeout`] or [`Limits::head_timeout`] (a client that sends it
    /// byte by byte would hold it for ever), or if its client takes nothing of an answer for [`Limits::write_timeout`].
    /// Connections beyond the limits get a short 503, or nothing where there is TLS. The limit of open files is raised
    /// first.
    pub async fn serve<S>(self, service: S, stop: impl Future<Output = ()>) -> Shutdown
    where
        S: Service<Request<Body>, Response = Response<Body>, Error = Infallible> + Clone + Send + 'static,
        S::Future: Send,
    {
        Acceptor { socket: self.socket, limits: self.limits, tls: self.tls }.serve(service, stop).await
    }
}
