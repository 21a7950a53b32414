//! Events for subscribers: one bounded queue for all connections, and counts of the subscribers of each kind.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::broadcast;

use trawl_core::schema::LogRow;
use trawl_core::store::Batch;

/// Most events that wait for the slowest connection; a connection that lags further misses some and is disconnected.
/// The largest are batches of logs, about a megabyte each, so the queue takes some 64 MB at most.
const MAX_EVENTS: usize = 64;
/// The longest that a new event waits for connections that lag far.
const SEND_TIMEOUT: Duration = Duration::from_secs(5);

/// An event of the chain.
pub(crate) enum Event {
    /// A new block: its header as JSON text.
    Header(Vec<u8>),
    /// Logs of new blocks, ascending.
    Logs(Batch<LogRow>),
    /// Logs of a reorganised block, ascending; subscribers receive them from the last to the first.
    Removed(Batch<LogRow>),
    /// The tables begin to lag the node, or no longer do: the notification as JSON text.
    Syncing(Vec<u8>),
    /// The logs of new blocks are not indexed.
    LogsUnknown,
    /// Events are missing, for this reason.
    Broken(&'static str),
}

/// The events for all connections.
pub(crate) struct Feed {
    events: broadcast::Sender<Arc<Event>>,
    headers: Arc<AtomicUsize>,
    logs: Arc<AtomicUsize>,
    syncing: Arc<AtomicUsize>,
}

/// Interest of one subscriber in events of a kind; it ends when this is dropped.
#[derive(Debug)]
pub(crate) struct SubscriberGuard(Arc<AtomicUsize>);

impl Drop for SubscriberGuard {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Feed {
    /// An empty queue without subscribers.
    pub fn new() -> Self {
        Self {
            events: broadcast::Sender::new(MAX_EVENTS),
            headers: Arc::default(),
            logs: Arc::default(),
            syncing: Arc::default(),
        }
    }

    /// All events from now on.
    pub fn listen(&self) -> broadcast::Receiver<Arc<Event>> {
        self.events.subscribe()
    }

    /// Registers a subscriber of headers.
    pub fn subscribe_to_headers(&self) -> SubscriberGuard {
        Self::interest(&self.headers)
    }

    /// Registers a subscriber of logs.
    pub fn subscribe_to_logs(&self) -> SubscriberGuard {
        Self::interest(&self.logs)
    }

    /// Registers a subscriber of the lag.
    pub fn subscribe_to_syncing(&self) -> SubscriberGuard {
        Self::interest(&self.syncing)
    }

    fn interest(count: &Arc<AtomicUsize>) -> SubscriberGuard {
        count.fetch_add(1, Ordering::Relaxed);
        SubscriberGuard(Arc::clone(count))
    }

    /// Whether there is a subscriber of the lag.
    pub fn has_syncing_subscribers(&self) -> bool {
        self.syncing.load(Ordering::Relaxed) > 0
    }

    /// Whether there is a subscriber of what is in blocks.
    pub fn has_block_subscribers(&self) -> bool {
        self.headers.load(Ordering::Relaxed) + self.logs.load(Ordering::Relaxed) > 0
    }

    /// Whether there is a subscriber of logs.
    pub fn has_log_subscribers(&self) -> bool {
        self.logs.load(Ordering::Relaxed) > 0
    }

    /// Sends an event to all connections. If some lag, it first waits for them, up to [`SEND_TIMEOUT`].
    pub async fn send(&self, event: Event) {
        let room = async {
            while self.events.len() >= MAX_EVENTS / 2 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        // A connection that still lags then misses events, and is closed as too slow.
        let _ = tokio::time::timeout(SEND_TIMEOUT, room).await;
        // There may be no connection any more.
        let _ = self.events.send(Arc::new(event));
    }
}
