//! Rows of block, transaction, receipt and log tables become one block. Pure.
//!
//! cryo and ethereum-etl name the same facts nearly alike, so there is one list of names. What no column holds but the
//! rules of the chain leave no doubt about (a transaction of type 0 has no access list) is filled in; all else that is
//! not there is named as lacking.

mod blocks;
mod error;
mod transactions;

use trawl_core::primitives::B256;

pub use blocks::BlockFacts;
pub use error::AssembleError;
pub use transactions::{Outcome, PlacedLog, log, outcome, transaction};

use crate::block::{Block, Receipt, Transaction};

/// All rows of one block, in any order.
pub struct AssembledBlock {
    /// The block's own row.
    pub block: BlockFacts,
    /// Its transactions, with the hash of the block they name.
    pub transactions: Vec<(Transaction, Option<B256>)>,
    /// Outcomes of its transactions; `None` if the source has none for this block.
    pub outcomes: Option<Vec<Outcome>>,
    /// Its logs; `None` if the source has none for this block.
    pub logs: Option<Vec<PlacedLog>>,
}

impl AssembledBlock {
    /// The block, or the error of these rows.
    pub fn into_block(self) -> Result<Block, AssembleError> {
        let Self { block, mut transactions, outcomes, logs } = self;
        let (found, hash) = (transactions.len(), block.header.hash);
        if let Some(expected) = block.transactions_count.filter(|expected| *expected != found as u64) {
            return Err(AssembleError::TransactionCount { expected, found });
        }
        transactions.sort_by_key(|(transaction, _)| transaction.index);
        for (transaction, named) in &transactions {
            same(|| format!("transaction {}", transaction.index), hash, *named)?;
        }
        let mut transactions: Vec<Transaction> = transactions.into_iter().map(|(transaction, _)| transaction).collect();
        let receipts = match (outcomes, logs) {
            (Some(outcomes), Some(logs)) => Some(receipts(&block, &mut transactions, outcomes, logs)?),
            _ => None,
        };
        Ok(block.with(transactions, receipts))
    }
}

/// Checks the hash in a row, if it has one.
fn same(what: impl Fn() -> String, expected: B256, found: Option<B256>) -> Result<(), AssembleError> {
    match found {
        Some(found) if found != expected => Err(AssembleError::Stranger { what: what(), expected, found }),
        _ => Ok(()),
    }
}

/// Outcomes and logs joined; what the outcomes lack is added to their transactions.
fn receipts(
    block: &BlockFacts,
    transactions: &mut [Transaction],
    mut outcomes: Vec<Outcome>,
    mut logs: Vec<PlacedLog>,
) -> Result<Vec<Receipt>, AssembleError> {
    if outcomes.len() != transactions.len() {
        return Err(AssembleError::ReceiptCount { expected: transactions.len(), found: outcomes.len() });
    }
    outcomes.sort_by_key(|outcome| outcome.index);
    logs.sort_by_key(|log| log.log.index);
    let mut cumulative = 0_u64;
    let mut receipts = Vec::with_capacity(outcomes.len());
    for (transaction, mut outcome) in transactions.iter_mut().zip(outcomes) {
        cumulative = cumulative.saturating_add(outcome.receipt.gas_used);
        if !outcome.has_cumulative_gas {
            outcome.receipt.cumulative_gas_used = cumulative;
            // Without the block's own figure nothing proves that no transaction is missing before this one.
            if block.header.lacking.contains(&"gas_used") {
                outcome.lacking.push("cumulative_gas_used");
            }
        }
        transaction.lacking.extend(outcome.lacking);
        receipts.push(outcome.receipt);
    }
    for PlacedLog { transaction_index, transaction_hash, block_hash, log } in logs {
        let count = receipts.len();
        let Some(receipt) = receipts.get_mut(transaction_index as usize) else {
            return Err(AssembleError::LogOfNothing { index: transaction_index, count });
        };
        same(|| format!("log {}", log.index), receipt.transaction_hash, transaction_hash)?;
        same(|| format!("log {}", log.index), block.header.hash, block_hash)?;
        receipt.logs.push(log);
    }
    Ok(receipts)
}
