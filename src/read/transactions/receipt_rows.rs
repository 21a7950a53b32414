//! The rows of the receipts of a block, put together as they were hashed.

use std::collections::BTreeMap;

use alloy_consensus::EMPTY_ROOT_HASH;
use alloy_primitives::Log;
use alloy_trie::root::ordered_trie_root_encoded;

use super::receipt_trie;
use super::receipt_trie::Reason;
use crate::app::App;
use crate::error::Problem;
use crate::read::completeness::require_part;
use trawl_core::primitives::{B256, BlockNumber};
use trawl_core::schema::{BlockPart, BlockRow};
use trawl_core::store::Head;
use trawl_query::transactions::receipts::{ReceiptOutcome, logs_of_block, of_block};

/// Most transactions of a block whose receipts are put together.
pub(crate) const MAX_TRANSACTIONS: u64 = 20_000;
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
    /// The receipts of a block in the bytes that were hashed, in order.
    ///
    /// # Errors
    ///
    /// As those of a proof, with [`Problem::NotEncodable`].
    pub(crate) async fn encoded_receipts(&self, head: &Head, number: BlockNumber) -> Result<Vec<Vec<u8>>, Problem> {
        let rows = self.receipt_rows(head, number).await?;
        let encoded = self.compute(move || rows?.verified()).await?;
        encoded.map_err(|reason| Problem::NotEncodable(number, reason))
    }

    /// Everything of a block that its receipts are put together from.
    ///
    /// # Errors
    ///
    /// [`Problem::PartMissing`] without the receipts; when the block is not readable; or when the store fails.
    pub(crate) async fn receipt_rows(
        &self,
        head: &Head,
        number: BlockNumber,
    ) -> Result<Result<ReceiptRows, Reason>, Problem> {
        require_part(head, BlockPart::Receipts, number)?;
        let block = self.block_at(number, head).await?.ok_or(Problem::BlockNotFound)?;
        let block: BlockRow = block.rows().next().ok_or(Problem::BlockNotFound)?;
        if let Err(reason) = require_header(&block) {
            return Ok(Err(reason));
        }
        let _position = self.limits().proofs.enter().await?;
        let span = head.receipts.at(number);
        let outcomes = self.reader().rows(&of_block(&span, MAX_TRANSACTIONS + 1)).await?;
        if outcomes.len() as u64 > MAX_TRANSACTIONS {
            return Ok(Err(format!("it has more than {MAX_TRANSACTIONS} transactions")));
        }
        let mut logs: BTreeMap<u32, Vec<Log>> = BTreeMap::new();
        let mut bytes = 0;
        let mut rows = self.reader().stream(&logs_of_block(&span, (MAX_LOG_BYTES / BYTES_OF_LOG) as u64 + 1)).await?;
        while let Some(batch) = rows.next().await? {
            for row in batch.rows() {
                bytes += row.data.len() + BYTES_OF_LOG;
                if bytes > MAX_LOG_BYTES {
                    return Ok(Err(format!("it has more than {} MiB of logs", MAX_LOG_BYTES >> 20)));
                }
                logs.entry(row.transaction_index).or_default().push(receipt_trie::log(row));
            }
        }
        Ok(Ok(ReceiptRows { block, outcomes, logs }))
    }
}

/// Refuses what a source did not have, where it is `needed`.
fn lacks(lacking: &[String], needed: impl Fn(&str) -> bool) -> Result<(), Reason> {
    let columns: Vec<&str> = lacking.iter().map(String::as_str).filter(|column| needed(column)).collect();
    if columns.is_empty() { Ok(()) } else { Err(format!("it is indexed without {}", columns.join(", "))) }
}

/// Refuses a row that lacks a column of the header.
pub(crate) fn require_header(block: &BlockRow) -> Result<(), Reason> {
    lacks(&block.lacking, |column| !NOT_HASHED.contains(&column))
}

/// The rows of the receipts of a block, and of its header.
pub(crate) struct ReceiptRows {
    /// Row of the block in `blocks`.
    pub block: BlockRow,
    /// Its receipts without their logs, in order.
    pub outcomes: Vec<ReceiptOutcome>,
    logs: BTreeMap<u32, Vec<Log>>,
}

impl ReceiptRows {
    /// The receipts put together in order.
    pub fn encoded(&mut self) -> Result<Vec<Vec<u8>>, Reason> {
        let (block, outcomes) = (&self.block, &self.outcomes);
        if outcomes.len() != block.transactions_count as usize {
            return Err(format!("{} of {} receipts are indexed", outcomes.len(), block.transactions_count));
        }
        if outcomes.iter().zip(0..).any(|(outcome, position)| outcome.transaction_index != position) {
            return Err("the positions of its transactions have gaps or do not start at 0".into());
        }
        let mut values = Vec::with_capacity(outcomes.len());
        for outcome in outcomes {
            lacks(&outcome.lacking, |column| HASHED.contains(&column))?;
            if outcome.has_receipt == 0 {
                return Err(format!("the receipt of transaction {} is not indexed", outcome.transaction_index));
            }
            let logs = self.logs.remove(&outcome.transaction_index).unwrap_or_default();
            values.push(receipt_trie::encoded(outcome, logs)?);
        }
        Ok(values)
    }

    /// The receipts, which hash to what the header says.
    fn verified(mut self) -> Result<Vec<Vec<u8>>, Reason> {
        receipt_trie::hashed(&self.block)?;
        let values = self.encoded()?;
        let root = if values.is_empty() { EMPTY_ROOT_HASH } else { ordered_trie_root_encoded(&values) };
        require_root(root, self.block.receipts_root)?;
        Ok(values)
    }
}

/// Refuses receipts with another root than the header says.
pub(crate) fn require_root(found: B256, expected: B256) -> Result<(), Reason> {
    if found == expected {
        return Ok(());
    }
    Err(format!("what is indexed of its receipts has the root {found}, and its header says {expected}"))
}
