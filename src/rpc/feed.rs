//! News for subscribers: one bounded queue for all connections, and who wants which kind.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::broadcast;

use trawl_core::schema::LogRow;
use trawl_core::store::Batch;

/// Events that wait for the slowest connection; whoever is further behind misses some and is disconnected. The largest
/// are batches of logs, about a megabyte each, so they are some 64 MB in all.
const EVENTS: usize = 64;
/// How long new events wait while connections are far behind.
const SEND_TIMEOUT: Duration = Duration::from_secs(5);
/// One piece of news.
pub(super) enum Event {
    /// A new block: its header as JSON text.
    Header(Vec<u8>),
    /// Logs of new blocks, ascending.
    Logs(Batch<LogRow>),
    /// Logs of a block that lost its place, ascending; they are told from the last to the first.
    Removed(Batch<LogRow>),
    /// The logs of new blocks are not known.
    LogsUnknown,
    /// What happened cannot be told.
    Broken(&'static str),
}

/// News for all connections.
pub(super) struct Feed {
    events: broadcast::Sender<Arc<Event>>,
    headers: Arc<AtomicUsize>,
    logs: Arc<AtomicUsize>,
}

/// That somebody wants news of a kind; until it is dropped.
#[derive(Debug)]
pub(super) struct Interest(Arc<AtomicUsize>);

impl Drop for Interest {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Feed {
    pub fn new() -> Self {
        Self { events: broadcast::Sender::new(EVENTS), headers: Arc::default(), logs: Arc::default() }
    }

    /// The news from now on.
    pub fn listen(&self) -> broadcast::Receiver<Arc<Event>> {
        self.events.subscribe()
    }

    pub fn want_headers(&self) -> Interest {
        Self::interest(&self.headers)
    }

    pub fn want_logs(&self) -> Interest {
        Self::interest(&self.logs)
    }

    fn interest(count: &Arc<AtomicUsize>) -> Interest {
        count.fetch_add(1, Ordering::Relaxed);
        Interest(Arc::clone(count))
    }

    pub fn is_wanted(&self) -> bool {
        self.headers.load(Ordering::Relaxed) + self.logs.load(Ordering::Relaxed) > 0
    }

    pub fn logs_are_wanted(&self) -> bool {
        self.logs.load(Ordering::Relaxed) > 0
    }

    /// Tells all, and gives those who are behind a moment.
    pub async fn tell(&self, event: Event) {
        let room = async {
            while self.events.len() >= EVENTS / 2 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        // Whoever is behind then is told that it was too slow.
        let _ = tokio::time::timeout(SEND_TIMEOUT, room).await;
        // Nobody may be listening any more.
        let _ = self.events.send(Arc::new(event));
    }
}
