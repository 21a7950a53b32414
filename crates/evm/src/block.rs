//! The fields of a block that code can read.

use trawl_core::primitives::{Address, B256, Bytes, U256};

/// The fields of a block that code can read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BlockContext {
    /// Height of the block.
    pub number: u64,
    /// Seconds since 1970.
    pub timestamp: u64,
    /// Recipient of the fees.
    pub miner: Address,
    /// Producer of the block; on some chains the header names none.
    pub producer: Address,
    /// Gas the block may use.
    pub gas_limit: u64,
    /// Wei, EIP-1559; zero before London.
    pub base_fee_per_gas: u64,
    /// Proof-of-work difficulty; zero after the merge.
    pub difficulty: U256,
    /// The randomness beacon after the merge (EIP-4399).
    pub mix_hash: Option<B256>,
    /// Running excess of blob gas, EIP-4844; `None` before Cancun.
    pub excess_blob_gas: Option<u64>,
    /// Bytes that code cannot read, but whose form shows a fork of some chains.
    pub extra_data: Bytes,
}
