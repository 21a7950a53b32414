//! The hash of a header, recomputed from its fields.
//!
//! Fields in the order of the yellow paper, section 4.3, and of the EIPs that append to it; encoded by alloy.

use alloy_consensus::Header as ConsensusHeader;
use alloy_primitives::Bloom;
use trawl_chains::{Family, HeaderRule};
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

/// The header with all that is hashed; `None` if the source did not give all of it.
pub(crate) fn whole_header(header: &Header) -> Option<ConsensusHeader> {
    consensus_header(header).ok()
}

/// The same without mix hash and nonce.
fn unsealed(header: &Header) -> Result<ConsensusHeader, NotCheckable> {
    if let Some(column) = header.lacking.iter().find(|column| HASHED.contains(column)) {
        return Err(NotCheckable(format!("the source has no {column}")));
    }
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
    let extra = header.extra_fields();
    let sealed = if family.header.is_sealed_otherwise(&extra) { unsealed(header) } else { consensus_header(header) };
    match family.header {
        HeaderRule::Unproven(reason) => Err(NotCheckable(reason.into())),
        rule => rule.hash(&sealed?, &extra).map_err(|error| NotCheckable(error.to_string())),
    }
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

/// Wei per blob gas under each known update fraction (EIP-4844, EIP-7691, EIP-7892's first two schedules): which one
/// holds depends on a chain's fork times, which headers do not show.
pub(super) fn blob_gas_prices(excess_blob_gas: u64) -> [U256; 4] {
    [3_338_477, 5_007_716, 8_346_193, 11_684_671].map(|fraction| fake_exponential(excess_blob_gas, fraction))
}

/// `fake_exponential` of EIP-4844 with the factor 1.
fn fake_exponential(numerator: u64, denominator: u64) -> U256 {
    let (numerator, denominator) = (U256::from(numerator), U256::from(denominator));
    let mut output = U256::ZERO;
    let mut term = denominator;
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
