//! The rows of all tables of a block in one value, as `hot_rows` and `blocks` of `ingest_heads` have them.
//!
//! Each table is written as the length of its name (one byte), the name, the length of what follows (four bytes,
//! little-endian), and an [Arrow IPC stream](https://arrow.apache.org/docs/format/Columnar.html#ipc-streaming-format).

use arrow::array::RecordBatch;
use arrow::buffer::Buffer;
use arrow::error::ArrowError;
use arrow::ipc::reader::StreamDecoder;
use arrow::ipc::writer::StreamWriter;

use super::columns::table;
use crate::primitives::Bytes;

table! {
    /// A block with the rows of all its tables.
    pub struct HotRowsRow / HotRowsView / HotRowsBuilder in "hot_rows" {
        /// Which writing of its height the row belongs to.
        generation: u64,
        /// Height of the block.
        block_number: u64,
        /// The rows, as [`pack`] writes them.
        rows: Bytes,
    }
}

/// Why bytes are not the rows of a block.
#[derive(Debug, thiserror::Error)]
pub enum UnpackError {
    /// The value ends within a name, a length or a stream.
    #[error("the packed rows of a block are truncated at byte {0}")]
    Short(usize),
    /// A name is not UTF-8.
    #[error("the packed rows of a block have a table name that is not UTF-8 at byte {0}")]
    Name(usize),
    /// A stream cannot be read.
    #[error("the packed rows of table {table} cannot be read")]
    Stream {
        /// The table whose stream it is.
        table: String,
        /// What Arrow's reader of IPC streams said.
        source: ArrowError,
    },
}

/// The rows of the tables of a block as one value. Tables without rows are left out.
///
/// # Errors
///
/// If Arrow cannot write the columns, which happens for none of our types.
pub fn pack<'a>(tables: impl IntoIterator<Item = (&'a str, &'a RecordBatch)>) -> Result<Vec<u8>, ArrowError> {
    let mut packed = Vec::new();
    for (table, rows) in tables.into_iter().filter(|(_, rows)| rows.num_rows() > 0) {
        let mut writer = StreamWriter::try_new(Vec::new(), &rows.schema())?;
        writer.write(rows)?;
        let stream = writer.into_inner()?;
        let too_long = |_| ArrowError::InvalidArgumentError(format!("{table}: too long to be packed"));
        packed.push(u8::try_from(table.len()).map_err(too_long)?);
        packed.extend_from_slice(table.as_bytes());
        packed.extend_from_slice(&u32::try_from(stream.len()).map_err(too_long)?.to_le_bytes());
        packed.extend_from_slice(&stream);
    }
    Ok(packed)
}

/// The rows by table, as [`pack`] was given them. Columns are slices of `packed`.
///
/// # Errors
///
/// If the value is not one of [`pack`].
pub fn unpack(packed: &[u8]) -> Result<Vec<(String, RecordBatch)>, UnpackError> {
    let mut rest = packed;
    let mut tables = Vec::new();
    while !rest.is_empty() {
        let at = packed.len() - rest.len();
        let (table, stream) = next(&mut rest).ok_or(UnpackError::Short(at))?;
        let table = std::str::from_utf8(table).map_err(|_| UnpackError::Name(at))?.to_owned();
        let batch = decode(stream).and_then(|batch| batch.ok_or(ArrowError::IpcError("no rows".into())));
        match batch {
            Ok(batch) => tables.push((table, batch)),
            Err(source) => return Err(UnpackError::Stream { table, source }),
        }
    }
    Ok(tables)
}

/// Takes the next name and stream.
fn next<'a>(rest: &mut &'a [u8]) -> Option<(&'a [u8], &'a [u8])> {
    let name_length = usize::from(*rest.split_off_first()?);
    let name = rest.split_off(..name_length)?;
    let length = rest.split_off(..4)?.try_into().map(u32::from_le_bytes).ok()?;
    Some((name, rest.split_off(..length as usize)?))
}

/// The one batch of a stream.
fn decode(stream: &[u8]) -> Result<Option<RecordBatch>, ArrowError> {
    let mut decoder = StreamDecoder::new();
    let mut buffer = Buffer::from(stream);
    decoder.decode(&mut buffer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::{Address, B256, Timestamp};
    use crate::schema::{Columns, LogRow, NonceRow, Table};

    fn batch<T: Table + Clone>(rows: &[T]) -> RecordBatch {
        let mut builder = T::Builder::default();
        rows.iter().for_each(|row| T::push(&mut builder, row.clone()));
        T::finish(builder)
    }

    fn log(index: u32) -> LogRow {
        LogRow {
            address: Address::repeat_byte(1),
            block_number: 7,
            log_index: index,
            transaction_index: 0,
            transaction_hash: B256::repeat_byte(2),
            block_hash: B256::repeat_byte(3),
            block_timestamp: Timestamp::from_micros(9),
            topics_count: 1,
            topic0: B256::repeat_byte(4),
            topic1: B256::ZERO,
            topic2: B256::ZERO,
            topic3: B256::ZERO,
            data: vec![5; index as usize].into(),
        }
    }

    fn packed() -> (Vec<LogRow>, Vec<u8>) {
        let logs: Vec<LogRow> = (0..40).map(log).collect();
        let nonces = [NonceRow { address: Address::repeat_byte(8), block_number: 7, nonce: 3 }];
        let (logs_batch, nonces) = (batch(&logs), batch(&nonces));
        let none = batch::<LogRow>(&[]);
        let tables = [("logs", &logs_batch), ("empty", &none), ("nonce_history", &nonces)];
        (logs, pack(tables).expect("our types"))
    }

    #[test]
    fn rows_come_back_as_they_were() {
        let (logs, packed) = packed();
        let tables = unpack(&packed).expect("packed by us");
        assert_eq!(tables.iter().map(|(table, _)| table.as_str()).collect::<Vec<_>>(), ["logs", "nonce_history"]);
        let view = LogRow::view(&tables[0].1).expect("the columns of a log");
        let read: Vec<LogRow> = (0..tables[0].1.num_rows()).map(|row| LogRow::row(&view, row)).collect();
        assert_eq!(read, logs);
        assert!(unpack(&[]).expect("no tables").is_empty());
    }

    #[test]
    fn what_was_cut_off_is_an_error() {
        let (_, packed) = packed();
        let whole = unpack(&packed).expect("packed by us").len();
        for length in (1..packed.len()).step_by(7) {
            match unpack(&packed[..length]) {
                Ok(tables) => assert!(tables.len() < whole, "cut between two tables at {length}"),
                Err(error) => assert!(!error.to_string().is_empty()),
            }
        }
    }
}
