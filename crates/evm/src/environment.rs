//! The block environment of a call in the form of revm.

use revm::context::BlockEnv;
use revm::context_interface::block::BlobExcessGasAndPrice;

use super::{BlockContext, BlockOverrides, Rules};
use trawl_chains::{Coinbase, HeaderFacts, NumberSource};
use trawl_core::primitives::{Address, B256, U256};

/// The block environment of revm, with the overrides of the caller.
pub(super) fn environment(block: &BlockContext, rules: &Rules, overrides: &BlockOverrides) -> BlockEnv {
    let priced = block.excess_blob_gas.zip(rules.blobs).map(|(excess_blob_gas, blobs)| BlobExcessGasAndPrice {
        excess_blob_gas,
        blob_gasprice: blobs.calc_blob_fee(excess_blob_gas),
    });
    let forced = overrides.blob_base_fee.map(|price| BlobExcessGasAndPrice {
        excess_blob_gas: block.excess_blob_gas.unwrap_or_default(),
        blob_gasprice: price,
    });
    let difficulty = overrides.difficulty.unwrap_or(block.difficulty);
    // Chains with a difficulty after the merge have no randomness: its instruction gives the difficulty.
    let random = if block.difficulty.is_zero() { block.mix_hash } else { Some(B256::from(difficulty)) };
    BlockEnv {
        number: overrides.number.unwrap_or(U256::from(number(block, rules))),
        beneficiary: overrides.fee_recipient.unwrap_or(coinbase(block, rules)),
        timestamp: overrides.time.unwrap_or(U256::from(block.timestamp)),
        gas_limit: overrides.gas_limit.unwrap_or(block.gas_limit),
        basefee: overrides.base_fee_per_gas.unwrap_or(block.base_fee_per_gas),
        difficulty,
        prevrandao: Some(overrides.random.or(random).unwrap_or_default()),
        // Cancun needs a price even if the headers of a chain have no excess.
        blob_excess_gas_and_price: forced
            .or(priced)
            .or(Some(BlobExcessGasAndPrice { excess_blob_gas: 0, blob_gasprice: 1 })),
        slot_num: 0,
    }
}

/// The number that code sees.
fn number(block: &BlockContext, rules: &Rules) -> u64 {
    let header = HeaderFacts { number: block.number, timestamp: block.timestamp, mix_hash: block.mix_hash };
    match rules.chain.map(|chain| chain.number) {
        Some(NumberSource::L1) => header.versioned().map_or(block.number, |version| version.l1_block),
        Some(NumberSource::Header) | None => block.number,
    }
}

/// Who made the block, as code sees it.
fn coinbase(block: &BlockContext, rules: &Rules) -> Address {
    match rules.chain.map(|chain| chain.coinbase) {
        Some(Coinbase::Producer) => block.producer,
        Some(Coinbase::Account(account)) => account,
        Some(Coinbase::Beneficiary) | None => block.miner,
    }
}
