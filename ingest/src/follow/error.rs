//! Why following ends.

use trawl_core::primitives::{B256, BlockNumber, BlockRange};
use trawl_core::schema::packed::UnpackError;
use trawl_core::store::StoreError;

use crate::load::error::LoadError;
use crate::source::SourceError;

/// Why following ended.
#[derive(Debug, thiserror::Error)]
pub enum FollowError {
    /// The node gives a block that does not verify, or none.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// ClickHouse does not answer, or the lease is lost.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The rows of a block cannot be packed.
    #[error("the rows of a block cannot be packed")]
    Pack(#[from] arrow::error::ArrowError),
    /// Packed rows cannot be read again.
    #[error("the packed rows of block {number} cannot be read; restart follow, which fetches them again")]
    Packed {
        /// Height of the block.
        number: BlockNumber,
        /// What of the packed rows cannot be read.
        source: Box<UnpackError>,
    },
    /// Packed rows name a table that no block has.
    #[error(
        "the packed rows of a block have rows of `{0}`, a table that this program does not know: run `trawl-ingest migrate`"
    )]
    UnknownTable(String),
    /// Rows of blocks that a head names are gone.
    #[error(
        "the packed rows of some of blocks {0}, which a head names, are not there; restart follow, which fetches them again"
    )]
    LostRows(BlockRange),
    /// The node's chain is not the one that is settled.
    #[error(
        "reorganisation below finality: block {number} is settled as {ours} and the node has {theirs}; is it a node of another chain? \
         If the chain really changed, load it into another --clickhouse-database"
    )]
    BelowFinality {
        /// Height of the settled block.
        number: BlockNumber,
        /// Hash of the settled block.
        ours: B256,
        /// The hash the node has at that height.
        theirs: B256,
    },
}

impl From<SourceError> for FollowError {
    fn from(error: SourceError) -> Self {
        Self::Load(error.into())
    }
}
