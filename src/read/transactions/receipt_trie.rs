//! The receipts of a block put together again as they were hashed, and the path of one of them. Pure.
//!
//! Yellow paper, sections 4.3 and 4.3.1 and appendix D; EIP-658, EIP-2718. Encoded and hashed by alloy.

use alloy_consensus::{Eip658Value, Header, Receipt, ReceiptEnvelope, TxType};
use alloy_eips::eip2718::Encodable2718;
use alloy_primitives::{B256, Bloom, Bytes, Log, LogData, keccak256};
use alloy_trie::proof::ProofRetainer;
use alloy_trie::root::adjust_index_for_rlp;
use alloy_trie::{HashBuilder, Nibbles};

use trawl_core::schema::BlockRow;
use trawl_query::transactions::receipts::{ReceiptLog, ReceiptOutcome};

/// Why something cannot be put together, in words for the client.
pub(crate) type Reason = String;

/// The header in the shape that is hashed.
pub(crate) fn header(block: &BlockRow) -> Result<Header, Reason> {
    if block.mix_hash.is_none() || block.nonce.is_none() {
        return Err("its header has no mix hash or no nonce".into());
    }
    given_header(block)
}

/// The same of a header that may have neither mix hash nor nonce: zero stands for them.
pub(crate) fn given_header(block: &BlockRow) -> Result<Header, Reason> {
    let base_fee_per_gas = block.base_fee_per_gas.map(u64::try_from).transpose();
    Ok(Header {
        parent_hash: block.parent_hash,
        ommers_hash: block.sha3_uncles,
        beneficiary: block.miner,
        state_root: block.state_root,
        transactions_root: block.transactions_root,
        receipts_root: block.receipts_root,
        logs_bloom: Bloom(block.logs_bloom),
        difficulty: block.difficulty,
        number: block.block_number,
        gas_limit: block.gas_limit,
        gas_used: block.gas_used,
        timestamp: block.timestamp.seconds(),
        extra_data: block.extra_data.clone(),
        mix_hash: block.mix_hash.unwrap_or_default(),
        nonce: block.nonce.unwrap_or_default(),
        base_fee_per_gas: base_fee_per_gas.map_err(|_| "its base fee has more than 64 bits")?,
        withdrawals_root: block.withdrawals_root,
        blob_gas_used: block.blob_gas_used,
        excess_blob_gas: block.excess_blob_gas,
        parent_beacon_block_root: block.parent_beacon_block_root,
        requests_hash: block.requests_hash,
        ..Header::default()
    })
}

/// The header, which hashes to the hash of the block.
pub(crate) fn hashed(block: &BlockRow) -> Result<Header, Reason> {
    let header = header(block)?;
    let found: B256 = keccak256(alloy_rlp::encode(&header));
    if found != block.hash {
        return Err(format!("what is indexed of its header has the hash {found}, and not its own"));
    }
    Ok(header)
}

/// A receipt as it stands in the trie.
pub(crate) fn encoded(outcome: &ReceiptOutcome, logs: Vec<Log>) -> Result<Vec<u8>, Reason> {
    let index = outcome.transaction_index;
    let kind = TxType::try_from(outcome.transaction_type)
        .map_err(|_| format!("the hash of receipts of type {} is unknown", outcome.transaction_type))?;
    let status = match (outcome.status, outcome.post_state_root) {
        (Some(status), _) => Eip658Value::Eip658(status == 1),
        (None, Some(root)) => Eip658Value::PostState(root),
        (None, None) => return Err(format!("the receipt of transaction {index} has neither status nor root")),
    };
    if logs.len() != outcome.logs_count as usize {
        return Err(format!("{} of {} logs of transaction {index} are indexed", logs.len(), outcome.logs_count));
    }
    let receipt = Receipt { status, cumulative_gas_used: outcome.cumulative_gas_used, logs };
    let envelope: ReceiptEnvelope = ReceiptEnvelope::from_typed(kind, receipt.with_bloom());
    Ok(envelope.encoded_2718())
}

/// A log as it was hashed.
pub(crate) fn log(row: ReceiptLog) -> Log {
    let topics = [row.topic0, row.topic1, row.topic2, row.topic3];
    let topics = topics.into_iter().take(row.topics_count.into()).collect();
    Log { address: row.address, data: LogData::new_unchecked(topics, row.data) }
}

/// A path in the trie.
pub(crate) struct Path {
    /// Root of the trie.
    pub root: B256,
    /// Position of the value in RLP.
    pub key: Bytes,
    /// The nodes from the root on.
    pub nodes: Vec<Bytes>,
}

/// The trie over `values` by position, and the path of the value at `position`.
pub(crate) fn path(values: &[Vec<u8>], position: usize) -> Path {
    let key = |position: usize| alloy_rlp::encode_fixed_size(&position);
    let retainer = ProofRetainer::new(vec![Nibbles::unpack(key(position))]);
    let mut builder = HashBuilder::default().with_proof_retainer(retainer);
    for position in 0..values.len() {
        let position = adjust_index_for_rlp(position, values.len());
        builder.add_leaf(Nibbles::unpack(key(position)), &values[position]);
    }
    let root = builder.root();
    let nodes = builder.take_proof_nodes().into_nodes_sorted().into_iter().map(|(_, node)| node).collect();
    Path { root, key: Bytes::copy_from_slice(&key(position)), nodes }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloy_trie::proof::verify_proof;

    #[test]
    fn each_value_has_a_path_to_the_root() {
        for count in [1, 2, 17, 127, 128, 129, 300] {
            let values: Vec<Vec<u8>> = (0..count).map(|value: u32| value.to_be_bytes().repeat(20)).collect();
            let root = alloy_trie::root::ordered_trie_root_encoded(&values);
            for position in 0..values.len() {
                let path = path(&values, position);
                assert_eq!(path.root, root);
                let key = Nibbles::unpack(&path.key);
                assert!(verify_proof(root, key, Some(values[position].clone()), &path.nodes).is_ok(), "{position}");
                assert!(verify_proof(root, key, Some(vec![1]), &path.nodes).is_err(), "{position}");
            }
        }
    }
}
