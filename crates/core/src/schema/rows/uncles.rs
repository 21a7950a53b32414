//! `uncles`.

use alloy_primitives::FixedBytes;

use crate::primitives::{Address, B64, B256, Bytes, Timestamp, U256};
use crate::schema::columns::table;

table! {
    /// The header of an uncle (ommer).
    pub struct UncleRow / UncleView / UncleBuilder in "uncles" {
        /// Height of the uncle itself.
        block_number: u64,
        /// Hash of the uncle; raw bytes, show with hex().
        hash: B256,
        /// Height of the block that references it.
        nephew_block_number: u64,
        /// Position among the uncles of that block, 0-based.
        uncle_index: u32,
        /// Hash of its parent block.
        parent_hash: B256,
        /// Timestamp of the uncle's own header.
        timestamp: Timestamp,
        /// Hash of its own list of uncle headers.
        sha3_uncles: B256,
        /// Beneficiary of the header.
        miner: Address,
        /// Root of the state trie after it.
        state_root: B256,
        /// Root of its transactions trie; its transactions are not stored.
        transactions_root: B256,
        /// Root of its receipts trie.
        receipts_root: B256,
        /// Bloom filter over its log addresses and topics.
        logs_bloom: FixedBytes<256>,
        /// Proof-of-work difficulty of this header alone, without those below it.
        difficulty: U256,
        /// Gas it might use.
        gas_limit: u64,
        /// Gas it used.
        gas_used: u64,
        /// Extra data of the header; raw bytes.
        extra_data: Bytes,
        /// Proof-of-work mix hash.
        mix_hash: Option<B256>,
        /// Proof-of-work nonce, 8 bytes.
        nonce: Option<B64>,
        /// Wei, EIP-1559; NULL before London.
        base_fee_per_gas: Option<U256>,
        /// Bytes according to the source, commonly of the header alone.
        size: Option<u64>,
    }
}
