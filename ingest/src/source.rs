//! Where blocks come from. Retries and rate limits live here and nowhere else.

use std::io;
use std::path::{Path, PathBuf};
use std::pin::Pin;

use futures_util::Stream;
use trawl_node::NodeError;

use crate::block::Block;
use crate::decode::BlockParts;

mod columns;
pub mod cryo;
pub mod dump;
pub mod era1;
pub mod etl;
pub(crate) mod files;
mod reading;
pub mod rpc;

/// One block as a source gives it.
#[derive(Debug, Clone)]
pub struct RawBlock {
    /// The block in one of three forms.
    pub body: RawBody,
    /// How many bytes of the source are read with this block, for sources that are files.
    pub position: u64,
}

/// The forms a block may come in.
#[derive(Debug, Clone)]
pub enum RawBody {
    /// A JSON object in the shape [`crate::decode::decode`] reads.
    Json(String),
    /// The answers of a node.
    Parts(Box<BlockParts>),
    /// A block put together from columns or other encodings; it may lack what the source does not have.
    Block(Box<Block>),
}

/// Blocks on their way, in ascending order where the source has an order.
pub type RawBlocks = Pin<Box<dyn Stream<Item = Result<RawBlock, SourceError>> + Send>>;

/// How much there is to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Total {
    /// So many blocks.
    Blocks(u64),
    /// So many bytes of files, some of whose blocks may be there already.
    Bytes(u64),
}

/// What has blocks.
pub trait BlockSource {
    /// Its kind, as `ingest_commits` records it.
    fn kind(&self) -> &'static str;
    /// The chain, if the source names it.
    fn chain_id(&self) -> Option<u64>;
    /// How much there is to read.
    fn total(&self) -> Total;
    /// Starts reading. Memory: as many blocks as the source fetches at once.
    fn into_blocks(self) -> RawBlocks;
}

/// Why a source gives no more blocks.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// No node gives what is needed.
    #[error(transparent)]
    Node(#[from] NodeError),
    /// A file cannot be read.
    #[error("{}: {cause}", file.display())]
    File {
        /// Path of the file.
        file: PathBuf,
        /// Why, with the line where it has one.
        cause: String,
    },
    /// The reader of the files did not come to their end.
    #[error("reading ended: {cause}")]
    Reader {
        /// Why it ended, in words.
        cause: String,
    },
    /// A file holds what cannot be a block, or not a whole one.
    #[error("{}: {cause}", file.display())]
    Malformed {
        /// The file, or the folder whose files do not fit each other.
        file: PathBuf,
        /// What is wrong with it.
        cause: String,
    },
}

fn unreadable(file: &Path, error: &io::Error) -> SourceError {
    SourceError::File { file: file.into(), cause: error.to_string() }
}
