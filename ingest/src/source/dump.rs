//! Dump files: one JSON object a line, plain or gzipped, in node field conventions.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::bufread::MultiGzDecoder;
use futures_util::StreamExt;
use serde::Deserialize;
use trawl_core::primitives::{BlockRange, Coverage};

use super::reading::{Sender, reading};
use super::{BlockSource, RawBlock, RawBlocks, RawBody, SourceError, unreadable};
use crate::decode::peek_number;
use crate::source::Total;

/// Lines read ahead of the decoders. A line is a block; this and the decoders bound memory.
const LINES_AHEAD: usize = 8;

/// Dump files, read one after another.
pub struct DumpSource {
    files: Vec<PathBuf>,
    total: u64,
    chain_id: Option<u64>,
    requested: BlockRange,
    committed: Coverage,
}

impl DumpSource {
    /// Opens `files` in turn and yields the blocks of `requested` that are not in `committed`.
    pub fn new(
        files: Vec<PathBuf>,
        requested: BlockRange,
        committed: Coverage,
        chain_id: Option<u64>,
    ) -> Result<Self, SourceError> {
        let mut total = 0;
        for file in &files {
            total += std::fs::metadata(file).map_err(|error| unreadable(file, &error))?.len();
        }
        let chain_id = chain_id.or_else(|| files.iter().find_map(|file| chain_id_beside(file)));
        Ok(Self { files, total, chain_id, requested, committed })
    }
}

impl BlockSource for DumpSource {
    fn kind(&self) -> &'static str {
        "dump"
    }

    fn chain_id(&self) -> Option<u64> {
        self.chain_id
    }

    fn total(&self) -> Total {
        Total::Bytes(self.total)
    }

    fn into_blocks(self) -> RawBlocks {
        reading(LINES_AHEAD, move |sender| {
            let position = Arc::new(AtomicU64::new(0));
            self.files.iter().try_for_each(|file| self.read_file(file, &position, sender))
        })
        .boxed()
    }
}

impl DumpSource {
    /// Sends the requested lines of `file`; ends early and quietly if the receiver is gone.
    fn read_file(&self, file: &Path, position: &Arc<AtomicU64>, sender: &Sender<RawBlock>) -> Result<(), SourceError> {
        let mut reader = open(file, position).map_err(|error| unreadable(file, &error))?;
        for number in 1.. {
            let mut text = String::new();
            let at_line =
                |cause: String| SourceError::File { file: file.into(), cause: format!("line {number}: {cause}") };
            if reader.read_line(&mut text).map_err(|error| at_line(error.to_string()))? == 0 {
                return Ok(());
            }
            if text.trim().is_empty() {
                continue;
            }
            let block = peek_number(&text).map_err(|error| at_line(trawl_core::error_chain(&error)))?;
            if !self.requested.contains(block) || self.committed.contains(block) {
                continue;
            }
            let raw = RawBlock { body: RawBody::Json(text), position: position.load(Ordering::Relaxed) };
            if sender.blocking_send(Ok(raw)).is_err() {
                return Ok(());
            }
        }
        Ok(())
    }
}

/// The lines of a file; gzip is recognised by its first bytes.
fn open(file: &Path, position: &Arc<AtomicU64>) -> io::Result<Box<dyn BufRead>> {
    let counted = CountingFile { inner: File::open(file)?, position: Arc::clone(position) };
    let mut reader = BufReader::with_capacity(1 << 20, counted);
    let is_gzip = reader.fill_buf()?.starts_with(&[0x1f, 0x8b]);
    Ok(if is_gzip {
        Box::new(BufReader::with_capacity(1 << 20, MultiGzDecoder::new(reader)))
    } else {
        Box::new(reader)
    })
}

struct CountingFile {
    inner: File,
    position: Arc<AtomicU64>,
}

impl Read for CountingFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.position.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

/// `meta.json` in the same folder, which recordings have: `{"chainId": "0x1"}`.
fn chain_id_beside(file: &Path) -> Option<u64> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Meta {
        chain_id: String,
    }
    let text = std::fs::read_to_string(file.with_file_name("meta.json")).ok()?;
    let meta: Meta = serde_json::from_str(&text).ok()?;
    u64::from_str_radix(meta.chain_id.strip_prefix("0x")?, 16).ok()
}
