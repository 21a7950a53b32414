//! Positions in the chain after which a list continues.

use super::{BlockNumber, LogPosition};

/// The position of a row in the chain, as the numbers of its key: the height, then positions from the outside in.
pub trait Position: Copy + Send + Sync + 'static {
    /// Height of the block.
    fn block_number(self) -> BlockNumber;
    /// The numbers, the height first.
    fn numbers(self) -> Vec<u64>;
    /// The position after everything in a block.
    fn end_of(block_number: BlockNumber) -> Self;
    /// The position with these numbers; `None` if there are more or fewer than such a position has.
    fn from_numbers(numbers: &[u64]) -> Option<Self>;
}

macro_rules! position {
    ($Position:ident: $($number:ident),+) => {
        impl Position for $Position {
            fn block_number(self) -> BlockNumber {
                self.block_number
            }

            fn numbers(self) -> Vec<u64> {
                vec![$(self.$number),+]
            }

            fn end_of(block_number: BlockNumber) -> Self {
                Self { block_number, ..Self { $($number: u64::MAX),+ } }
            }

            fn from_numbers(numbers: &[u64]) -> Option<Self> {
                match *numbers {
                    [$($number),+] => Some(Self { $($number),+ }),
                    _ => None,
                }
            }
        }
    };
}

position!(LogPosition: block_number, log_index);
position!(FramePosition: block_number, transaction_index, frame_index);
position!(TransferPosition: block_number, log_index, batch_index);
position!(TransactionPosition: block_number, transaction_index);

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

/// The position of a call frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct FramePosition {
    /// Height of its block.
    pub block_number: BlockNumber,
    /// Position of its transaction in the block.
    pub transaction_index: u64,
    /// Position in the transaction, in order of execution.
    pub frame_index: u64,
}

/// The position of a token transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TransferPosition {
    /// Height of its block.
    pub block_number: BlockNumber,
    /// Position of its log in the block.
    pub log_index: u64,
    /// Position in an ERC-1155 batch; 0 otherwise.
    pub batch_index: u64,
}

/// The position of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TransactionPosition {
    /// Height of its block.
    pub block_number: BlockNumber,
    /// Position in the block.
    pub transaction_index: u64,
}
