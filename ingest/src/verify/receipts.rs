//! Receipts: their root, the bloom filters, and what follows from the transaction for the fields no root covers.

use alloy_primitives::{Bloom, FixedBytes};
use alloy_rlp::{Encodable, Header};
use trawl_core::primitives::U256;

use super::blooms::blooms;
use super::check::Check;
use super::header::blob_gas_prices;
use super::outcome::{NotCheckable, Outcome, VerifyError, refuse, same};
use super::trie::{ordered_root, split};
use crate::block::{Block, LAST_KNOWN_TYPE, Log, Receipt, Transaction};

/// Blob gas of one blob, EIP-4844.
pub(crate) const GAS_PER_BLOB: u64 = 131_072;

/// Checks the receipts root and the header's bloom filter.
///
/// A receipt's own bloom filter stands in what is hashed, so a root that fits proves it with the logs; where the source
/// did not have it, it is made of the logs.
pub fn verify_root(block: &Block, receipts: &[Receipt], outcome: &mut Outcome) -> Result<(), VerifyError> {
    if let Err(NotCheckable(reason)) = checkable(block, receipts) {
        outcome.not_checkable(Check::ReceiptsRoot, &reason);
        outcome.not_checkable(Check::LogsBloom, &reason);
        return Ok(());
    }
    let blooms = blooms(receipts);
    let (mut encoded, mut ends) = (Vec::new(), Vec::with_capacity(receipts.len()));
    for ((transaction, receipt), bloom) in block.transactions.iter().zip(receipts).zip(&blooms) {
        encode(&mut encoded, transaction.transaction_type, receipt, bloom);
        ends.push(encoded.len());
    }
    let values: Vec<&[u8]> = split(&encoded, &ends).collect();
    same(block, Check::ReceiptsRoot, &block.header.receipts_root, &ordered_root(&values))?;
    outcome.passed(Check::ReceiptsRoot);
    let all = blooms.iter().fold(Bloom::ZERO, |all, bloom| all | *bloom);
    same(block, Check::LogsBloom, &FixedBytes(block.header.logs_bloom.0), &all.0)?;
    outcome.passed(Check::LogsBloom);
    Ok(())
}

fn checkable(block: &Block, receipts: &[Receipt]) -> Result<(), NotCheckable> {
    for column in ["receipts_root", "logs_bloom"] {
        if block.header.lacking.contains(&column) {
            return Err(NotCheckable(format!("the source has no {column}")));
        }
    }
    for transaction in &block.transactions {
        if transaction.transaction_type > LAST_KNOWN_TYPE {
            return Err(NotCheckable(format!("receipts of type {} are not known", transaction.transaction_type)));
        }
        let lacks = |column: &&str| transaction.lacking.contains(column);
        // Bor's state sync: neither it nor its receipt is in the tries.
        if transaction.r.is_zero() && transaction.s.is_zero() && !lacks(&"r") && !lacks(&"s") {
            return Err(NotCheckable("a transaction has no signature, and its receipt may not be in the root".into()));
        }
        if let Some(column) =
            ["status", "post_state_root", "cumulative_gas_used", "transaction_type"].iter().find(|column| lacks(column))
        {
            return Err(NotCheckable(format!("the source has no {column} of receipts")));
        }
    }
    if receipts.iter().any(|receipt| receipt.status.is_none() && receipt.root.is_none()) {
        return Err(NotCheckable("a receipt has neither status nor post-state root".into()));
    }
    Ok(())
}

/// Adds a receipt as it is hashed: EIP-658 or its predecessor, with the type in front (EIP-2718).
fn encode(out: &mut Vec<u8>, transaction_type: u8, receipt: &Receipt, bloom: &Bloom) {
    // One of them is there, see `checkable`: RLP writes a missing status as it writes that of a failure.
    let outcome: &dyn Encodable = match (&receipt.status, &receipt.root) {
        (Some(status), _) => status,
        (None, Some(root)) => root,
        (None, None) => &0u8,
    };
    let logs_length: usize = receipt.logs.iter().map(|log| list_length(log_lengths(log).1)).sum();
    let payload = outcome.length() + receipt.cumulative_gas_used.length() + bloom.length() + list_length(logs_length);
    out.reserve(1 + list_length(payload));
    if transaction_type > 0 {
        out.push(transaction_type);
    }
    Header { list: true, payload_length: payload }.encode(out);
    outcome.encode(out);
    receipt.cumulative_gas_used.encode(out);
    bloom.encode(out);
    Header { list: true, payload_length: logs_length }.encode(out);
    for log in &receipt.logs {
        let (topics, payload) = log_lengths(log);
        Header { list: true, payload_length: payload }.encode(out);
        log.address.encode(out);
        Header { list: true, payload_length: topics }.encode(out);
        for topic in &log.topics {
            topic.encode(out);
        }
        log.data.encode(out);
    }
}

/// Bytes of the topics without their header, and of the log without its own.
fn log_lengths(log: &Log) -> (usize, usize) {
    let topics = 33 * log.topics.len();
    (topics, log.address.length() + list_length(topics) + log.data.length())
}

fn list_length(payload: usize) -> usize {
    payload + Header { list: true, payload_length: payload }.length()
}

/// Checks what a receipt holds beyond the root: price, created contract, blob gas. All follow from transaction and header.
pub(super) fn verify_derived(block: &Block, receipts: &[Receipt], outcome: &mut Outcome) -> Result<(), VerifyError> {
    let pairs = || block.transactions.iter().zip(receipts);
    let derived: [(Check, Derived); 4] = [
        (Check::EffectiveGasPrice, effective_gas_price),
        (Check::ContractAddress, contract_address),
        (Check::BlobGas, blob_gas),
        (Check::BlobGasPrice, blob_gas_price),
    ];
    for (check, fits) in derived {
        let mut impossible = None;
        for (transaction, receipt) in pairs() {
            match fits(block, transaction, receipt) {
                Ok(()) => {}
                Err(Misfit::Unknown(reason)) => impossible = Some(reason),
                Err(Misfit::Differs { .. }) if is_partial(block, transaction) => {
                    impossible = Some("the source does not have all it follows from".into());
                }
                // A chain with rules of its own may well count otherwise.
                Err(Misfit::Differs { .. }) if !block.header.foreign.is_empty() => {
                    impossible = Some(format!("the header has fields of its own: {}", block.header.foreign.join(", ")));
                }
                Err(Misfit::Differs { expected, found }) => return refuse(block, check, expected, found),
            }
        }
        match impossible {
            Some(reason) => outcome.not_checkable(check, &reason),
            None => outcome.passed(check),
        }
    }
    Ok(())
}

/// Whether placeholders may stand where the derived values come from.
fn is_partial(block: &Block, transaction: &Transaction) -> bool {
    !transaction.lacking.is_empty() || block.header.lacking.contains(&"base_fee_per_gas")
}

type Derived = fn(&Block, &Transaction, &Receipt) -> Result<(), Misfit>;

enum Misfit {
    Unknown(String),
    Differs { expected: String, found: String },
}

fn fits<T: PartialEq + std::fmt::Debug>(expected: T, found: T) -> Result<(), Misfit> {
    if expected == found {
        return Ok(());
    }
    Err(Misfit::Differs { expected: format!("{expected:?}"), found: format!("{found:?}") })
}

fn known_type(transaction: &Transaction) -> Result<(), Misfit> {
    match transaction.transaction_type {
        0..=LAST_KNOWN_TYPE => Ok(()),
        kind => Err(Misfit::Unknown(format!("transaction type {kind} is not known"))),
    }
}

/// The signed price of types 0 and 1; the base fee and what the caps leave of the tip of the others (EIP-1559). The
/// price that nodes repeat in a transaction is the same.
fn effective_gas_price(block: &Block, transaction: &Transaction, receipt: &Receipt) -> Result<(), Misfit> {
    known_type(transaction)?;
    let expected = match (transaction.max_fee_per_gas, transaction.max_priority_fee_per_gas) {
        (Some(cap), Some(tip)) => {
            let Some(base_fee) = block.header.base_fee_per_gas else {
                return Err(Misfit::Unknown("a type 2 transaction in a block without a base fee".into()));
            };
            if transaction.gas_price.is_some_and(|price| price != cap.min(base_fee.saturating_add(tip))) {
                return fits(Some(cap.min(base_fee.saturating_add(tip))), transaction.gas_price);
            }
            Some(cap.min(base_fee.saturating_add(tip)))
        }
        _ => transaction.gas_price,
    };
    match receipt.effective_gas_price {
        Some(found) => fits(expected, Some(found)),
        None => Ok(()),
    }
}

/// The address that sender and nonce give; a call creates none. A failed creation may be reported either way.
fn contract_address(_: &Block, transaction: &Transaction, receipt: &Receipt) -> Result<(), Misfit> {
    known_type(transaction)?;
    let expected = transaction.to.is_none().then(|| transaction.from.create(transaction.nonce));
    if receipt.contract_address.is_none() && receipt.status == Some(0) {
        return Ok(());
    }
    fits(expected, receipt.contract_address)
}

fn blob_gas(_: &Block, transaction: &Transaction, receipt: &Receipt) -> Result<(), Misfit> {
    match (transaction.transaction_type, receipt.blob_gas_used) {
        (3, Some(found)) => fits(GAS_PER_BLOB * transaction.blob_versioned_hashes.len() as u64, found),
        _ => Ok(()),
    }
}

fn blob_gas_price(block: &Block, transaction: &Transaction, receipt: &Receipt) -> Result<(), Misfit> {
    match (transaction.transaction_type, receipt.blob_gas_price, block.header.excess_blob_gas) {
        (3, Some(found), Some(excess)) if !blob_gas_prices(excess).contains(&found) => {
            Err(Misfit::Unknown(format!("{found} wei is no price of a known blob schedule")))
        }
        (3, None, _) => Err(Misfit::Unknown("a receipt has no blob gas price".into())),
        (3, Some(found), None) if found != U256::ZERO => {
            Err(Misfit::Unknown("a blob price in a block without excess blob gas".into()))
        }
        _ => Ok(()),
    }
}
