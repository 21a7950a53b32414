//! The packed parts of a block to a block. Senders are recovered from signatures; hashes are computed.

use std::io::{self, Read};

use alloy_consensus::transaction::SignerRecoverable;
use alloy_consensus::{Eip658Value, Header as RlpHeader, ReceiptEnvelope, Transaction as _, TxEnvelope, Typed2718};
use alloy_primitives::keccak256;
use alloy_rlp::{Decodable, Encodable, Header as RlpHead};
use trawl_core::primitives::{B256, TransactionType, U256};
use trawl_core::schema::AccessListItem;

use crate::block::{Block, Header, Log, Receipt, Transaction};

/// Bytes of a part unpacked, at most.
const MAX_PART: u64 = 256 << 20;

/// Bytes that are not a block.
#[derive(Debug, thiserror::Error)]
pub enum DecodeError {
    #[error("snappy frames that cannot be unpacked: {0}")]
    Snappy(io::Error),
    #[error("a part of more than {MAX_PART} bytes")]
    TooLong,
    #[error("{what} that is no RLP: {cause}")]
    Rlp { what: &'static str, cause: alloy_rlp::Error },
    #[error("transaction {0} has an invalid signature")]
    Signature(usize),
    #[error("{receipts} receipts for {transactions} transactions")]
    Receipts { transactions: usize, receipts: usize },
    #[error("a transaction or receipt of type {0}, which is after the merge")]
    Type(u8),
}

/// A block as the archive holds it.
pub struct ArchivedBlock {
    pub number: u64,
    pub header: Vec<u8>,
    pub body: Vec<u8>,
    pub receipts: Vec<u8>,
    pub total_difficulty: U256,
}

/// Unpacks snappy frames.
pub fn unpacked(data: &[u8]) -> Result<Vec<u8>, DecodeError> {
    let mut bytes = Vec::new();
    snap::read::FrameDecoder::new(data).take(MAX_PART + 1).read_to_end(&mut bytes).map_err(DecodeError::Snappy)?;
    if bytes.len() as u64 > MAX_PART {
        return Err(DecodeError::TooLong);
    }
    Ok(bytes)
}

/// Reads one RLP item that fills `bytes`.
fn whole<T: Decodable>(what: &'static str, mut bytes: &[u8]) -> Result<T, DecodeError> {
    let rlp = |cause| DecodeError::Rlp { what, cause };
    let item = T::decode(&mut bytes).map_err(rlp)?;
    if bytes.is_empty() { Ok(item) } else { Err(rlp(alloy_rlp::Error::UnexpectedLength)) }
}

/// Reads a header.
pub fn header(bytes: &[u8]) -> Result<RlpHeader, DecodeError> {
    whole("a header", bytes)
}

/// A body before the merge.
struct Body {
    transactions: Vec<TxEnvelope>,
    uncles: Vec<RlpHeader>,
}

impl Decodable for Body {
    fn decode(bytes: &mut &[u8]) -> alloy_rlp::Result<Self> {
        let mut payload = RlpHead::decode_bytes(bytes, true)?;
        let body = Self { transactions: Vec::decode(&mut payload)?, uncles: Vec::decode(&mut payload)? };
        if payload.is_empty() { Ok(body) } else { Err(alloy_rlp::Error::UnexpectedLength) }
    }
}

impl ArchivedBlock {
    /// The block, whole.
    pub fn decode(&self) -> Result<Block, DecodeError> {
        let (header_bytes, body_bytes) = (unpacked(&self.header)?, unpacked(&self.body)?);
        let rlp_header = header(&header_bytes)?;
        let body: Body = whole("a body", &body_bytes)?;
        let receipts: Vec<ReceiptEnvelope> = whole("a list of receipts", &unpacked(&self.receipts)?)?;
        if receipts.len() != body.transactions.len() {
            let transactions = body.transactions.len();
            return Err(DecodeError::Receipts { transactions, receipts: receipts.len() });
        }
        // The RLP of a block is that of its body with the header before the rest of the list.
        let size = header_bytes.len() + payload_length(&body_bytes)?;
        let base_fee = rlp_header.base_fee_per_gas;
        let transactions: Vec<Transaction> = (0_u32..)
            .zip(&body.transactions)
            .map(|(index, envelope)| transaction(index, envelope, base_fee))
            .collect::<Result<_, _>>()?;
        let header = described(rlp_header, keccak256(&header_bytes), list_length(size));
        let receipts = with_logs(&header, &transactions, &receipts)?;
        let uncles: Vec<Header> = body.uncles.into_iter().map(uncle).collect();
        Ok(Block {
            total_difficulty: Some(self.total_difficulty),
            uncle_hashes: Some(uncles.iter().map(|uncle| uncle.hash).collect()),
            uncles: Some(uncles),
            transactions,
            receipts: Some(receipts),
            block_receipt: None,
            withdrawals: Some(Vec::new()),
            state: None,
            traces: None,
            // Text has two digits a byte.
            source_bytes: 2 * (header_bytes.len() + body_bytes.len()) + 4 * self.receipts.len(),
            header,
        })
    }
}

fn payload_length(mut list: &[u8]) -> Result<usize, DecodeError> {
    let payload = RlpHead::decode_bytes(&mut list, true);
    payload.map(<[u8]>::len).map_err(|cause| DecodeError::Rlp { what: "a body", cause })
}

/// Bytes of an RLP list with a payload of `payload` bytes.
fn list_length(payload: usize) -> u64 {
    (RlpHead { list: true, payload_length: payload }.length() + payload) as u64
}

/// An uncle; its size is that of a block which has only this header, as nodes report it.
fn uncle(header: RlpHeader) -> Header {
    let mut bytes = Vec::new();
    header.encode(&mut bytes);
    let size = list_length(bytes.len() + 2);
    described(header, keccak256(&bytes), size)
}

fn described(header: RlpHeader, hash: B256, size: u64) -> Header {
    Header {
        number: header.number,
        hash,
        parent_hash: header.parent_hash,
        sha3_uncles: header.ommers_hash,
        miner: header.beneficiary,
        state_root: header.state_root,
        transactions_root: header.transactions_root,
        receipts_root: header.receipts_root,
        logs_bloom: header.logs_bloom.0,
        difficulty: header.difficulty,
        gas_limit: header.gas_limit,
        gas_used: header.gas_used,
        timestamp: header.timestamp,
        extra_data: header.extra_data,
        mix_hash: Some(header.mix_hash),
        nonce: Some(header.nonce),
        base_fee_per_gas: header.base_fee_per_gas.map(U256::from),
        withdrawals_root: header.withdrawals_root,
        blob_gas_used: header.blob_gas_used,
        excess_blob_gas: header.excess_blob_gas,
        parent_beacon_block_root: header.parent_beacon_block_root,
        requests_hash: header.requests_hash,
        size: Some(size),
        extra: None,
        lacking: Vec::new(),
    }
}

fn transaction(index: u32, envelope: &TxEnvelope, base_fee: Option<u64>) -> Result<Transaction, DecodeError> {
    let kind = TransactionType::from(envelope.ty());
    let is_dynamic = kind == TransactionType::DynamicFee;
    if !is_dynamic && !matches!(kind, TransactionType::Legacy | TransactionType::AccessList) {
        return Err(DecodeError::Type(kind.byte()));
    }
    // Before Homestead both forms of a signature were valid.
    let from = envelope.recover_signer_unchecked().map_err(|_| DecodeError::Signature(index as usize))?;
    let signature = envelope.signature();
    let parity = u64::from(signature.v());
    let v = match (kind, envelope.chain_id()) {
        (TransactionType::Legacy, Some(chain_id)) => U256::from(chain_id) * U256::from(2) + U256::from(35 + parity),
        (TransactionType::Legacy, None) => U256::from(27 + parity),
        _ => U256::from(parity),
    };
    Ok(Transaction {
        hash: *envelope.tx_hash(),
        index,
        transaction_type: kind,
        from,
        to: envelope.to(),
        nonce: envelope.nonce(),
        value: envelope.value(),
        gas: envelope.gas_limit(),
        gas_price: Some(U256::from(envelope.effective_gas_price(base_fee))),
        max_fee_per_gas: is_dynamic.then(|| U256::from(envelope.max_fee_per_gas())),
        max_priority_fee_per_gas: envelope.max_priority_fee_per_gas().map(U256::from),
        max_fee_per_blob_gas: None,
        input: envelope.input().clone(),
        chain_id: envelope.chain_id(),
        access_list: envelope
            .access_list()
            .into_iter()
            .flat_map(|list| &list.0)
            .map(|item| AccessListItem { address: item.address, storage_keys: item.storage_keys.clone() })
            .collect(),
        blob_versioned_hashes: Vec::new(),
        authorization_list: Vec::new(),
        v,
        r: signature.r(),
        s: signature.s(),
        raw: None,
        extra: None,
        lacking: Vec::new(),
    })
}

/// Receipts with the facts that follow from their position in the block.
fn with_logs(
    header: &Header,
    transactions: &[Transaction],
    receipts: &[ReceiptEnvelope],
) -> Result<Vec<Receipt>, DecodeError> {
    let (mut cumulative, mut next_log) = (0, 0..);
    let mut described = Vec::with_capacity(receipts.len());
    for (transaction, envelope) in transactions.iter().zip(receipts) {
        let receipt = envelope.as_receipt_with_bloom().ok_or(DecodeError::Type(envelope.ty()))?;
        let (status, root) = match receipt.receipt.status {
            Eip658Value::Eip658(status) => (Some(u8::from(status)), None),
            Eip658Value::PostState(root) => (None, Some(root)),
        };
        let before = std::mem::replace(&mut cumulative, receipt.receipt.cumulative_gas_used);
        let logs = receipt.receipt.logs.iter().zip(&mut next_log);
        described.push(Receipt {
            transaction_hash: transaction.hash,
            block_hash: Some(header.hash),
            status,
            root,
            cumulative_gas_used: cumulative,
            // A sum that falls is refused with its block: the checks find it unequal to what is counted.
            gas_used: cumulative.saturating_sub(before),
            effective_gas_price: transaction.gas_price,
            contract_address: transaction.to.is_none().then(|| transaction.from.create(transaction.nonce)),
            logs_bloom: Some(receipt.logs_bloom.0),
            blob_gas_used: None,
            blob_gas_price: None,
            logs: logs
                .map(|(log, index)| Log {
                    address: log.address,
                    topics: log.data.topics().to_vec(),
                    data: log.data.data.clone(),
                    index,
                })
                .collect(),
            raw: None,
            extra: None,
        });
    }
    Ok(described)
}
