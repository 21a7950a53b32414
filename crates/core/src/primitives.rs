//! Floor 0: the value types of all other modules. No I/O, no SQL, no JSON.

pub mod abi;
mod coverage;
pub mod domain_name;
mod fee;
mod filter;
mod position;
mod range;
pub mod returned;
mod timestamp;
mod transaction_type;
pub mod user_operation;

pub use alloy_primitives::{Address, B64, B256, Bloom, Bytes, U256};
pub use coverage::Coverage;
pub use fee::TransactionFee;
pub use filter::{LogFilter, LogPosition, TopicFilter, is_padded_address};
pub use position::{Direction, FramePosition, Position, TransactionPosition, TransferPosition};

pub use range::{BlockNumber, BlockRange, HotRange};
pub use timestamp::{Timestamp, TimestampOutOfRange};
pub use transaction_type::TransactionType;

/// The key under which `transactions_by_hash` and `blocks_by_hash` file a hash: its first eight bytes, big-endian.
#[must_use]
pub fn hash_prefix(hash: &B256) -> u64 {
    u64::from_be_bytes(hash[..8].try_into().expect("8 of 32 bytes"))
}
