//! `blocks` and `blocks_by_hash`.

use alloy_primitives::FixedBytes;

use crate::primitives::{Address, B64, B256, Bytes, Timestamp, U256};
use crate::schema::columns::table;

table! {
    /// A block: its header and counts of its body.
    pub struct BlockRow / BlockView / BlockBuilder in "blocks" {
        /// Height; genesis is 0.
        block_number: u64,
        /// Block hash; raw bytes, show with hex().
        hash: B256,
        /// Hash of the parent block.
        parent_hash: B256,
        /// Header timestamp; whole seconds on Ethereum.
        timestamp: Timestamp,
        /// Hash of the list of uncle headers.
        sha3_uncles: B256,
        /// Beneficiary of the header.
        miner: Address,
        /// Who made the block: the miner, or who sealed the header on chains that leave the miner empty.
        producer: Address,
        /// Root of the state trie after the block.
        state_root: B256,
        /// Root of the transactions trie.
        transactions_root: B256,
        /// Root of the receipts trie.
        receipts_root: B256,
        /// Bloom filter over log addresses and topics.
        logs_bloom: FixedBytes<256>,
        /// Proof-of-work difficulty; 0 after the merge.
        difficulty: U256,
        /// Sum of difficulties up to this block; NULL if the source did not give it.
        total_difficulty: Option<U256>,
        /// Gas the block may use.
        gas_limit: u64,
        /// Gas the block used.
        gas_used: u64,
        /// Extra data of the header; raw bytes.
        extra_data: Bytes,
        /// Proof-of-work mix hash; the randomness beacon after the merge.
        mix_hash: Option<B256>,
        /// Proof-of-work nonce; zero after the merge.
        nonce: Option<B64>,
        /// Wei, EIP-1559; NULL before London.
        base_fee_per_gas: Option<U256>,
        /// Root of the withdrawals trie, EIP-4895; NULL before Shanghai.
        withdrawals_root: Option<B256>,
        /// Blob gas of the block, EIP-4844; NULL before Cancun.
        blob_gas_used: Option<u64>,
        /// Running excess of blob gas, EIP-4844; NULL before Cancun.
        excess_blob_gas: Option<u64>,
        /// Root of the parent beacon block, EIP-4788; NULL before Cancun.
        parent_beacon_block_root: Option<B256>,
        /// Hash of the execution requests, EIP-7685; NULL before Prague.
        requests_hash: Option<B256>,
        /// Bytes of the RLP-encoded block, according to the source.
        size: Option<u64>,
        /// Hashes of the uncle headers, in order.
        uncles: Vec<B256>,
        /// Transactions in the block.
        transactions_count: u32,
        /// Transactions of type 3 among them.
        blob_transactions_count: u32,
        /// Withdrawals in the block.
        withdrawals_count: u32,
        /// Logs in the block; NULL if the source had no receipts.
        logs_count: Option<u32>,
        /// Wei that transactions paid: gas used times effective gas price, and the L1 and operator fees of rollups;
        /// NULL if the source had no receipts.
        transaction_fees: Option<U256>,
        /// Wei: the part of transaction_fees above the base fee, 0 before London; NULL if the source had no receipts.
        priority_fees: Option<U256>,
        /// Wei of transaction_fees that were burnt, 0 before London; NULL where that is not known.
        burnt_fees: Option<U256>,
        /// JSON object of the fields that no column has; empty if there are none.
        extra_fields: Bytes,
        /// Columns that the source did not have; their values here mean nothing.
        lacking: Vec<String>,
    }
}

table! {
    /// The height of a block by its hash.
    pub struct BlockByHashRow / BlockByHashView / BlockByHashBuilder in "blocks_by_hash" {
        /// First eight bytes of the block hash, big-endian.
        hash_prefix: u64,
        /// Height of the block.
        block_number: u64,
    }
}
