//! Why a load ends before its end.

use trawl_core::primitives::TimestampOutOfRange;

use crate::decode::DecodeError;
use crate::source::SourceError;
use crate::verify::VerifyError;
use crate::write::sink::SinkError;

/// Why a load ended before its end. What was committed until then stays.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The source gives no more.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// A block cannot be read.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// A block does not hold together.
    #[error(transparent)]
    Verify(#[from] VerifyError),
    /// A block's time does not fit the tables.
    #[error("block {number} is refused")]
    Timestamp {
        /// Height of the block.
        number: u64,
        /// Which time it is.
        source: TimestampOutOfRange,
    },
    /// The source's chain is not the one in the database.
    #[error("block {number} belongs to chain {found} and the database holds chain {expected}")]
    Chain {
        /// Height of the block.
        number: u64,
        /// What the database holds.
        expected: u64,
        /// As the block states it.
        found: u64,
    },
    /// The rules of a block depend on its chain, which nothing names.
    #[error(
        "block {number} is not a block of Ethereum, and neither it nor the source names its chain: give `--chain-id`"
    )]
    UnknownChain {
        /// Height of the block.
        number: u64,
    },
    /// A batch was not written.
    #[error(transparent)]
    Sink(#[from] SinkError),
}
