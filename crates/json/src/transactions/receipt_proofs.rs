//! Proofs that a receipt is one of a block (docs/reference/http-contract.md#proofs).

use crate::{JsonWriter, Object};
use trawl_core::primitives::{B256, BlockNumber, Bytes};

/// A receipt, and its path in the trie whose root is in the header of its block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceiptProof {
    /// Height of the block.
    pub block_number: BlockNumber,
    /// Keccak-256 of `header`.
    pub block_hash: B256,
    /// The header in RLP.
    pub header: Bytes,
    /// Root of the trie, which the header names.
    pub receipts_root: B256,
    /// Position of the transaction in the block.
    pub transaction_index: u32,
    /// The position in RLP: the key in the trie.
    pub key: Bytes,
    /// The nodes from the root to the receipt, each in RLP.
    pub nodes: Vec<Bytes>,
    /// The value in the trie: the receipt as EIP-2718 encodes it.
    pub receipt: Bytes,
    /// Position in the block of the first log that this receipt or a later one has.
    pub first_log_index: u64,
}

impl ReceiptProof {
    /// Writes the proof with the names of REST.
    pub fn write_rest(&self, writer: &mut JsonWriter) {
        writer.object(|proof| {
            proof.key("block_number").number(self.block_number);
            proof.key("block_hash").hex(self.block_hash.as_slice());
            proof.key("header").hex(&self.header);
            proof.key("receipts_root").hex(self.receipts_root.as_slice());
            proof.key("transaction_index").number(self.transaction_index.into());
            proof.key("first_log_index").number(self.first_log_index);
            self.write_path(proof);
        });
    }

    /// Writes the proof with the names of JSON-RPC.
    pub fn write_rpc(&self, writer: &mut JsonWriter) {
        writer.object(|proof| {
            proof.key("blockNumber").quantity(self.block_number);
            proof.key("blockHash").hex(self.block_hash.as_slice());
            proof.key("header").hex(&self.header);
            proof.key("receiptsRoot").hex(self.receipts_root.as_slice());
            proof.key("transactionIndex").quantity(self.transaction_index.into());
            proof.key("firstLogIndex").quantity(self.first_log_index);
            self.write_path(proof);
        });
    }

    fn write_path(&self, proof: &mut Object<'_>) {
        proof.key("key").hex(&self.key);
        proof.key("receipt").hex(&self.receipt);
        proof.key("proof").array(|nodes| self.nodes.iter().for_each(|node| nodes.item().hex(node)));
    }
}
