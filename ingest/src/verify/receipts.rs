//! Receipts: their root and the bloom filters.

use alloy_primitives::Bloom;
use alloy_rlp::{Encodable, Header};
use trawl_chains::Family;

use super::blooms::{blooms, blooms_of_logs};
use super::check::Check;
use super::membership::Membership;
use super::outcome::{NotCheckable, Outcome, VerifyError, same};
use super::tolerance::{ValuePair, absent_block_receipt, hidden_state_roots, same_or_noted, unknown_receipts};
use super::trie::{ordered_root, split};
use super::trie_transaction::TrieTransaction;
use crate::block::{Block, Log, Receipt};
use trawl_core::primitives::TransactionType;

/// Blob gas of one blob, EIP-4844.
pub(crate) const GAS_PER_BLOB: u64 = 131_072;

/// Checks the receipts root and the header's bloom filter.
///
/// A receipt's own bloom filter stands in what is hashed, so a root that fits proves it with the logs; where the source
/// did not have it, it is made of the logs.
pub(super) fn verify_root(
    block: &Block,
    family: &Family,
    members: &[Membership],
    receipts: &[Receipt],
    outcome: &mut Outcome,
) -> Result<(), VerifyError> {
    let values = match checkable(block, family, members, receipts).and_then(|()| encoded(block, members, receipts)) {
        Ok(values) => values,
        Err(NotCheckable(reason)) => {
            outcome.not_checkable(Check::ReceiptsRoot, &reason);
            outcome.not_checkable(Check::LogsBloom, &reason);
            return Ok(());
        }
    };
    let (bytes, ends, bloom) = values;
    let values: Vec<&[u8]> = split(&bytes, &ends).collect();
    let root = ValuePair { expected: &block.header.receipts_root, found: &ordered_root(&values) };
    let absent = || absent_block_receipt(block, family);
    let tolerance = || unknown_receipts(block, family).or_else(|| hidden_state_roots(block, family)).or_else(absent);
    same_or_noted(block, Check::ReceiptsRoot, root, tolerance, outcome)?;
    outcome.passed_if_checkable(Check::ReceiptsRoot);
    // Without a root that fits, nothing proves the filters that receipts have.
    let bloom = match outcome.is_not_checkable(Check::ReceiptsRoot) {
        true => bloom_of_logs(block, members, receipts),
        false => bloom,
    };
    let of_header = Bloom(block.header.logs_bloom);
    if let Some(reason) = absent().filter(|_| of_header != bloom && of_header.contains(&bloom)) {
        outcome.not_checkable(Check::LogsBloom, &reason);
        return Ok(());
    }
    // It depends on nothing but the logs, whatever a fork or a type adds to receipts.
    same(block, Check::LogsBloom, &of_header, &bloom)?;
    outcome.passed(Check::LogsBloom);
    Ok(())
}

/// The filter of all logs of receipts that are in the trie.
fn bloom_of_logs(block: &Block, members: &[Membership], receipts: &[Receipt]) -> Bloom {
    let inside = members.iter().zip(blooms_of_logs(receipts));
    let inside = inside.filter(|(member, _)| !matches!(member, Membership::Outside(_))).map(|(_, bloom)| bloom);
    let of_block = block.block_receipt.as_deref().map(std::slice::from_ref).map(blooms_of_logs);
    inside.chain(of_block.into_iter().flatten()).fold(Bloom::ZERO, |all, bloom| all | bloom)
}

/// The receipts that are in the trie one after the other, where each ends, and the bloom filter of all.
fn encoded(
    block: &Block,
    members: &[Membership],
    receipts: &[Receipt],
) -> Result<(Vec<u8>, Vec<usize>, Bloom), NotCheckable> {
    let (mut bytes, mut ends, mut all) = (Vec::new(), Vec::with_capacity(receipts.len()), Bloom::ZERO);
    let types = block.transactions.iter().map(|transaction| transaction.transaction_type);
    for (((member, kind), receipt), bloom) in members.iter().zip(types).zip(receipts).zip(blooms(receipts)) {
        let tail = match member {
            Membership::Outside(_) => continue,
            Membership::Unknown(unknown) if unknown.has_usual_receipt => Vec::new(),
            Membership::Unknown(unknown) => return Err(unknown.reason.clone()),
            Membership::InTries(encoded) => tail(encoded, receipt)?,
        };
        encode(&mut bytes, kind, receipt, &tail, &bloom);
        ends.push(bytes.len());
        all |= bloom;
    }
    if let Some(receipt) = block.block_receipt.as_deref() {
        for bloom in blooms(std::slice::from_ref(receipt)) {
            encode(&mut bytes, TransactionType::Legacy, receipt, &[], &bloom);
            ends.push(bytes.len());
            all |= bloom;
        }
    }
    Ok((bytes, ends, all))
}

/// Whether the source has what the receipts root is computed from: header fields, all receipts, and of each its status
/// or state root, its cumulative gas and its type. What follows the logs is read later, see [`tail`].
fn checkable(block: &Block, family: &Family, members: &[Membership], receipts: &[Receipt]) -> Result<(), NotCheckable> {
    if let Some(reason) = family.quirks.roots {
        return Err(NotCheckable(reason.into()));
    }
    for column in ["receipts_root", "logs_bloom"] {
        if block.header.lacking.contains(&column) {
            return Err(NotCheckable(format!("the source has no {column}")));
        }
    }
    let (given, all) = (receipts.len(), block.transactions.len());
    if given != all {
        return Err(NotCheckable(format!("the source has {given} receipts of {all} transactions")));
    }
    let all = block.transactions.iter().zip(receipts).zip(members);
    // Of what is in no root, nothing is needed.
    let inside = all.filter(|(_, member)| !matches!(member, Membership::Outside(_))).map(|(pair, _)| pair);
    for (transaction, receipt) in inside {
        let lacks = |column: &&str| transaction.lacking.contains(column);
        if let Some(column) =
            ["status", "post_state_root", "cumulative_gas_used", "transaction_type"].iter().find(|column| lacks(column))
        {
            return Err(NotCheckable(format!("the source has no {column} of receipts")));
        }
        if receipt.status.is_none() && receipt.root.is_none() {
            return Err(NotCheckable("a receipt has neither status nor post-state root".into()));
        }
    }
    Ok(())
}

/// Adds a receipt as it is hashed: EIP-658 or its predecessor, with the type in front (EIP-2718).
/// `tail`: what a family's own type adds.
fn encode(out: &mut Vec<u8>, kind: TransactionType, receipt: &Receipt, tail: &[u8], bloom: &Bloom) {
    // `checkable` has refused a receipt with neither: RLP would write a missing status as that of a failure.
    let outcome: &dyn Encodable = match (&receipt.status, &receipt.root) {
        (Some(status), _) => status,
        (None, Some(root)) => root,
        (None, None) => &0u8,
    };
    let logs_length: usize = receipt.logs.iter().map(|log| list_length(log_lengths(log).1)).sum();
    let payload = outcome.length()
        + receipt.cumulative_gas_used.length()
        + bloom.length()
        + list_length(logs_length)
        + tail.len();
    out.reserve(1 + list_length(payload));
    if kind != TransactionType::Legacy {
        out.push(kind.byte());
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
    out.extend_from_slice(tail);
}

/// What a receipt of a family's own type holds after the logs.
fn tail(of: &TrieTransaction, receipt: &Receipt) -> Result<Vec<u8>, NotCheckable> {
    let Some((kind, _)) = &of.own else { return Ok(Vec::new()) };
    let unreadable =
        |reason: &dyn std::fmt::Display| NotCheckable(format!("a receipt of type {}: {reason}", kind.byte));
    let raw = receipt.raw.as_deref().ok_or_else(|| unreadable(&"the source has no JSON of it"))?;
    let json = serde_json::from_str(raw).map_err(|error| unreadable(&error))?;
    kind.receipt_tail(&json).map_err(|error| unreadable(&error))
}

/// Bytes of the topics without their header, and of the log without its own.
fn log_lengths(log: &Log) -> (usize, usize) {
    let topics = 33 * log.topics.len();
    (topics, log.address.length() + list_length(topics) + log.data.length())
}

fn list_length(payload: usize) -> usize {
    payload + Header { list: true, payload_length: payload }.length()
}
