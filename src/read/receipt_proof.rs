//! Proofs that a receipt is one of a block, from the rows of all receipts of the block.
//!
//! A proof is given out only after what was read hashes to what the header says, and the header to the hash of its block: a
//! client never gets one that cannot be verified.

use std::collections::BTreeMap;

use alloy_consensus::Header;
use alloy_primitives::{Log, keccak256};

use super::receipt_trie::{self, Reason};
use crate::app::App;
use crate::error::Problem;
use trawl_core::primitives::{B256, BlockNumber};
use trawl_core::schema::BlockRow;
use trawl_core::store::Head;
use trawl_json::receipt_proofs::ReceiptProof;
use trawl_query::receipts::{ReceiptOutcome, logs_of_block, of_block};

/// Most transactions of a block whose receipts are put together.
const MAX_TRANSACTIONS: u64 = 20_000;
/// Most bytes of their logs: twice what fits in 60 million gas.
const MAX_LOG_BYTES: usize = 16 << 20;
/// What a log takes besides its data.
const BYTES_OF_LOG: usize = 256;

/// Columns of `blocks` that are not hashed.
const NOT_HASHED: [&str; 9] = [
    "total_difficulty",
    "size",
    "uncles",
    "blob_transactions_count",
    "withdrawals_count",
    "logs_count",
    "transaction_fees",
    "priority_fees",
    "transactions_count",
];
/// Columns of `transactions` that are hashed in receipts.
const HASHED: [&str; 5] = ["transaction_type", "status", "post_state_root", "cumulative_gas_used", "logs_count"];

impl App {
    /// The proof of the receipt at a place.
    ///
    /// # Errors
    ///
    /// [`Problem::PartMissing`] without the receipts of the block, [`Problem::NotProvable`] where the rows are not enough to
    /// hash them as the chain did, or do not hash to what the header says; or when the store fails.
    pub(crate) async fn receipt_proof(
        &self,
        head: &Head,
        (number, index): (BlockNumber, u32),
    ) -> Result<ReceiptProof, Problem> {
        if !head.receipts.contains(number) {
            return Err(Problem::PartMissing { part: "Receipts", block: number });
        }
        let block = self.block_at(number, head).await?.ok_or(Problem::BlockNotFound)?;
        let block: BlockRow = block.rows().next().ok_or(Problem::BlockNotFound)?;
        let not_provable = |reason| Problem::NotProvable { block: number, reason };
        lacks(&block.lacking, |column| !NOT_HASHED.contains(&column)).map_err(not_provable)?;
        let _place = self.limits().proofs.enter().await?;
        let span = head.receipts.at(number);
        let outcomes = self.reader().rows(&of_block(&span, MAX_TRANSACTIONS + 1)).await?;
        if outcomes.len() as u64 > MAX_TRANSACTIONS {
            return Err(not_provable(format!("it has more than {MAX_TRANSACTIONS} transactions")));
        }
        let mut logs: BTreeMap<u32, Vec<Log>> = BTreeMap::new();
        let mut bytes = 0;
        let mut rows = self.reader().stream(&logs_of_block(&span, (MAX_LOG_BYTES / BYTES_OF_LOG) as u64 + 1)).await?;
        while let Some(batch) = rows.next().await? {
            for row in batch.rows() {
                bytes += row.data.len() + BYTES_OF_LOG;
                if bytes > MAX_LOG_BYTES {
                    return Err(not_provable(format!("it has more than {} MiB of logs", MAX_LOG_BYTES >> 20)));
                }
                logs.entry(row.transaction_index).or_default().push(receipt_trie::log(row));
            }
        }
        self.compute(move || prove(&block, &outcomes, logs, index)).await?.map_err(not_provable)
    }
}

/// Refuses what a source did not have, where it is `needed`.
fn lacks(lacking: &[String], needed: impl Fn(&str) -> bool) -> Result<(), Reason> {
    let columns: Vec<&str> = lacking.iter().map(String::as_str).filter(|column| needed(column)).collect();
    if columns.is_empty() { Ok(()) } else { Err(format!("it is indexed without {}", columns.join(", "))) }
}

/// Puts the receipts together, and compares them with the header, and that with the hash of the block.
fn prove(
    block: &BlockRow,
    outcomes: &[ReceiptOutcome],
    mut logs: BTreeMap<u32, Vec<Log>>,
    index: u32,
) -> Result<ReceiptProof, Reason> {
    let header = hashed(block)?;
    if outcomes.len() != block.transactions_count as usize {
        return Err(format!("{} of {} receipts are indexed", outcomes.len(), block.transactions_count));
    }
    if outcomes.iter().zip(0..).any(|(outcome, place)| outcome.transaction_index != place) {
        return Err("its transactions do not stand at the places from 0 on".into());
    }
    let mut values = Vec::with_capacity(outcomes.len());
    let mut first_log_index = 0;
    for outcome in outcomes {
        lacks(&outcome.lacking, |column| HASHED.contains(&column))?;
        if outcome.has_receipt == 0 {
            return Err(format!("the receipt of transaction {} is not indexed", outcome.transaction_index));
        }
        if outcome.transaction_index < index {
            first_log_index += u64::from(outcome.logs_count);
        }
        let logs = logs.remove(&outcome.transaction_index).unwrap_or_default();
        values.push(receipt_trie::encoded(outcome, logs)?);
    }
    let position = index as usize;
    if position >= values.len() {
        return Err(format!("it has no transaction {index}"));
    }
    let path = receipt_trie::path(&values, position);
    if path.root != block.receipts_root {
        let told = block.receipts_root;
        return Err(format!("what is indexed of its receipts has the root {}, and its header says {told}", path.root));
    }
    Ok(ReceiptProof {
        block_number: block.block_number,
        block_hash: block.hash,
        header: alloy_rlp::encode(&header).into(),
        receipts_root: path.root,
        transaction_index: index,
        key: path.key,
        nodes: path.nodes,
        receipt: values.swap_remove(position).into(),
        first_log_index,
    })
}

/// The header, which hashes to the hash of the block.
fn hashed(block: &BlockRow) -> Result<Header, Reason> {
    let header = receipt_trie::header(block)?;
    let found: B256 = keccak256(alloy_rlp::encode(&header));
    if found != block.hash {
        return Err(format!("what is indexed of its header has the hash {found}, and not its own"));
    }
    Ok(header)
}
