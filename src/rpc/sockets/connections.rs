//! The state that all WebSocket connections share: limits, events, and the signal to end.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Semaphore, watch};

use super::feed::Feed;
use crate::options::SocketSettings;

/// Most messages of all connections that are answered at the same time. Memory for their answers is another bound.
const MAX_CALLS: usize = 32;
/// The longest that the server waits for its connections to end when it stops.
const END_TIMEOUT: Duration = Duration::from_secs(2);

/// The state that all connections share.
pub(crate) struct Sockets {
    pub(crate) settings: SocketSettings,
    pub(crate) feed: Feed,
    /// Those that are open hold one each, so that the end can wait for them.
    pub(crate) slots: Arc<Semaphore>,
    pub(crate) calls: Semaphore,
    pub(crate) ending: watch::Sender<bool>,
}

impl Sockets {
    /// The state without any connection.
    pub fn new(settings: SocketSettings) -> Self {
        Self {
            settings,
            feed: Feed::new(),
            slots: Arc::new(Semaphore::new(settings.connections as usize)),
            calls: Semaphore::new(MAX_CALLS),
            ending: watch::Sender::new(false),
        }
    }

    /// Ends all connections, and waits for them up to [`END_TIMEOUT`].
    pub async fn end(&self) {
        self.ending.send_replace(true);
        // The remaining connections end with the process.
        let _ = tokio::time::timeout(END_TIMEOUT, self.slots.acquire_many(self.settings.connections)).await;
    }
}
