//! Statements whose client has gone are cancelled.

use std::sync::{Arc, Weak};

use tokio::runtime::Handle;

use crate::chdb::engine::Engine;
use crate::execute::cancel::cancel;
use crate::execute::running::{Progress, Ticket};

/// Cancels the statement if the answer is dropped before it is over, that is if the client has gone.
#[derive(Debug)]
pub struct CancelOnDrop {
    engine: Arc<Engine>,
    statement: Option<Weak<Progress>>,
}

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
        if statement.upgrade().and_then(|progress| progress.cancels()).is_some() {
            runtime.spawn(cancel(Arc::clone(&self.engine), statement));
        }
    }
}
