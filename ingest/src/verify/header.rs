//! The hash of a header, recomputed from its fields.
//!
//! Fields in the order of the yellow paper, section 4.3, and of the EIPs that append to it; encoded by alloy.

use alloy_consensus::Header as ConsensusHeader;
use alloy_primitives::Bloom;
use trawl_chains::{CopyRule, Family, HeaderRule};
use trawl_core::primitives::{B256, U256};

use super::outcome::NotCheckable;
use crate::block::Header;

/// The header in the shape that Ethereum hashes. Fails where the source did not have a field, or a value does not fit.
pub(super) fn consensus_header(header: &Header) -> Result<ConsensusHeader, NotCheckable> {
    let (Some(mix_hash), Some(nonce)) = (header.mix_hash, header.nonce) else {
        return Err(NotCheckable("the header has no mix hash or no nonce".into()));
    };
    Ok(ConsensusHeader { mix_hash, nonce, ..unsealed(header)? })
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

/// Wei per blob gas under each known update fraction (EIP-4844, EIP-7691, EIP-7892's first two schedules), and by the
/// rules of the family: which one holds depends on a chain's fork times, which headers do not show.
pub(super) fn blob_gas_prices(excess_blob_gas: u64, family: &Family) -> impl Iterator<Item = U256> {
    let of_ethereum = [3_338_477, 5_007_716, 8_346_193, 11_684_671].map(|fraction| (1, fraction));
    let of_family = family.blob_rules().map(|rule| (rule.least_price, rule.update_fraction));
    let all = of_ethereum.into_iter().chain(of_family);
    all.map(move |(least, fraction)| fake_exponential(least, excess_blob_gas, fraction))
}

/// `fake_exponential` of EIP-4844.
fn fake_exponential(factor: u128, numerator: u64, denominator: u128) -> U256 {
    let (numerator, denominator) = (U256::from(numerator), U256::from(denominator));
    let mut output = U256::ZERO;
    let mut term = U256::from(factor).saturating_mul(denominator);
    let mut step = U256::from(1);
    while !term.is_zero() {
        let Some(sum) = output.checked_add(term) else { return U256::MAX };
        output = sum;
        let Some(product) = term.checked_mul(numerator) else { return U256::MAX };
        term = product / (denominator * step);
        step += U256::from(1);
    }
    output / denominator
}

#[cfg(test)]
mod tests {
    use trawl_chains::{ETHEREUM, by_chain_id};

    use super::*;

    #[test]
    fn blobs_cost_what_their_chain_asks_at_least() {
        let has = |family: &Family, excess: u64, price: u64| {
            blob_gas_prices(excess, family).any(|found| found == U256::from(price))
        };
        let gnosis = by_chain_id(100);
        assert!(has(&ETHEREUM, 0, 1) && !has(&ETHEREUM, 0, 1_000_000_000));
        assert!(has(gnosis, 0, 1_000_000_000));
        // 10^9 · e^(131,072 / 1,112,826).
        assert!(has(gnosis, 131_072, 1_124_999_975), "{:?}", blob_gas_prices(131_072, gnosis).collect::<Vec<_>>());
        assert!(!has(gnosis, 131_072, 1_124_999_976));
    }
}
