//! era1 archives: headers, bodies and receipts before the merge, with an accumulator over them.
//!
//! Format: <https://github.com/eth-clients/e2store-format-specs/blob/main/formats/era1.md>. A file is read twice: first
//! its headers, hashes and total difficulties are checked against its accumulator and its index, then its blocks are
//! yielded. A file that fails the check yields nothing.

mod accumulator;
mod decode;
mod e2store;

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use alloy_primitives::keccak256;
use futures_util::StreamExt;
use trawl_core::primitives::{B256, BlockRange, Coverage, U256};

use super::columns::malformed;
use super::reading::{Sender, reading};
use super::{BlockSource, RawBlock, RawBlocks, RawBody, SourceError, unreadable};
use crate::source::Total;
use accumulator::Accumulator;
use decode::ArchivedBlock;
use e2store::{Entries, Entry, kind};

/// Packed blocks read ahead of the decoders.
const BLOCKS_AHEAD: usize = 8;

/// Blocks of a file, at most: those of an era.
const ERA: usize = 8192;

/// era1 files, read one after the other.
pub struct Era1Source {
    files: Vec<PathBuf>,
    total: u64,
    requested: BlockRange,
    committed: Coverage,
    chain_id: Option<u64>,
}

impl Era1Source {
    /// Takes the blocks of `requested` that are not in `committed` from `paths`: files, or folders of `.era1` files.
    pub fn new(
        paths: &[PathBuf],
        requested: BlockRange,
        committed: Coverage,
        chain_id: Option<u64>,
    ) -> Result<Self, SourceError> {
        let mut files = Vec::new();
        for path in paths {
            if path.is_dir() {
                let before = files.len();
                for entry in std::fs::read_dir(path).map_err(|error| unreadable(path, &error))? {
                    let file = entry.map_err(|error| unreadable(path, &error))?.path();
                    files.extend(file.extension().is_some_and(|extension| extension == "era1").then_some(file));
                }
                if files.len() == before {
                    return Err(malformed(path, "no .era1 files in this folder"));
                }
            } else {
                files.push(path.clone());
            }
        }
        // Their names count the eras, so this is the order of the chain.
        files.sort_by(|one, other| one.file_name().cmp(&other.file_name()));
        let mut total = 0;
        for file in &files {
            total += std::fs::metadata(file).map_err(|error| unreadable(file, &error))?.len();
        }
        let chain_id = chain_id.or_else(|| files.iter().find_map(|file| chain_of(file)));
        Ok(Self { files, total, requested, committed, chain_id })
    }
}

/// The chain a file's name begins with.
fn chain_of(file: &Path) -> Option<u64> {
    match file.file_name()?.to_str()?.split('-').next()? {
        "mainnet" => Some(1),
        "sepolia" => Some(11_155_111),
        _ => None,
    }
}

impl BlockSource for Era1Source {
    fn kind(&self) -> &'static str {
        "era1"
    }

    fn chain_id(&self) -> Option<u64> {
        self.chain_id
    }

    fn total(&self) -> Total {
        Total::Bytes(self.total)
    }

    fn into_blocks(self) -> RawBlocks {
        let packed = reading(BLOCKS_AHEAD, move |sender| {
            let mut before = 0;
            for file in &self.files {
                self.read_file(file, before, sender)?;
                before += std::fs::metadata(file).map_or(0, |data| data.len());
            }
            Ok(())
        });
        // Recovering senders is what takes long; it goes to all cores.
        let decoders = std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
        packed
            .map(|packed: Result<LocatedBlock, SourceError>| async move {
                let (packed, file, position) = packed?;
                let decoding = tokio::task::spawn_blocking(move || {
                    let number = packed.number;
                    let block =
                        packed.decode().map_err(|error| malformed(&file, format!("block {number}: {error}")))?;
                    Ok(RawBlock { body: RawBody::Block(Box::new(block)), position })
                });
                decoding.await.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()))
            })
            .buffered(decoders)
            .boxed()
    }
}

/// A block with its file, and how much of the source is read with it.
type LocatedBlock = (ArchivedBlock, PathBuf, u64);

impl Era1Source {
    /// Sends the requested blocks of a file that passed the check; ends quietly if the receiver is gone.
    fn read_file(&self, path: &Path, before: u64, sender: &Sender<LocatedBlock>) -> Result<(), SourceError> {
        let first = check(path)?;
        let mut number = first;
        let mut entries = open(path)?;
        let failed = |error: EraError| malformed(path, error);
        while let Some(entry) = entries.next().map_err(|error| failed(error.into()))? {
            if entry.kind != kind::HEADER {
                continue;
            }
            let mut next = |kind| entries.expect(kind).map_err(|error| failed(error.into()));
            let (body, receipts, difficulty) =
                (next(kind::BODY)?, next(kind::RECEIPTS)?, next(kind::TOTAL_DIFFICULTY)?);
            let total_difficulty = little_endian(&difficulty.data).map_err(failed)?;
            if self.requested.contains(number) && !self.committed.contains(number) {
                let packed = ArchivedBlock {
                    number,
                    header: entry.data,
                    body: body.data,
                    receipts: receipts.data,
                    total_difficulty,
                };
                let position = before + entries.position();
                if sender.blocking_send(Ok((packed, path.into(), position))).is_err() {
                    return Ok(());
                }
            }
            number += 1;
        }
        Ok(())
    }
}

fn open(path: &Path) -> Result<Entries<BufReader<File>>, SourceError> {
    let file = File::open(path).map_err(|error| unreadable(path, &error))?;
    Ok(Entries::new(BufReader::with_capacity(1 << 20, file)))
}

/// Why a file is not a complete era1 archive.
#[derive(Debug, thiserror::Error)]
enum EraError {
    #[error(transparent)]
    Store(#[from] e2store::StoreError),
    #[error(transparent)]
    Decode(#[from] decode::DecodeError),
    #[error("it does not begin with a version")]
    NoVersion,
    #[error("it ends without its {0}")]
    Without(&'static str),
    #[error("entries after its index")]
    AfterIndex,
    #[error("a total difficulty of {0} bytes")]
    Difficulty(usize),
    #[error("block {number}: {check}: expected {expected}, found {found}")]
    Check { number: u64, check: &'static str, expected: String, found: String },
    #[error("more than 8192 blocks")]
    TooMany,
    #[error("accumulator: expected {expected}, found {found}")]
    Accumulator { expected: B256, found: B256 },
    #[error("its index does not fit its blocks")]
    Index,
}

fn little_endian(data: &[u8]) -> Result<U256, EraError> {
    let bytes: [u8; 32] = data.try_into().map_err(|_| EraError::Difficulty(data.len()))?;
    Ok(U256::from_le_bytes(bytes))
}

/// Reads a file once to verify it, and returns the height of its first block.
fn check(path: &Path) -> Result<u64, SourceError> {
    check_entries(&mut open(path)?).map_err(|error| malformed(path, error))
}

fn check_entries(entries: &mut Entries<BufReader<File>>) -> Result<u64, EraError> {
    let version = entries.next()?.ok_or(EraError::NoVersion)?;
    if version.kind != kind::VERSION || !version.data.is_empty() {
        return Err(EraError::NoVersion);
    }
    let mut seen = ArchiveSummary::default();
    let root = loop {
        let start = entries.position();
        let entry = entries.next()?.ok_or(EraError::Without("accumulator"))?;
        match entry.kind {
            kind::HEADER => {
                entries.expect(kind::BODY)?;
                entries.expect(kind::RECEIPTS)?;
                let difficulty = entries.expect(kind::TOTAL_DIFFICULTY)?;
                seen.block(start, &entry, little_endian(&difficulty.data)?)?;
            }
            kind::ACCUMULATOR => break entry,
            // Others may stand there; these may not stand alone.
            kind::BODY | kind::RECEIPTS | kind::TOTAL_DIFFICULTY | kind::INDEX => {
                return Err(EraError::Without("accumulator"));
            }
            _ => {}
        }
    };
    let (expected, found) = (B256::try_from(&root.data[..]).unwrap_or_default(), seen.accumulator.root());
    if expected != found {
        return Err(EraError::Accumulator { expected, found });
    }
    let start = entries.position();
    let index = entries.expect(kind::INDEX)?;
    seen.check_index(start, &index)?;
    if entries.next()?.is_some() {
        return Err(EraError::AfterIndex);
    }
    seen.first.ok_or(EraError::Without("blocks"))
}

/// State of the verification of a file.
#[derive(Default)]
struct ArchiveSummary {
    first: Option<u64>,
    /// Where each block begins in the file.
    starts: Vec<u64>,
    last: Option<(B256, U256)>,
    accumulator: Accumulator,
}

impl ArchiveSummary {
    fn block(&mut self, start: u64, header: &Entry, total_difficulty: U256) -> Result<(), EraError> {
        let bytes = decode::unpacked(&header.data)?;
        let header = decode::header(&bytes)?;
        let hash = keccak256(&bytes);
        let first = *self.first.get_or_insert(header.number);
        let refuse = |check, expected: String, found: String| {
            Err(EraError::Check { number: header.number, check, expected, found })
        };
        let number = first + self.starts.len() as u64;
        if header.number != number {
            return refuse("number", number.to_string(), header.number.to_string());
        }
        if let Some((parent, total)) = self.last {
            if header.parent_hash != parent {
                return refuse("parent hash", parent.to_string(), header.parent_hash.to_string());
            }
            let sum = total.wrapping_add(header.difficulty);
            if sum != total_difficulty {
                return refuse("total difficulty", sum.to_string(), total_difficulty.to_string());
            }
        }
        if self.starts.len() == ERA {
            return Err(EraError::TooMany);
        }
        self.last = Some((hash, total_difficulty));
        self.starts.push(start);
        self.accumulator.push(hash, total_difficulty);
        Ok(())
    }

    /// First height, an offset for each block from the beginning of the index, and their count; little endian.
    fn check_index(&self, start: u64, index: &Entry) -> Result<(), EraError> {
        let offsets = self.starts.iter().map(|block| block.wrapping_sub(start));
        let numbers = std::iter::once(self.first.unwrap_or_default()).chain(offsets).chain([self.starts.len() as u64]);
        let expected: Vec<u8> = numbers.flat_map(u64::to_le_bytes).collect();
        if index.data == expected { Ok(()) } else { Err(EraError::Index) }
    }
}
