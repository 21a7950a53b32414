//! How many clients there may be, and how long they may take.

use std::time::Duration;

/// Limits of a server. Durations are counted from the event that each names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Most connections. Fewer are taken where the system allows fewer open files.
    pub connections: u32,
    /// Most connections of one client.
    pub connections_per_client: u32,
    /// How long the head of the first request may take, from the connection on.
    pub first_head_timeout: Duration,
    /// How long the head of a later request may take, and how long a connection may idle before it.
    pub head_timeout: Duration,
    /// How long a client may take nothing of an answer.
    pub write_timeout: Duration,
    /// How long requests may go on after the order to stop.
    pub shutdown_timeout: Duration,
}

impl Default for Limits {
    /// 75 s for a later head: longer than the 60 s for which proxies keep idle connections, so that none sends a
    /// request into a connection that is being closed. 25 s for the shutdown: service managers and container runtimes
    /// that kill after 30 s leave 5 s for what follows.
    fn default() -> Self {
        Self {
            connections: 4_096,
            connections_per_client: 512,
            first_head_timeout: Duration::from_secs(15),
            head_timeout: Duration::from_secs(75),
            write_timeout: Duration::from_secs(30),
            shutdown_timeout: Duration::from_secs(25),
        }
    }
}
