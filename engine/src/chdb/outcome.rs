//! The result of a statement, and what it read and wrote.

use std::ffi::CStr;

use crate::chdb::library::{Library, ResultHandle};
use crate::exception::Exception;

/// What a statement did, for `X-ClickHouse-Summary`.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Stats {
    /// Rows read from storage.
    pub read_rows: u64,
    /// Bytes read from storage, uncompressed.
    pub read_bytes: u64,
    /// Rows written, including those of materialized views.
    pub written_rows: u64,
    /// Bytes written, uncompressed.
    pub written_bytes: u64,
    /// Rows of the result.
    pub result_rows: u64,
    /// Bytes of the result in memory.
    pub result_bytes: u64,
}

/// The result of a statement that succeeded.
#[derive(Debug)]
pub struct Outcome {
    library: &'static Library,
    result: ResultHandle,
}

// SAFETY: the result is plain memory owned by this handle.
unsafe impl Send for Outcome {}

impl Outcome {
    /// Takes over a result that libchdb returned, null included.
    ///
    /// # Safety
    ///
    /// `result` is null, or a live result that nothing else frees.
    ///
    /// # Errors
    ///
    /// What the engine reports of a statement that failed.
    pub(super) unsafe fn new(library: &'static Library, result: ResultHandle) -> Result<Self, Exception> {
        Self { library, result }.checked()
    }

    fn checked(self) -> Result<Self, Exception> {
        if self.result.is_null() {
            return Err(Exception::new(1002, "UNKNOWN_EXCEPTION", "the engine returned no result"));
        }
        // SAFETY: a live result.
        let error = unsafe { (self.library.chdb_result_error)(self.result) };
        if error.is_null() {
            return Ok(self);
        }
        // SAFETY: a NUL-terminated string owned by the result.
        Err(Exception::from_engine(&unsafe { CStr::from_ptr(error) }.to_string_lossy()))
    }

    /// The formatted result.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: a live result; the buffer has `length` bytes.
        unsafe {
            let length = (self.library.chdb_result_length)(self.result);
            let buffer = (self.library.chdb_result_buffer)(self.result);
            if length == 0 || buffer.is_null() { &[] } else { std::slice::from_raw_parts(buffer.cast(), length) }
        }
    }

    /// What the statement read and wrote.
    #[must_use]
    pub fn stats(&self) -> Stats {
        let library = self.library;
        // SAFETY: a live result.
        unsafe {
            Stats {
                read_rows: (library.chdb_result_storage_rows_read)(self.result),
                read_bytes: (library.chdb_result_storage_bytes_read)(self.result),
                written_rows: (library.chdb_result_rows_written)(self.result),
                written_bytes: (library.chdb_result_bytes_written)(self.result),
                result_rows: (library.chdb_result_rows_read)(self.result),
                result_bytes: (library.chdb_result_bytes_read)(self.result),
            }
        }
    }
}

impl Drop for Outcome {
    fn drop(&mut self) {
        if !self.result.is_null() {
            // SAFETY: freed once, here.
            unsafe { (self.library.chdb_destroy_query_result)(self.result) };
        }
    }
}
