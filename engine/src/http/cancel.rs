//! Statements whose client has gone are cancelled.

use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::runtime::Handle;

use crate::chdb::engine::Engine;
use crate::execute::running::{Progress, Ticket};

/// Cancels the statement if the answer is dropped before it is over, that is if the client has gone.
#[derive(Debug)]
pub struct CancelOnDrop {
    engine: Arc<Engine>,
    statement: Option<Weak<Progress>>,
}

/// When a statement is cancelled that does not end: it may not have reached the engine yet.
const CANCELS: [Duration; 4] =
    [Duration::ZERO, Duration::from_millis(100), Duration::from_secs(1), Duration::from_secs(10)];

impl CancelOnDrop {
    /// Guards the statement of `ticket`.
    #[must_use]
    pub fn new(engine: Arc<Engine>, ticket: &Ticket) -> Self {
        Self { engine, statement: Some(ticket.progress()) }
    }

    /// The statement is over: nothing is left to cancel.
    pub fn over(&mut self) {
        self.statement = None;
    }
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        let (Some(statement), Ok(runtime)) = (self.statement.take(), Handle::try_current()) else { return };
        // At once: afterwards its connection may have another statement.
        if statement.upgrade().and_then(|progress| progress.abandon()).is_none() {
            return;
        }
        let engine = Arc::clone(&self.engine);
        runtime.spawn(async move {
            for pause in CANCELS {
                tokio::time::sleep(pause).await;
                let Some(number) = statement.upgrade().and_then(|progress| progress.abandon()) else { return };
                let engine = Arc::clone(&engine);
                // It ends early only if this program does.
                let _ = tokio::task::spawn_blocking(move || engine.cancel(number)).await;
            }
        });
    }
}
