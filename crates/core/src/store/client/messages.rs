//! Messages of an Arrow stream, assembled from the pieces that a connection delivers.
//!
//! Each message is one run of bytes and its columns are slices of it (zero-copy), so that the message can be forwarded
//! unchanged: <https://arrow.apache.org/docs/format/Columnar.html#encapsulated-message-format>.

use arrow::array::RecordBatch;
use arrow::buffer::Buffer;
use arrow::ipc::reader::StreamDecoder;
use arrow::ipc::root_as_message;
use bytes::Bytes;
use clickhouse::query::BytesCursor;

use super::answer_bytes::{AnswerBytes, Pieces};
use crate::store::StoreError;

/// The first bytes of a message, followed by its length.
const CONTINUATION: [u8; 4] = [0xff; 4];
/// Bytes of [`CONTINUATION`] and of the length of the header.
const PREFIX: usize = 8;
/// Most bytes that are reserved before they arrive, so that a corrupt length allocates no more.
const MAX_RESERVED_BYTES: usize = 64 << 20;

/// Why bytes are not a stream of messages.
#[derive(Debug, thiserror::Error)]
enum StreamFormatError {
    #[error("a message lacks its prefix")]
    Prefix,
    #[error("the header of a message cannot be read")]
    Header,
    #[error("the stream was cut off before its end marker: repeat the query")]
    Short,
    #[error("bytes follow the end of the stream")]
    Long,
}

/// Reads messages one after another. Holds one message and one piece.
pub(crate) struct Messages<P = BytesCursor> {
    pieces: AnswerBytes<P>,
    piece: Bytes,
    decoder: StreamDecoder,
    ended: bool,
}

impl<P: Pieces> Messages<P> {
    pub fn new(pieces: P) -> Self {
        let pieces = AnswerBytes::new(pieces);
        Self { pieces, piece: Bytes::new(), decoder: StreamDecoder::new(), ended: false }
    }

    /// The next batch and its message; `None` at the end, and on every later call.
    pub async fn next(&mut self) -> Result<Option<(RecordBatch, Bytes)>, StoreError> {
        match self.read().await {
            Err(error @ StoreError::Undecodable(_)) => Err(self.pieces.explain(error).await),
            read => read,
        }
    }

    async fn read(&mut self) -> Result<Option<(RecordBatch, Bytes)>, StoreError> {
        while let Some(message) = self.message().await? {
            let mut buffer = Buffer::from(message.clone());
            while !buffer.is_empty() {
                match self.decoder.decode(&mut buffer).map_err(undecodable)? {
                    // A batch without rows has no body, and the decoder returns it only with the next message.
                    Some(_) if !buffer.is_empty() => {}
                    Some(batch) => return Ok(Some((batch, message))),
                    None => break,
                }
            }
        }
        Ok(None)
    }

    async fn message(&mut self) -> Result<Option<Bytes>, StoreError> {
        if self.ended {
            return Ok(None);
        }
        let mut message = Vec::new();
        self.fill(&mut message, PREFIX).await?;
        let (Some(&CONTINUATION), Some(&size)) = (message.first_chunk(), message.last_chunk()) else {
            return Err(undecodable(StreamFormatError::Prefix));
        };
        let header = PREFIX + u32::from_le_bytes(size) as usize;
        if header == PREFIX {
            return self.end().await;
        }
        self.fill(&mut message, header).await?;
        let read = root_as_message(&message[PREFIX..]).map_err(|_| undecodable(StreamFormatError::Header))?;
        let body = usize::try_from(read.bodyLength()).map_err(|_| undecodable(StreamFormatError::Header))?;
        self.fill(&mut message, header + body).await?;
        Ok(Some(message.into()))
    }

    /// Adds bytes until there are `length`. A response that ends before its end marker was cut off, even if it ends
    /// between two messages.
    async fn fill(&mut self, message: &mut Vec<u8>, length: usize) -> Result<(), StoreError> {
        message.reserve_exact((length - message.len()).min(MAX_RESERVED_BYTES));
        while message.len() < length {
            let part = self.piece.split_to((length - message.len()).min(self.piece.len()));
            message.extend_from_slice(&part);
            if self.piece.is_empty() && message.len() < length {
                match self.pieces.next().await? {
                    Some(piece) => self.piece = piece,
                    None => return Err(undecodable(StreamFormatError::Short)),
                }
            }
        }
        Ok(())
    }

    /// Reads the response to its end: an error of the engine would appear there, and the connection can be reused.
    async fn end(&mut self) -> Result<Option<Bytes>, StoreError> {
        while self.piece.is_empty() {
            match self.pieces.next().await? {
                Some(piece) => self.piece = piece,
                None => {
                    self.ended = true;
                    return Ok(None);
                }
            }
        }
        Err(undecodable(StreamFormatError::Long))
    }
}

fn undecodable(cause: impl std::error::Error + Send + Sync + 'static) -> StoreError {
    StoreError::Undecodable(clickhouse::error::Error::Other(cause.into()))
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::sync::Arc;

    use arrow::array::{BinaryArray, UInt64Array};
    use arrow::datatypes::{DataType, Field, Schema};
    use arrow::ipc::writer::StreamWriter;

    use super::*;

    impl Pieces for VecDeque<Bytes> {
        async fn next(&mut self) -> Result<Option<Bytes>, StoreError> {
            Ok(self.pop_front())
        }
    }

    /// Batches of so many rows, and a stream of them.
    fn written(lengths: &[u64]) -> (Vec<RecordBatch>, Vec<u8>) {
        let fields = [Field::new("number", DataType::UInt64, false), Field::new("data", DataType::Binary, true)];
        let schema = Arc::new(Schema::new(fields.to_vec()));
        let mut writer = StreamWriter::try_new(Vec::new(), &schema).expect("a schema");
        let batch = |length: &u64| {
            let data: BinaryArray = (0..*length).map(|row| (row % 3 > 0).then(|| row.to_string())).collect();
            let columns: [arrow::array::ArrayRef; 2] =
                [Arc::new(UInt64Array::from_iter_values(0..*length)), Arc::new(data)];
            RecordBatch::try_new(Arc::clone(&schema), columns.to_vec()).expect("two columns of a length")
        };
        let batches: Vec<RecordBatch> = lengths.iter().map(batch).collect();
        batches.iter().for_each(|batch| writer.write(batch).expect("written"));
        (batches, writer.into_inner().expect("ended"))
    }

    async fn read(stream: &[u8], piece: usize) -> Result<Vec<(RecordBatch, Bytes)>, StoreError> {
        let pieces: VecDeque<Bytes> = stream.chunks(piece).map(Bytes::copy_from_slice).collect();
        let mut messages = Messages::new(pieces);
        let mut read = Vec::new();
        while let Some(one) = messages.next().await? {
            read.push(one);
        }
        assert!(messages.next().await?.is_none(), "the end is repeated");
        Ok(read)
    }

    #[tokio::test]
    async fn pieces_of_any_length_make_the_same_batches() {
        let (expected, stream) = written(&[5, 1, 300, 8]);
        for piece in [1, 2, 7, 8, 9, 64, 1000, stream.len()] {
            let read = read(&stream, piece).await.expect("whole");
            assert!(read.iter().map(|(batch, _)| batch).eq(&expected), "pieces of {piece}");
            let bytes: usize = read.iter().map(|(_, message)| message.len()).sum();
            let (_, nothing) = written(&[]);
            assert_eq!(bytes, stream.len() - nothing.len(), "a message is all that is between schema and end");
        }
    }

    #[tokio::test]
    async fn a_stream_that_was_cut_off_is_never_whole() {
        let (_, stream) = written(&[2, 3]);
        for length in 0..stream.len() {
            assert!(read(&stream[..length], 11).await.is_err(), "{length} of {} bytes", stream.len());
        }
        let trailing = [&stream[..], b"Code: 241."].concat();
        assert!(read(&trailing, 11).await.is_err(), "bytes after the end");
    }

    #[tokio::test]
    async fn an_empty_batch_hides_no_other() {
        let (expected, stream) = written(&[0, 4, 0, 0, 2]);
        let read = read(&stream, 50).await.expect("whole");
        let rows = |batches: &[RecordBatch]| {
            batches.iter().map(RecordBatch::num_rows).filter(|rows| *rows > 0).collect::<Vec<_>>()
        };
        let read: Vec<RecordBatch> = read.into_iter().map(|(batch, _)| batch).collect();
        assert_eq!(rows(&read), rows(&expected));
    }
}
