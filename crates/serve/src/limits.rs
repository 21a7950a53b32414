//! How long clients may take.

use std::time::Duration;

/// Limits of a server. Durations are counted from the event that each names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// How long the head of a request may take, and how long a connection may idle before the next one.
    pub head_timeout: Duration,
    /// How long requests may go on after the order to stop.
    pub shutdown_timeout: Duration,
}

impl Default for Limits {
    /// 75 s for a head: longer than the 60 s for which proxies keep idle connections, so that none sends a request into
    /// a connection that is being closed. 25 s for the shutdown: service managers and container runtimes that kill after
    /// 30 s leave 5 s for what follows.
    fn default() -> Self {
        Self { head_timeout: Duration::from_secs(75), shutdown_timeout: Duration::from_secs(25) }
    }
}
