//! Messages of an Arrow stream, put together from the pieces that a connection delivers.
//!
//! Each lies in one run of bytes of which its columns are parts, so that nothing is moved twice, and which can be handed
//! on as it came: <https://arrow.apache.org/docs/format/Columnar.html#encapsulated-message-format>.

use arrow::array::RecordBatch;
use arrow::buffer::Buffer;
use arrow::ipc::reader::StreamDecoder;
use arrow::ipc::root_as_message;
use bytes::Bytes;
use clickhouse::query::BytesCursor;

use super::StoreError;

/// What a message begins with, and what its length stands behind.
const CONTINUATION: [u8; 4] = [0xff; 4];
/// Bytes of that and of the length of the header.
const PREFIX: usize = 8;
/// Memory that is asked for before the bytes are there; a length that is no length must not cost more.
const MOST_AHEAD: usize = 64 << 20;

/// Why bytes are no stream of messages.
#[derive(Debug, thiserror::Error)]
enum Malformed {
    #[error("a message does not begin as messages do")]
    Prefix,
    #[error("the header of a message cannot be read")]
    Header,
    #[error("it ends within a message")]
    Short,
    #[error("something stands behind its end")]
    Long,
}

/// Reads messages one after another. Holds one, and the piece that is at hand.
pub(super) struct Messages {
    cursor: BytesCursor,
    piece: Bytes,
    decoder: StreamDecoder,
}

impl Messages {
    pub fn new(cursor: BytesCursor) -> Self {
        Self { cursor, piece: Bytes::new(), decoder: StreamDecoder::new() }
    }

    /// The next batch, and the message it came in; `None` at the end.
    pub async fn next(&mut self) -> Result<Option<(RecordBatch, Bytes)>, StoreError> {
        while let Some(message) = self.message().await? {
            let mut buffer = Buffer::from(message.clone());
            if let Some(batch) = self.decoder.decode(&mut buffer).map_err(undecodable)? {
                return Ok(Some((batch, message)));
            }
        }
        Ok(None)
    }

    async fn message(&mut self) -> Result<Option<Bytes>, StoreError> {
        let mut message = Vec::new();
        if !self.fill(&mut message, PREFIX).await? {
            return Ok(None);
        }
        let (Some(&CONTINUATION), Some(&size)) = (message.first_chunk(), message.last_chunk()) else {
            return Err(undecodable(Malformed::Prefix));
        };
        let header = PREFIX + u32::from_le_bytes(size) as usize;
        if header == PREFIX {
            return self.end().await;
        }
        self.fill(&mut message, header).await?;
        let read = root_as_message(&message[PREFIX..]).map_err(|_| undecodable(Malformed::Header))?;
        let body = usize::try_from(read.bodyLength()).map_err(|_| undecodable(Malformed::Header))?;
        self.fill(&mut message, header + body).await?;
        Ok(Some(message.into()))
    }

    /// Adds bytes until there are `length`; `false` if there are none at all any more.
    async fn fill(&mut self, message: &mut Vec<u8>, length: usize) -> Result<bool, StoreError> {
        message.reserve_exact((length - message.len()).min(MOST_AHEAD));
        while message.len() < length {
            let part = self.piece.split_to((length - message.len()).min(self.piece.len()));
            message.extend_from_slice(&part);
            if self.piece.is_empty() && message.len() < length {
                match self.cursor.next().await? {
                    Some(piece) => self.piece = piece,
                    None if message.is_empty() => return Ok(false),
                    None => return Err(undecodable(Malformed::Short)),
                }
            }
        }
        Ok(true)
    }

    /// Reads the answer to its end, where an error of the engine would stand, and the connection can be used again.
    async fn end(&mut self) -> Result<Option<Bytes>, StoreError> {
        while self.piece.is_empty() {
            match self.cursor.next().await? {
                Some(piece) => self.piece = piece,
                None => return Ok(None),
            }
        }
        Err(undecodable(Malformed::Long))
    }
}

fn undecodable(cause: impl std::error::Error + Send + Sync + 'static) -> StoreError {
    StoreError::Undecodable(clickhouse::error::Error::Other(cause.into()))
}
