//! Roots, bloom and length of a simulated block.

use alloy_consensus::{Eip658Value, Header, Receipt, ReceiptEnvelope, TxType};
use alloy_eips::eip2718::Encodable2718;
use alloy_eips::eip4895::Withdrawal;
use alloy_primitives::{Bloom, Log};
use alloy_rlp::Encodable;
use alloy_trie::root::{ordered_trie_root, ordered_trie_root_encoded};

use super::outcome::CallOutcome;
use super::transaction::Envelope;

/// Transactions and receipts of a block.
#[derive(Debug, Default)]
pub(super) struct Body {
    pub transactions: Vec<Envelope>,
    receipts: Vec<Vec<u8>>,
    bloom: Bloom,
    gas_used: u64,
    blob_gas_used: u64,
}

impl Body {
    /// Adds a transaction with its receipt.
    pub fn add(&mut self, envelope: Envelope, outcome: &CallOutcome, logs: Vec<Log>) {
        self.gas_used += outcome.gas_used;
        self.blob_gas_used += envelope.call.blob_hashes.len() as u64 * alloy_eips::eip4844::DATA_GAS_PER_BLOB;
        let status = Eip658Value::Eip658(outcome.failure.is_none());
        let receipt = Receipt { status, cumulative_gas_used: self.gas_used, logs };
        let receipt = receipt.with_bloom();
        self.bloom |= receipt.logs_bloom;
        self.receipts.push(ReceiptEnvelope::from_typed(envelope.kind, receipt).encoded_2718());
        self.transactions.push(envelope);
    }

    /// Completes a header by what it says of the body.
    pub fn complete(&self, header: &mut Header, withdrawals: &[Withdrawal]) {
        let bodies: Vec<&[u8]> = self.transactions.iter().map(|envelope| envelope.bytes.as_slice()).collect();
        header.transactions_root = ordered_trie_root_encoded(&bodies);
        header.receipts_root = ordered_trie_root_encoded(&self.receipts);
        header.logs_bloom = self.bloom;
        header.gas_used = self.gas_used;
        if header.withdrawals_root.is_some() {
            header.withdrawals_root = Some(ordered_trie_root(withdrawals));
        }
        if header.excess_blob_gas.is_some() {
            header.blob_gas_used = Some(self.blob_gas_used);
        }
    }

    /// The length of the block.
    pub fn size(&self, header: &Header, withdrawals: Option<&[Withdrawal]>) -> u64 {
        let of_transaction = |envelope: &Envelope| match envelope.kind {
            TxType::Legacy => envelope.bytes.len(),
            // Those with a type are strings.
            _ => envelope.bytes.as_slice().length(),
        };
        let transactions = self.transactions.iter().map(of_transaction).sum();
        let uncles = list_length(0);
        let withdrawals = withdrawals.map_or(0, |all| all.to_vec().length());
        list_length(header.length() + list_length(transactions) + uncles + withdrawals) as u64
    }
}

fn list_length(payload_length: usize) -> usize {
    alloy_rlp::Header { list: true, payload_length }.length_with_payload()
}
