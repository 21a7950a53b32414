//! An INSERT whose data is appended in chunks.

use std::ffi::CStr;
use std::marker::PhantomData;

use crate::chdb::library::{InsertHandle, Library};
use crate::chdb::outcome::{Outcome, Stats};
use crate::exception::Exception;

/// An INSERT in progress. Dropping it without [`Insert::finish`] cancels it; blocks already written stay, as on a
/// server.
#[derive(Debug)]
pub struct Insert<'connection> {
    library: &'static Library,
    stream: InsertHandle,
    finished: bool,
    /// The connection runs nothing else meanwhile.
    _connection: PhantomData<&'connection mut ()>,
}

impl Insert<'_> {
    /// Takes over a stream that libchdb opened.
    ///
    /// # Safety
    ///
    /// `stream` is live, nothing else ends it, and its connection is neither closed nor used during `'connection`.
    ///
    /// # Errors
    ///
    /// What the engine reports of an INSERT that it refuses.
    pub(super) unsafe fn new(library: &'static Library, stream: InsertHandle) -> Result<Self, Exception> {
        let insert = Self { library, stream, finished: false, _connection: PhantomData };
        match insert.error() {
            None => Ok(insert),
            Some(error) => Err(error),
        }
    }

    /// Appends a chunk of data; blocks while the engine's buffer is full. False after an error, which
    /// [`Insert::finish`] returns.
    #[must_use]
    pub fn append(&mut self, data: &[u8]) -> bool {
        // SAFETY: a live stream; the chunk is copied.
        unsafe { (self.library.chdb_stream_append)(self.stream, data.as_ptr().cast(), data.len()) == 0 }
    }

    /// Ends the data and waits until it is written.
    ///
    /// # Errors
    ///
    /// The engine's exception if it could not read or write the data.
    pub fn finish(mut self) -> Result<Stats, Exception> {
        self.finished = true;
        // SAFETY: a live stream, finalised once, whose result this owns.
        let outcome = unsafe { Outcome::new(self.library, (self.library.chdb_stream_done)(self.stream)) };
        outcome.map(|outcome| outcome.stats())
    }

    fn error(&self) -> Option<Exception> {
        // SAFETY: a live stream; the text belongs to it.
        unsafe {
            let error = (self.library.chdb_stream_insert_error)(self.stream);
            (!error.is_null()).then(|| Exception::from_engine(&CStr::from_ptr(error).to_string_lossy()))
        }
    }
}

impl Drop for Insert<'_> {
    fn drop(&mut self) {
        // SAFETY: cancelled and freed once, here.
        unsafe {
            if !self.finished {
                (self.library.chdb_stream_cancel_insert)(self.stream);
            }
            (self.library.chdb_destroy_insert_stream)(self.stream);
        }
    }
}
