//! Requests whose statement is still arriving. Each holds a thread, so there are bounds, and the reader's are others.

use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};

use crate::account::Role;
use crate::exception::Exception;

/// Statements of owner and API that may be arriving, beside those that run. Further ones wait.
const MAX_UPLOADS: usize = 512;
/// The same for the reader's.
const MAX_PER_READER: usize = 32;
/// How long a request waits until it may send its statement.
const WAIT: Duration = Duration::from_secs(30);
/// Threads that all of them can hold.
pub(super) const THREADS: usize = MAX_UPLOADS + MAX_PER_READER;

/// Leave to send a statement.
#[derive(Debug)]
pub(super) struct UploadPermit {
    all: Semaphore,
    reader: Semaphore,
}

impl Default for UploadPermit {
    fn default() -> Self {
        Self { all: Semaphore::new(MAX_UPLOADS), reader: Semaphore::new(MAX_PER_READER) }
    }
}

impl UploadPermit {
    /// Leave for a statement of this role, until what is returned is dropped.
    ///
    /// # Errors
    ///
    /// Code 202 if so many others are arriving, for so long, that this one has to come again.
    pub(super) async fn begin(&self, role: Role) -> Result<SemaphorePermit<'_>, Exception> {
        let arriving = if role.is_limited() { &self.reader } else { &self.all };
        match tokio::time::timeout(WAIT, arriving.acquire()).await {
            Ok(Ok(permit)) => Ok(permit),
            Ok(Err(_)) | Err(_) => {
                let text = "too many statements are still arriving: try again later";
                Err(Exception::new(202, "TOO_MANY_SIMULTANEOUS_QUERIES", text))
            }
        }
    }
}
