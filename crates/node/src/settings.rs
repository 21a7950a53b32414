//! Settings of the caller: timeouts, concurrency and retries.

use std::time::Duration;

/// Most calls in one request; hosted nodes commonly refuse more than 100.
pub const MAX_BATCH: usize = 50;

/// Settings for calls to nodes.
#[derive(Debug, Clone, Copy)]
pub struct NodeSettings {
    /// Timeout of one request.
    pub timeout: Duration,
    /// Most concurrent requests to one node.
    pub concurrency: usize,
    /// What happens when a node fails.
    pub retry: RetryPolicy,
}

/// What happens when a node fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetryPolicy {
    /// For work that must complete: every node is called repeatedly, with growing pauses.
    Persistent {
        /// Attempts for each node.
        attempts: u32,
        /// Attempts while a node reports exceeded limits: such a node works, and is called ever less often.
        limited_attempts: u32,
    },
    /// For a caller that waits: every node is called once, without a pause.
    OncePerNode {
        /// How long a failed node is set aside while others are called.
        set_aside: Duration,
    },
}

impl RetryPolicy {
    /// Including pauses, about a minute for a node that does not answer.
    pub const PERSISTENT: Self = Self::persistent(Self::ATTEMPTS);
    /// Attempts for each node, unless somebody chooses others.
    pub const ATTEMPTS: u32 = 16;

    /// So many attempts for each node, and four times as many while it reports exceeded limits.
    #[must_use]
    pub const fn persistent(attempts: u32) -> Self {
        Self::Persistent { attempts, limited_attempts: attempts.saturating_mul(4) }
    }
}
