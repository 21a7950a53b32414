//! Parquet files to chunks, a few hundred rows at a time.

use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::RecordBatch;
use parquet::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};

use super::column::Column;
use super::row::{Cells, Chunk, Chunks, ROWS, malformed};
use crate::source::{SourceError, unreadable};

/// Reads `file` from its beginning.
pub(super) fn open(file: &Path) -> Result<Chunks, SourceError> {
    let opened = File::open(file).map_err(|error| unreadable(file, &error))?;
    let reader = guarded(file, || {
        // The writer's own idea of Arrow types would bring variants of text and bytes that mean the same.
        let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
        ParquetRecordBatchReaderBuilder::try_new_with_options(opened, options)?.with_batch_size(ROWS).build()
    })?
    .map_err(|error| malformed(file, error))?;
    let names = reader_names(&reader);
    Ok(Box::new(Batches { file: file.into(), reader, names, ended: false }))
}

fn reader_names(reader: &ParquetRecordBatchReader) -> Arc<[String]> {
    use arrow::array::RecordBatchReader;
    reader.schema().fields().iter().map(|field| field.name().clone()).collect()
}

/// A damaged file may bring the decoder to a panic; here it is one more way of being malformed.
fn guarded<T>(file: &Path, read: impl FnOnce() -> T) -> Result<T, SourceError> {
    catch_unwind(AssertUnwindSafe(read)).map_err(|_| malformed(file, "damaged beyond what its decoder can name"))
}

struct Batches {
    file: PathBuf,
    reader: ParquetRecordBatchReader,
    names: Arc<[String]>,
    /// A decoder that has failed is not used again.
    ended: bool,
}

impl Iterator for Batches {
    type Item = Result<Chunk, SourceError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let chunk = match guarded(&self.file, || self.reader.next()) {
            Ok(None) => return None,
            Ok(Some(Ok(batch))) => Ok(self.chunk(&batch)),
            Ok(Some(Err(error))) => Err(malformed(&self.file, error)),
            Err(error) => Err(error),
        };
        self.ended = chunk.is_err();
        Some(chunk)
    }
}

impl Batches {
    fn chunk(&self, batch: &RecordBatch) -> Chunk {
        let columns = batch.columns().iter().map(Column::new).collect();
        Chunk { names: Arc::clone(&self.names), cells: Cells::Columns(columns, batch.num_rows()) }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    /// Whatever is done to a byte, the file is read to its end or refused.
    #[test]
    fn a_changed_byte_is_survived() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/cryo/devchain-variants/u256-string");
        let name = "network_31337__transactions__00000010_to_00000019.parquet";
        let whole = std::fs::read(folder.join(name)).expect("the fixture");
        let silence = std::panic::take_hook();
        std::panic::set_hook(Box::new(|_| {}));
        let (mut read, mut refused) = (0, 0);
        for position in (0..whole.len()).step_by(23) {
            let mut bytes = whole.clone();
            bytes[position] ^= 1 << (position % 8);
            let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
            file.write_all(&bytes).expect("room for it");
            let chunks: Result<Vec<Chunk>, SourceError> = open(file.path()).and_then(Iterator::collect);
            match chunks {
                Ok(chunks) => {
                    read += 1;
                    let cells =
                        chunks.iter().flat_map(|chunk| (0..chunk.len()).map(|row| chunk.row(row).cell(&["input"])));
                    assert!(cells.count() > 0);
                }
                Err(SourceError::Malformed { .. }) => refused += 1,
                Err(other) => panic!("{other}"),
            }
        }
        std::panic::set_hook(silence);
        assert!(read > 0 && refused > 0, "{read} read, {refused} refused");
    }
}
