//! Whether the parts of a block fit each other, without recomputing a hash.

use trawl_chains::{Family, NodeQuirks};

use super::check::Check;
use super::outcome::{Outcome, VerifyError, refuse, same};
use crate::block::{Block, Log};

/// Checks indexes, counts, references and sums.
pub(super) fn verify_structure(block: &Block, family: &Family, outcome: &mut Outcome) -> Result<(), VerifyError> {
    for (position, transaction) in block.transactions.iter().enumerate() {
        same(block, Check::TransactionIndex, &(position as u64), &u64::from(transaction.index))?;
    }
    outcome.passed(Check::TransactionIndex);
    verify_receipts(block, family.quirks, outcome)?;
    verify_uncles(block, outcome)
}

fn verify_receipts(block: &Block, quirks: NodeQuirks, outcome: &mut Outcome) -> Result<(), VerifyError> {
    let Some(receipts) = &block.receipts else { return Ok(()) };
    let missing = missing_receipts(block, quirks);
    if missing.is_none() {
        same(block, Check::ReceiptCount, &block.transactions.len(), &receipts.len())?;
    }
    let mut cumulative: u64 = 0;
    let mut next_log = 0;
    let mut given = receipts.iter().peekable();
    for transaction in &block.transactions {
        if missing.is_some() && given.peek().is_none_or(|receipt| receipt.transaction_hash != transaction.hash) {
            continue;
        }
        let Some(receipt) = given.next() else { continue };
        same(block, Check::ReceiptTransaction, &transaction.hash, &receipt.transaction_hash)?;
        if let Some(hash) = &receipt.block_hash {
            same(block, Check::ReceiptBlock, &block.header.hash, hash)?;
        }
        // What does not fit 64 bits is refused by the comparison.
        cumulative = cumulative.wrapping_add(receipt.gas_used);
        if quirks.cumulative_gas.is_none() && missing.is_none() {
            same(block, Check::CumulativeGas, &cumulative, &receipt.cumulative_gas_used)?;
        }
        for log in &receipt.logs {
            if quirks.log_index.is_none() {
                same(block, Check::LogIndex, &next_log, &log.index)?;
            }
            verify_topics(block, log)?;
            next_log += 1;
        }
    }
    if let Some(stray) = given.next() {
        let expected = "a transaction of the block, in its order".into();
        return refuse(block, Check::ReceiptTransaction, expected, stray.transaction_hash.to_string());
    }
    outcome.passed(Check::ReceiptTransaction);
    match &missing {
        Some(reason) => outcome.not_checkable(Check::ReceiptCount, reason),
        None => outcome.passed(Check::ReceiptCount),
    }
    match quirks.log_index {
        Some(reason) => outcome.not_checkable(Check::LogIndex, reason),
        None => outcome.passed(Check::LogIndex),
    }
    if let Some(reason) = quirks.cumulative_gas.or(missing.as_deref()) {
        outcome.not_checkable(Check::CumulativeGas, reason);
        outcome.not_checkable(Check::GasUsed, reason);
        return Ok(());
    }
    if block.transactions.iter().any(|transaction| transaction.lacking.contains(&"cumulative_gas_used")) {
        outcome.not_checkable(Check::CumulativeGas, "the source has no cumulative_gas_used");
    } else {
        outcome.passed(Check::CumulativeGas);
    }
    if block.header.lacking.contains(&"gas_used") {
        outcome.not_checkable(Check::GasUsed, "the source has no gas_used of blocks");
    } else {
        same(block, Check::GasUsed, &block.header.gas_used, &cumulative)?;
        outcome.passed(Check::GasUsed);
    }
    Ok(())
}

/// Why fewer receipts than transactions are no fault, if they are fewer and it is none.
fn missing_receipts(block: &Block, quirks: NodeQuirks) -> Option<String> {
    let missing = block.missing_receipts().filter(|missing| *missing > 0)?;
    quirks.missing_receipts.map(|reason| format!("{reason}: {missing} of {} are missing", block.transactions.len()))
}

fn verify_topics(block: &Block, log: &Log) -> Result<(), VerifyError> {
    if log.topics.len() > 4 {
        return refuse(block, Check::LogTopics, "at most 4".into(), log.topics.len().to_string());
    }
    Ok(())
}

fn verify_uncles(block: &Block, outcome: &mut Outcome) -> Result<(), VerifyError> {
    let (Some(hashes), Some(uncles)) = (&block.uncle_hashes, &block.uncles) else { return Ok(()) };
    same(block, Check::UncleCount, &hashes.len(), &uncles.len())?;
    for (hash, uncle) in hashes.iter().zip(uncles) {
        same(block, Check::UncleHash, hash, &uncle.hash)?;
    }
    outcome.passed(Check::UncleCount);
    Ok(())
}
