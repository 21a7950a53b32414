//! The block environment of a call in the form of revm.

use revm::context::BlockEnv;
use revm::context_interface::block::BlobExcessGasAndPrice;

use super::{BlockContext, BlockOverrides, Rules};
use trawl_core::primitives::U256;

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
    BlockEnv {
        number: overrides.number.unwrap_or(U256::from(block.number)),
        beneficiary: overrides.fee_recipient.unwrap_or(block.miner),
        timestamp: overrides.time.unwrap_or(U256::from(block.timestamp)),
        gas_limit: overrides.gas_limit.unwrap_or(block.gas_limit),
        basefee: overrides.base_fee_per_gas.unwrap_or(block.base_fee_per_gas),
        difficulty: overrides.difficulty.unwrap_or(block.difficulty),
        prevrandao: Some(overrides.random.or(block.mix_hash).unwrap_or_default()),
        // Cancun needs a price even if the headers of a chain have no excess.
        blob_excess_gas_and_price: forced
            .or(priced)
            .or(Some(BlobExcessGasAndPrice { excess_blob_gas: 0, blob_gasprice: 1 })),
        slot_num: 0,
    }
}
