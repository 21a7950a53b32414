//! What all WebSocket connections share: their limits, the news, the order to end.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Semaphore, watch};

use super::feed::Feed;
use crate::options::SocketSettings;

/// Calls of all connections that are answered at the same time. With the longest answer, 32 MiB, this bounds memory.
const CALLS: usize = 32;
/// How long the end of the connections may take when the server stops.
const END_LIMIT: Duration = Duration::from_secs(2);

/// What all connections share.
pub(crate) struct Sockets {
    pub(super) settings: SocketSettings,
    pub(super) feed: Feed,
    pub(super) slots: Arc<Semaphore>,
    pub(super) calls: Semaphore,
    pub(super) ending: watch::Sender<bool>,
}

impl Sockets {
    pub fn new(settings: SocketSettings) -> Self {
        Self {
            settings,
            feed: Feed::new(),
            slots: Arc::new(Semaphore::new(settings.connections as usize)),
            calls: Semaphore::new(CALLS),
            ending: watch::Sender::new(false),
        }
    }

    /// Ends all connections and waits for that a moment.
    pub async fn end(&self) {
        self.ending.send_replace(true);
        // Those that are not through by then end with the process.
        let _ = tokio::time::timeout(END_LIMIT, self.slots.acquire_many(self.settings.connections)).await;
    }
}
