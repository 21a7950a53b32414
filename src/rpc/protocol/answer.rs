//! The result of a call: JSON text, or rows that are written as they arrive.

use futures_util::future::BoxFuture;

use crate::http::body::{BodySender, StreamError};
use trawl_json::JsonWriter;

/// The result of a call.
pub(crate) enum Answer {
    /// JSON text of the whole result.
    Whole(Vec<u8>),
    /// Rows, written as they arrive.
    Streamed(Box<dyn AnswerStream>),
}

/// An answer that is written while its rows arrive.
pub(crate) trait AnswerStream: Send {
    /// Bytes that are in memory already.
    fn len(&self) -> usize {
        0
    }

    /// Writes the result, handing over full chunks on the way.
    ///
    /// # Errors
    ///
    /// When the client has gone, or when the remaining rows cannot be read: the text so far is incomplete then.
    fn write<'w>(
        self: Box<Self>,
        writer: &'w mut JsonWriter,
        sink: &'w dyn Sink,
    ) -> BoxFuture<'w, Result<(), StreamError>>;
}

/// Where an answer is written to piece by piece.
pub(crate) trait Sink: Send + Sync {
    /// Takes the text of the writer if it is a full chunk.
    ///
    /// # Errors
    ///
    /// When the client has gone, or when the answer is too long.
    fn flush_if_full<'w>(&'w self, writer: &'w mut JsonWriter) -> BoxFuture<'w, Result<(), StreamError>>;
}

impl Sink for BodySender {
    fn flush_if_full<'w>(&'w self, writer: &'w mut JsonWriter) -> BoxFuture<'w, Result<(), StreamError>> {
        Box::pin(async { Self::flush_if_full(self, writer).await.map_err(StreamError::from) })
    }
}

/// Rows that are written between two checks for a full chunk: with data of usual length some eighty kilobytes, and
/// never more than three times the memory of their batch.
pub(crate) const ROWS_PER_FLUSH: usize = 128;

impl Answer {
    /// The result that `write` writes.
    pub fn of(write: impl FnOnce(&mut JsonWriter)) -> Self {
        let mut writer = JsonWriter::new();
        write(&mut writer);
        Self::Whole(writer.into_bytes())
    }

    /// Whether it is `null`.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Whole(text) if text == b"null")
    }

    /// `null`, for an object that does not exist.
    pub fn null() -> Self {
        Self::of(JsonWriter::null)
    }

    /// Bytes that are in memory already.
    pub fn len(&self) -> usize {
        match self {
            Self::Whole(json) => json.len(),
            Self::Streamed(rows) => rows.len(),
        }
    }

    /// Writes the result, handing over full chunks on the way.
    ///
    /// # Errors
    ///
    /// Those of [`AnswerStream::write`].
    pub async fn write(self, writer: &mut JsonWriter, sink: &dyn Sink) -> Result<(), StreamError> {
        match self {
            Self::Whole(json) => writer.raw(json),
            Self::Streamed(rows) => rows.write(writer, sink).await?,
        }
        sink.flush_if_full(writer).await
    }
}
