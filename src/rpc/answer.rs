//! What a call is answered with: JSON text, or rows that are written as they arrive.

use futures_util::future::BoxFuture;

use crate::http::body::{BodySender, Broken};
use trawl_json::JsonWriter;

/// What a call is answered with.
pub(super) enum Answer {
    /// JSON text.
    Whole(Vec<u8>),
    /// Rows, written as they arrive.
    Streamed(Box<dyn Streamed>),
}

/// An answer that is written while its rows arrive.
pub(super) trait Streamed: Send {
    /// Writes the result, handing over full chunks on the way.
    ///
    /// # Errors
    ///
    /// When the client has gone, or when the rows that are left cannot be read: what was written is not the answer then.
    fn write<'w>(self: Box<Self>, writer: &'w mut JsonWriter, sink: &'w dyn Sink) -> BoxFuture<'w, Result<(), Broken>>;
}

/// Where an answer is written to piece by piece.
pub(super) trait Sink: Send + Sync {
    /// Takes the text that the writer holds, if that is enough to be handed on.
    fn flush_if_full<'w>(&'w self, writer: &'w mut JsonWriter) -> BoxFuture<'w, Result<(), Broken>>;
}

impl Sink for BodySender {
    fn flush_if_full<'w>(&'w self, writer: &'w mut JsonWriter) -> BoxFuture<'w, Result<(), Broken>> {
        Box::pin(async { Self::flush_if_full(self, writer).await.map_err(Broken::from) })
    }
}

/// Rows that are written before the text is measured: with data of usual length some eighty kilobytes, and never more
/// than three times what their batch holds in memory.
pub(super) const ROWS_PER_FLUSH: usize = 128;

impl Answer {
    /// A result that `write` writes.
    pub fn of(write: impl FnOnce(&mut JsonWriter)) -> Self {
        let mut writer = JsonWriter::new();
        write(&mut writer);
        Self::Whole(writer.into_bytes())
    }

    /// `null`: the thing is not there.
    pub fn null() -> Self {
        Self::of(JsonWriter::null)
    }

    /// Writes the result, handing over full chunks on the way.
    ///
    /// # Errors
    ///
    /// Those of [`Streamed::write`].
    pub async fn write(self, writer: &mut JsonWriter, sink: &dyn Sink) -> Result<(), Broken> {
        match self {
            Self::Whole(json) => writer.raw(json),
            Self::Streamed(rows) => rows.write(writer, sink).await?,
        }
        sink.flush_if_full(writer).await
    }
}
