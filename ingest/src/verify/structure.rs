//! Whether the parts of a block fit each other, without recomputing a hash.

use trawl_chains::{Family, NodeQuirks};

use super::check::Check;
use super::header::hashed_access_list;
use super::membership::is_outside;
use super::outcome::{Outcome, VerifyError, refuse, same};
use super::tolerance::{Tolerance, ValuePair, same_or_noted, unknown_fork, unknown_type};
use crate::block::{Block, Log, Receipt, Transaction};

/// Checks indexes, counts, references and sums.
pub(super) fn verify_structure(block: &Block, family: &Family, outcome: &mut Outcome) -> Result<(), VerifyError> {
    for (position, transaction) in block.transactions.iter().enumerate() {
        same(block, Check::TransactionIndex, &(position as u64), &u64::from(transaction.index))?;
    }
    outcome.passed(Check::TransactionIndex);
    verify_receipts(block, family, outcome)?;
    verify_uncles(block, outcome)
}

fn verify_receipts(block: &Block, family: &Family, outcome: &mut Outcome) -> Result<(), VerifyError> {
    let Some(receipts) = &block.receipts else { return Ok(()) };
    let quirks = family.quirks;
    if let Some(stray) = block.block_receipt.as_deref().filter(|_| quirks.block_receipt.is_none()) {
        let expected = "a transaction of the block".into();
        return refuse(block, Check::ReceiptTransaction, expected, stray.transaction_hash.to_string());
    }
    let missing = missing_receipts(block, quirks);
    if missing.is_none() {
        same(block, Check::ReceiptCount, &block.transactions.len(), &receipts.len())?;
    }
    let rules = SumRules { no_gas: quirks.cumulative_gas.or(missing.as_deref()), family, no_logs: quirks.log_index };
    let mut sums = Sums::default();
    let mut given = receipts.iter().peekable();
    for (position, transaction) in block.transactions.iter().enumerate() {
        if missing.is_some() && given.peek().is_none_or(|receipt| receipt.transaction_hash != transaction.hash) {
            continue;
        }
        let Some(receipt) = given.next() else { continue };
        same(block, Check::ReceiptTransaction, &transaction.hash, &receipt.transaction_hash)?;
        if let Some(hash) = &receipt.block_hash {
            same(block, Check::ReceiptBlock, &block.header.hash, hash)?;
        }
        if !is_outside(block, position, family) {
            sums.add_gas(block, transaction, receipt, &rules, outcome)?;
        }
        sums.add_logs(block, receipt, &rules, outcome)?;
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
    if let Some(reason) = rules.no_logs {
        outcome.not_checkable(Check::LogIndex, reason);
    }
    outcome.passed_if_checkable(Check::LogIndex);
    verify_gas(block, &sums, &rules, outcome)
}

/// How gas and logs of a block are counted.
struct SumRules<'a> {
    /// Why the gas is not summed, if so.
    no_gas: Option<&'a str>,
    /// Why logs are not counted, if so.
    no_logs: Option<&'a str>,
    family: &'a Family,
}

impl SumRules<'_> {
    /// Why another index of a log need not be a fault.
    fn other_index(&self) -> Tolerance {
        self.family.quirks.system_receipts.map(str::to_owned)
    }
}

/// Gas and logs of a block up to a receipt.
#[derive(Default)]
struct Sums {
    gas: u64,
    /// Why the gas is that of the last receipt and not the sum, if so.
    given: Tolerance,
    logs: u32,
}

impl Sums {
    fn add_gas(
        &mut self,
        block: &Block,
        transaction: &Transaction,
        receipt: &Receipt,
        rules: &SumRules<'_>,
        outcome: &mut Outcome,
    ) -> Result<(), VerifyError> {
        // What does not fit 64 bits is refused by the comparison.
        let sum = self.gas.wrapping_add(receipt.gas_used);
        // How a type that is not known counts its gas is not known: the next ones go on from what its receipt has.
        self.given = unknown_type(transaction.transaction_type, rules.family);
        self.gas = if self.given.is_some() { receipt.cumulative_gas_used } else { sum };
        if rules.no_gas.is_some() {
            return Ok(());
        }
        let values = ValuePair { expected: &sum, found: &receipt.cumulative_gas_used };
        same_or_noted(block, Check::CumulativeGas, values, || self.other_gas(block, rules), outcome)
    }

    /// Why the gas up to the last receipt need not be the sum.
    fn other_gas(&self, block: &Block, rules: &SumRules<'_>) -> Tolerance {
        unknown_fork(block, rules.family).or_else(|| self.given.clone())
    }

    fn add_logs(
        &mut self,
        block: &Block,
        receipt: &Receipt,
        rules: &SumRules<'_>,
        outcome: &mut Outcome,
    ) -> Result<(), VerifyError> {
        for log in &receipt.logs {
            if rules.no_logs.is_none() {
                let values = ValuePair { expected: &self.logs, found: &log.index };
                same_or_noted(block, Check::LogIndex, values, || rules.other_index(), outcome)?;
            }
            verify_topics(block, log)?;
            self.logs += 1;
        }
        Ok(())
    }
}

/// Whether the header's gas is the sum of all.
fn verify_gas(block: &Block, sums: &Sums, rules: &SumRules<'_>, outcome: &mut Outcome) -> Result<(), VerifyError> {
    if let Some(reason) = rules.no_gas {
        outcome.not_checkable(Check::CumulativeGas, reason);
        outcome.not_checkable(Check::GasUsed, reason);
        return Ok(());
    }
    if block.transactions.iter().any(|transaction| transaction.lacking.contains(&"cumulative_gas_used")) {
        outcome.not_checkable(Check::CumulativeGas, "the source has no cumulative_gas_used");
    }
    outcome.passed_if_checkable(Check::CumulativeGas);
    if block.header.lacking.contains(&"gas_used") {
        outcome.not_checkable(Check::GasUsed, "the source has no gas_used of blocks");
    } else if hashed_access_list(&block.header).hash.is_none() {
        // Blocks with an access list count gas in another way (EIP-7778, EIP-8037); their hash covers it.
        let values = ValuePair { expected: &block.header.gas_used, found: &sums.gas };
        same_or_noted(block, Check::GasUsed, values, || sums.other_gas(block, rules), outcome)?;
    }
    outcome.passed_if_checkable(Check::GasUsed);
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
