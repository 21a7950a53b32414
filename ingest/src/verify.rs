//! Refuses blocks that contradict themselves or their neighbours. Pure.

use crate::block::Block;

pub mod traces;

/// A block that is refused: which check, what was expected, what was found.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("block {number} is refused: {check}: expected {expected}, found {found}")]
pub struct VerifyError {
    /// Height of the block.
    pub number: u64,
    /// Name of the check.
    pub check: &'static str,
    /// What the check asks for.
    pub expected: String,
    /// What the block has.
    pub found: String,
}

/// Compares two values of block `number` under the name of a check.
fn same<T: PartialEq + ToString>(number: u64, check: &'static str, expected: &T, found: &T) -> Result<(), VerifyError> {
    if expected == found {
        return Ok(());
    }
    Err(VerifyError { number, check, expected: expected.to_string(), found: found.to_string() })
}

/// Checks that the parts of a block fit each other.
pub fn verify(block: &Block) -> Result<(), VerifyError> {
    let number = block.header.number;
    for (position, transaction) in block.transactions.iter().enumerate() {
        same(number, "transaction index", &(position as u64), &u64::from(transaction.index))?;
    }
    verify_receipts(block)?;
    verify_uncles(block)?;
    traces::verify_traces(block)
}

fn verify_receipts(block: &Block) -> Result<(), VerifyError> {
    let number = block.header.number;
    let Some(receipts) = &block.receipts else { return Ok(()) };
    same(number, "number of receipts", &block.transactions.len(), &receipts.len())?;
    let mut cumulative = 0;
    let mut next_log = 0;
    for (transaction, receipt) in block.transactions.iter().zip(receipts) {
        same(number, "transaction hash of a receipt", &transaction.hash, &receipt.transaction_hash)?;
        if let Some(hash) = &receipt.block_hash {
            same(number, "block hash of a receipt", &block.header.hash, hash)?;
        }
        cumulative += receipt.gas_used;
        same(number, "cumulative gas of a receipt", &cumulative, &receipt.cumulative_gas_used)?;
        for log in &receipt.logs {
            same(number, "log index", &next_log, &log.index)?;
            next_log += 1;
            if log.topics.len() > 4 {
                return Err(VerifyError {
                    number,
                    check: "topics of a log",
                    expected: "at most 4".into(),
                    found: log.topics.len().to_string(),
                });
            }
        }
    }
    same(number, "gas used", &block.header.gas_used, &cumulative)
}

fn verify_uncles(block: &Block) -> Result<(), VerifyError> {
    let number = block.header.number;
    let (Some(hashes), Some(uncles)) = (&block.uncle_hashes, &block.uncles) else { return Ok(()) };
    same(number, "number of uncle headers", &hashes.len(), &uncles.len())?;
    for (hash, uncle) in hashes.iter().zip(uncles) {
        same(number, "hash of an uncle", hash, &uncle.hash)?;
    }
    Ok(())
}
