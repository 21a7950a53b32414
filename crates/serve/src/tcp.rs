//! Options of a client's TCP connection.

use std::time::Duration;

use socket2::{SockRef, TcpKeepalive};
use tokio::net::TcpStream;

/// Silence after which the kernel probes whether the client's machine is still there.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(60);
/// Between two probes.
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(15);
/// Probes without an answer after which the connection ends, two minutes after the last byte in all.
const KEEPALIVE_PROBES: u32 = 4;

/// Sets a client's connection up. One that refuses an option is served without it.
pub(crate) fn prepare(connection: &TcpStream) {
    // A small answer must not wait for the acknowledgement of the segment before it.
    if let Err(error) = connection.set_nodelay(true) {
        tracing::debug!(%error, "a connection keeps Nagle's algorithm");
    }
    // A client whose machine has vanished would hold its connection, and the query that runs for it, for ever.
    let keepalive = TcpKeepalive::new().with_time(KEEPALIVE_IDLE).with_interval(KEEPALIVE_INTERVAL);
    let keepalive = keepalive.with_retries(KEEPALIVE_PROBES);
    if let Err(error) = SockRef::from(connection).set_tcp_keepalive(&keepalive) {
        tracing::debug!(%error, "a connection has no keepalive");
    }
}
