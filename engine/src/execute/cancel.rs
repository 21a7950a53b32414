//! Cancelling a statement until it has ended.

use std::sync::{Arc, Weak};
use std::time::Duration;

use crate::chdb::engine::Engine;
use crate::execute::running::Progress;

/// When a statement is cancelled that does not end: it may not have reached the engine yet.
const CANCELS: [Duration; 4] =
    [Duration::ZERO, Duration::from_millis(100), Duration::from_secs(1), Duration::from_secs(10)];

/// Cancels `statement`, repeatedly as long as it goes on.
pub async fn cancel(engine: Arc<Engine>, statement: Weak<Progress>) {
    for pause in CANCELS {
        tokio::time::sleep(pause).await;
        let Some(number) = statement.upgrade().and_then(|progress| progress.cancels()) else { return };
        let engine = Arc::clone(&engine);
        // It ends early only if this program does.
        let _ = tokio::task::spawn_blocking(move || engine.cancel(number)).await;
    }
}
