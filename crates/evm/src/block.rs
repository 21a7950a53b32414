//! The block a call runs in, as far as code can see it.

use revm::context::BlockEnv;
use revm::context_interface::block::BlobExcessGasAndPrice;

use super::{BlockOverrides, Rules};
use trawl_core::primitives::{Address, B256, U256};

/// What code can see of a block.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BlockContext {
    /// Height.
    pub number: u64,
    /// Seconds since 1970.
    pub timestamp: u64,
    /// Who the fees go to.
    pub miner: Address,
    /// Gas the block may use.
    pub gas_limit: u64,
    /// Wei, EIP-1559; zero before London.
    pub base_fee_per_gas: u64,
    /// Proof-of-work difficulty; zero after the merge.
    pub difficulty: U256,
    /// The randomness beacon after the merge (EIP-4399).
    pub mix_hash: Option<B256>,
    /// Running excess of blob gas, EIP-4844; `None` before Cancun.
    pub excess_blob_gas: Option<u64>,
}

impl BlockContext {
    pub(super) fn environment(&self, rules: &Rules, overrides: &BlockOverrides) -> BlockEnv {
        let priced = self.excess_blob_gas.zip(rules.blobs).map(|(excess_blob_gas, blobs)| BlobExcessGasAndPrice {
            excess_blob_gas,
            blob_gasprice: blobs.calc_blob_fee(excess_blob_gas),
        });
        let forced = overrides.blob_base_fee.map(|price| BlobExcessGasAndPrice {
            excess_blob_gas: self.excess_blob_gas.unwrap_or_default(),
            blob_gasprice: price,
        });
        BlockEnv {
            number: overrides.number.unwrap_or(U256::from(self.number)),
            beneficiary: overrides.fee_recipient.unwrap_or(self.miner),
            timestamp: overrides.time.unwrap_or(U256::from(self.timestamp)),
            gas_limit: overrides.gas_limit.unwrap_or(self.gas_limit),
            basefee: overrides.base_fee_per_gas.unwrap_or(self.base_fee_per_gas),
            difficulty: overrides.difficulty.unwrap_or(self.difficulty),
            prevrandao: Some(overrides.random.or(self.mix_hash).unwrap_or_default()),
            // Cancun wants a price even where a chain's headers have no excess.
            blob_excess_gas_and_price: forced
                .or(priced)
                .or(Some(BlobExcessGasAndPrice { excess_blob_gas: 0, blob_gasprice: 1 })),
            slot_num: 0,
        }
    }
}
