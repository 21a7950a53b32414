//! CSV files to chunks: RFC 4180 with a header line; an empty field is null.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use csv::{Reader, StringRecord};

use super::row::{Cells, Chunk, Chunks, ROWS, TextRow, malformed};
use crate::source::SourceError;

/// Reads CSV from its beginning.
pub(super) fn csv(file: &Path, reader: impl Read + Send + 'static) -> Result<Chunks, SourceError> {
    let mut reader = Reader::from_reader(reader);
    let names = reader.headers().map_err(|error| malformed(file, error))?.iter().map(str::to_owned).collect();
    Ok(Box::new(Records { file: file.into(), reader, names, ended: false }))
}

struct Records<R> {
    file: PathBuf,
    reader: Reader<R>,
    names: Arc<[String]>,
    ended: bool,
}

impl<R: Read> Iterator for Records<R> {
    type Item = Result<Chunk, SourceError>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut rows = Vec::new();
        let mut record = StringRecord::new();
        while !self.ended && rows.len() < ROWS {
            match self.reader.read_record(&mut record) {
                Ok(true) => rows.push(row(&record)),
                Ok(false) => self.ended = true,
                Err(error) => {
                    self.ended = true;
                    return Some(Err(malformed(&self.file, error)));
                }
            }
        }
        (!rows.is_empty()).then(|| Ok(Chunk { names: Arc::clone(&self.names), cells: Cells::Text(rows) }))
    }
}

fn row(record: &StringRecord) -> TextRow {
    record.iter().map(|field| (!field.is_empty()).then(|| field.into())).collect()
}
