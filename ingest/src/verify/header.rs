//! The hash of a header, recomputed from its fields.
//!
//! Fields in the order of the yellow paper, section 4.3, and of the EIPs that append to it; encoded by alloy.

use alloy_consensus::Header as ConsensusHeader;
use alloy_primitives::Bloom;
use trawl_chains::{AccessListFields, CopyRule, Family, HeaderRule};
use trawl_core::primitives::B256;

use super::outcome::NotCheckable;
use crate::block::Header;

/// The header in the shape that Ethereum hashes. Fails where the source did not have a field, or a value does not fit.
pub(super) fn consensus_header(header: &Header) -> Result<ConsensusHeader, NotCheckable> {
    let (Some(mix_hash), Some(nonce)) = (header.mix_hash, header.nonce) else {
        return Err(NotCheckable("the header has no mix hash or no nonce".into()));
    };
    Ok(with_access_list(header, ConsensusHeader { mix_hash, nonce, ..unsealed(header)? }))
}

/// The header with what Glamsterdam adds, if the block's hash is of that: nodes may give such members where nothing
/// hashes them.
fn with_access_list(header: &Header, whole: ConsensusHeader) -> ConsensusHeader {
    let fields = AccessListFields::of(&header.extra_fields());
    if fields.is_empty() {
        return whole;
    }
    let (block_access_list_hash, slot_number) = (fields.hash, fields.slot_number);
    let with = ConsensusHeader { block_access_list_hash, slot_number, ..whole.clone() };
    if with.hash_slow() == header.hash { with } else { whole }
}

/// What Glamsterdam adds to a header, as far as the block's hash covers it.
pub(super) fn hashed_access_list(header: &Header) -> AccessListFields {
    let whole = consensus_header(header).ok();
    AccessListFields {
        hash: whole.as_ref().and_then(|header| header.block_access_list_hash),
        slot_number: whole.as_ref().and_then(|header| header.slot_number),
    }
}

/// Whether the block's hash is that of ten fields of its header, which then says nothing of uncles, difficulty and gas
/// limit. What is zero or not there may also be what a source left out of a longer header: the hash tells.
pub(crate) fn is_short(header: &Header, family: &Family) -> bool {
    short_hash(header, family) == Some(header.hash)
}

/// The hash of ten fields, where its family hashed so many at first; `None` if it cannot be such a header.
pub(super) fn short_hash(header: &Header, family: &Family) -> Option<B256> {
    if !family.header.is_sealed_by_committee(&header.extra_data) || require(header, &HASHED_AT_FIRST).is_err() {
        return None;
    }
    let mut given = given_fields(header).ok()?;
    given.mix_hash = header.mix_hash.unwrap_or_default();
    given.nonce = header.nonce.unwrap_or_default();
    family.header.short_hash(&given)
}

/// Whether a committee sealed a header, by its extra data; `true` if that is all that is not known.
pub(super) fn may_be_sealed_by_committee(header: &Header, family: &Family) -> bool {
    let extra_data = (!header.lacking.contains(&"extra_data")).then_some(&header.extra_data[..]);
    family.header.may_be_sealed_by_committee(extra_data)
}

/// The members of a header's JSON that repeat others of it, as JSON-RPC writes them.
pub(super) fn copies(header: &Header, family: &Family) -> Vec<(&'static str, String)> {
    if family.copies == CopyRule::None {
        return Vec::new();
    }
    consensus_header(header).map(|whole| family.copies.members(&whole)).unwrap_or_default()
}

/// The header with all that is hashed; `None` if the source did not give all of it.
pub(crate) fn whole_header(header: &Header) -> Option<ConsensusHeader> {
    consensus_header(header).ok()
}

/// The same without mix hash and nonce.
fn unsealed(header: &Header) -> Result<ConsensusHeader, NotCheckable> {
    require(header, &HASHED)?;
    given_fields(header)
}

fn require(header: &Header, columns: &[&str]) -> Result<(), NotCheckable> {
    match header.lacking.iter().find(|column| columns.contains(column)) {
        Some(column) => Err(NotCheckable(format!("the source has no {column}"))),
        None => Ok(()),
    }
}

/// The same with placeholders for fields that the source did not have.
fn given_fields(header: &Header) -> Result<ConsensusHeader, NotCheckable> {
    let base_fee_per_gas = header.base_fee_per_gas.map(u64::try_from).transpose();
    Ok(ConsensusHeader {
        parent_hash: header.parent_hash,
        ommers_hash: header.sha3_uncles,
        beneficiary: header.miner,
        state_root: header.state_root,
        transactions_root: header.transactions_root,
        receipts_root: header.receipts_root,
        logs_bloom: Bloom(header.logs_bloom),
        difficulty: header.difficulty,
        number: header.number,
        gas_limit: header.gas_limit,
        gas_used: header.gas_used,
        timestamp: header.timestamp,
        extra_data: header.extra_data.clone(),
        base_fee_per_gas: base_fee_per_gas.map_err(|_| NotCheckable("the base fee has more than 64 bits".into()))?,
        withdrawals_root: header.withdrawals_root,
        blob_gas_used: header.blob_gas_used,
        excess_blob_gas: header.excess_blob_gas,
        parent_beacon_block_root: header.parent_beacon_block_root,
        requests_hash: header.requests_hash,
        ..ConsensusHeader::default()
    })
}

/// The hash, or why it cannot be computed.
pub(super) fn header_hash(header: &Header) -> Result<B256, NotCheckable> {
    consensus_header(header).map(|header| header.hash_slow())
}

/// The hash of a block by the rule of its family, or why it cannot be computed.
pub(super) fn block_hash(header: &Header, family: &Family) -> Result<B256, NotCheckable> {
    if family.header == HeaderRule::Ethereum {
        return header_hash(header);
    }
    if let HeaderRule::Unproven(reason) = family.header {
        return Err(NotCheckable(reason.into()));
    }
    let short = short_hash(header, family);
    if short == Some(header.hash) {
        return Ok(header.hash);
    }
    let extra = header.extra_fields();
    let whole = if family.header.is_sealed_otherwise(&extra) { unsealed(header) } else { consensus_header(header) };
    let whole = whole.map_err(|NotCheckable(reason)| match short {
        Some(_) => NotCheckable(format!("the hash is not that of ten fields, and {reason}")),
        None => NotCheckable(reason),
    })?;
    family.header.hash(&whole, &extra).map_err(|error| NotCheckable(error.to_string()))
}

/// Columns whose absence makes the hash impossible.
const HASHED: [&str; 20] = [
    "parent_hash",
    "sha3_uncles",
    "miner",
    "state_root",
    "transactions_root",
    "receipts_root",
    "logs_bloom",
    "difficulty",
    "gas_limit",
    "gas_used",
    "timestamp",
    "extra_data",
    "mix_hash",
    "nonce",
    "base_fee_per_gas",
    "withdrawals_root",
    "blob_gas_used",
    "excess_blob_gas",
    "parent_beacon_block_root",
    "requests_hash",
];

/// The same of a short header.
const HASHED_AT_FIRST: [&str; 9] = [
    "parent_hash",
    "miner",
    "state_root",
    "transactions_root",
    "receipts_root",
    "logs_bloom",
    "gas_used",
    "timestamp",
    "extra_data",
];
