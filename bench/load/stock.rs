//! Receipts as stock alloy knows them, and what it computes over them.

use alloy_consensus::proofs::calculate_receipt_root;
use alloy_consensus::{Eip658Value, Receipt as AlloyReceipt, ReceiptEnvelope};
use alloy_primitives::{B256, Bloom, Log, LogData};
use trawl_ingest::block::{Block, Receipt};

/// The type of a transaction and its receipt.
pub type AlloyPair = (u8, AlloyReceipt);

/// The receipts of a block.
pub fn alloy_receipts(block: &Block) -> Vec<AlloyPair> {
    let pairs = block.transactions.iter().zip(block.receipts.iter().flatten());
    pairs.map(|(transaction, receipt)| (transaction.transaction_type.byte(), alloy_receipt(receipt))).collect()
}

fn alloy_receipt(receipt: &Receipt) -> AlloyReceipt {
    let status = match (receipt.status, receipt.root) {
        (Some(status), _) => Eip658Value::Eip658(status == 1),
        (None, root) => Eip658Value::PostState(root.unwrap_or_default()),
    };
    let log = |log: &trawl_ingest::block::Log| Log {
        address: log.address,
        data: LogData::new_unchecked(log.topics.clone(), log.data.clone()),
    };
    let logs = receipt.logs.iter().map(log).collect();
    AlloyReceipt { status, cumulative_gas_used: receipt.cumulative_gas_used, logs }
}

/// What a root and a header hold of receipts.
pub struct Commitment {
    /// Root of the receipts.
    pub root: B256,
    /// Bloom filter over all logs.
    pub bloom: Bloom,
    /// Bloom filter of each receipt.
    pub blooms: Vec<Bloom>,
}

/// What alloy offers: a bloom filter for each receipt, the root over them, and the filter over all.
pub fn stock(receipts: &[AlloyPair]) -> Commitment {
    let enveloped: Vec<ReceiptEnvelope> = receipts
        .iter()
        .map(|(kind, receipt)| {
            let receipt = receipt.clone().with_bloom();
            match kind {
                0 => ReceiptEnvelope::Legacy(receipt),
                1 => ReceiptEnvelope::Eip2930(receipt),
                2 => ReceiptEnvelope::Eip1559(receipt),
                3 => ReceiptEnvelope::Eip4844(receipt),
                _ => ReceiptEnvelope::Eip7702(receipt),
            }
        })
        .collect();
    let blooms: Vec<Bloom> = enveloped.iter().map(|receipt| *receipt.logs_bloom()).collect();
    let bloom = blooms.iter().fold(Bloom::ZERO, |all, bloom| all | *bloom);
    Commitment { root: calculate_receipt_root(&enveloped), bloom, blooms }
}
