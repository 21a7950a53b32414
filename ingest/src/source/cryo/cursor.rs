//! The rows of one dataset over all its files, block by block.

use std::collections::VecDeque;
use std::path::PathBuf;

use trawl_core::primitives::BlockNumber;

use super::listing::DataFile;
use crate::source::SourceError;
use crate::source::columns::{self, Chunk, Chunks, Facts, Row};

/// Why a row cannot be used.
pub(super) type RowError = Box<dyn std::error::Error + Send + Sync>;

/// Position of the reader.
pub(super) struct Cursor {
    files: VecDeque<DataFile>,
    file: PathBuf,
    chunks: Option<Chunks>,
    chunk: Option<Chunk>,
    /// The next row of the chunk, and the next of the file for messages.
    row: usize,
    line: u64,
    last: BlockNumber,
}

impl Cursor {
    /// A cursor before the first row of `files`, which are ascending.
    pub fn new(files: Vec<DataFile>) -> Self {
        Self { files: files.into(), file: PathBuf::new(), chunks: None, chunk: None, row: 0, line: 0, last: 0 }
    }

    /// Reads all rows of block `number`, passing over those below it. Heights must come in ascending order.
    pub fn rows_of(
        &mut self,
        number: BlockNumber,
        mut read: impl FnMut(Row<'_>) -> Result<(), RowError>,
    ) -> Result<(), SourceError> {
        // A file that begins above the height is not opened yet.
        while let Some(found) = self.next_block(number)? {
            if found > number {
                break;
            }
            if found == number {
                let row = self.chunk.as_ref().map(|chunk| chunk.row(self.row));
                row.map_or(Ok(()), &mut read).map_err(|error| self.malformed(error))?;
            }
            self.row += 1;
            self.line += 1;
        }
        Ok(())
    }

    /// The block of the next row; `None` if there is none in the files that may hold `requested`.
    fn next_block(&mut self, requested: BlockNumber) -> Result<Option<BlockNumber>, SourceError> {
        loop {
            if let Some(chunk) = self.chunk.as_ref().filter(|chunk| self.row < chunk.len()) {
                let number: u64 = Facts::of(chunk.row(self.row))
                    .required(&["block_number"])
                    .map_err(|error| self.malformed(error))?;
                if number < self.last {
                    let last = self.last;
                    return Err(self.malformed(format!("block {number} after block {last}: not in block order")));
                }
                self.last = number;
                return Ok(Some(number));
            }
            (self.row, self.chunk) = (0, None);
            match self.chunks.as_mut().and_then(Iterator::next) {
                Some(chunk) => self.chunk = Some(chunk?),
                None => {
                    self.chunks = None;
                    let Some(next) = self.files.pop_front_if(|file| file.range.first() <= requested) else {
                        return Ok(None);
                    };
                    self.chunks = Some(columns::open(&next.path)?);
                    self.file = next.path;
                    self.line = 1;
                }
            }
        }
    }

    fn malformed(&self, cause: impl ToString) -> SourceError {
        columns::malformed(&self.file, format!("row {}: {}", self.line, cause.to_string()))
    }
}
