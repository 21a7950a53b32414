//! What a caller decides: time limits, concurrency, and what happens when a node fails.

use std::time::Duration;

/// Calls in one request, at most; hosted nodes commonly refuse more than 100.
pub const MAX_BATCH: usize = 50;

/// How nodes are called.
#[derive(Debug, Clone, Copy)]
pub struct NodeSettings {
    /// How long one request may take.
    pub timeout: Duration,
    /// Requests to one node at the same time, at most.
    pub concurrency: usize,
    /// What happens when a node fails.
    pub retry: RetryPolicy,
}

/// What happens when a node fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetryPolicy {
    /// For work that has to be done: every node is called again and again, with growing pauses.
    Persistent {
        /// Attempts for each node.
        attempts: u32,
        /// The same while a node answers that its limits are exceeded: it works, and is called less and less.
        limited_attempts: u32,
    },
    /// For a caller that waits: every node is called once, without a pause.
    OncePerNode {
        /// How long other nodes are called before one that failed.
        set_aside: Duration,
    },
}

impl RetryPolicy {
    /// With the pauses between, about a minute for a node that does not answer.
    pub const PERSISTENT: Self = Self::Persistent { attempts: 10, limited_attempts: 40 };
}
