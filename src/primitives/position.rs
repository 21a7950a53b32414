//! Places in the chain that lists continue behind.

use super::BlockNumber;

/// Which side of a transfer or call an address is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// It gives or calls.
    From,
    /// It receives, is called or created.
    To,
}

impl Direction {
    /// As the tables write it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::From => "from",
            Self::To => "to",
        }
    }
}

/// The place of a call frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct FramePosition {
    /// Height of its block.
    pub block_number: BlockNumber,
    /// Position of its transaction in the block.
    pub transaction_index: u64,
    /// Position in the transaction, in order of execution.
    pub frame_index: u64,
}

/// The place of a token transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TransferPosition {
    /// Height of its block.
    pub block_number: BlockNumber,
    /// Position of its log in the block.
    pub log_index: u64,
    /// Position in an ERC-1155 batch; 0 otherwise.
    pub batch_index: u64,
}
