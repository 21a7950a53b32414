//! Who gets which part of a fee.

use alloy_primitives::U256;

use serde_json::{Map, Value};

use crate::family::{Burnt, Family, PriceRule};
use crate::fields::quantity;

/// What a transaction, or the gas of a block, paid in wei.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Paid {
    /// Gas used.
    pub gas: u64,
    /// For each gas.
    pub price: U256,
    /// Of that, the base fee of the block.
    pub base_fee: U256,
}

impl Family {
    /// The part that was burnt, in wei; `None` where that is not known.
    #[must_use]
    pub fn burnt(&self, paid: Paid) -> Option<U256> {
        let gas = U256::from(paid.gas);
        match self.burnt {
            // Who pays nothing burns nothing.
            Burnt::BaseFee => Some(paid.base_fee.min(paid.price).wrapping_mul(gas)),
            Burnt::Nothing => Some(U256::ZERO),
            Burnt::Everything => Some(paid.price.wrapping_mul(gas)),
            Burnt::Unknown => None,
        }
    }

    /// What a block burnt, in wei: of its base fee, its gas and the fees that all its transactions paid; `None` where that is not
    /// known. A block before London has no base fee.
    #[must_use]
    pub fn burnt_by_block(&self, base_fee: Option<U256>, gas_used: u64, fees: Option<U256>) -> Option<U256> {
        match self.burnt {
            Burnt::BaseFee => Some(base_fee.unwrap_or_default().wrapping_mul(U256::from(gas_used))),
            Burnt::Nothing => Some(U256::ZERO),
            Burnt::Everything => fees,
            Burnt::Unknown => None,
        }
    }

    /// What a receipt says that was paid for data on L1, in wei; `None` where the chain has no such fee.
    #[must_use]
    pub fn l1_fee_of(&self, receipt: &Map<String, Value>) -> Option<U256> {
        receipt.get(self.l1_fee?).and_then(quantity)
    }

    /// The part above the base fee that the maker of the block got, in wei; `None` where that is not known.
    #[must_use]
    pub fn tip(&self, paid: Paid) -> Option<U256> {
        match (self.burnt, self.price) {
            (Burnt::Unknown, _) => None,
            (Burnt::Everything, _) | (_, PriceRule::BaseFee) => Some(U256::ZERO),
            (Burnt::BaseFee | Burnt::Nothing, PriceRule::Signed) => {
                Some(paid.price.saturating_sub(paid.base_fee).wrapping_mul(U256::from(paid.gas)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::families::{ARBITRUM, AVALANCHE, ETHEREUM, OPTIMISM, ZKSYNC};

    #[test]
    fn fees_are_split_as_each_chain_does() {
        let paid = Paid { gas: 21_000, price: U256::from(12), base_fee: U256::from(10) };
        let (base, tip, all) = (U256::from(210_000), U256::from(42_000), U256::from(252_000));
        for (family, burnt, tips) in [
            (&ETHEREUM, Some(base), Some(tip)),
            (&OPTIMISM, Some(U256::ZERO), Some(tip)),
            (&ARBITRUM, Some(U256::ZERO), Some(U256::ZERO)),
            (&AVALANCHE, Some(all), Some(U256::ZERO)),
            (&ZKSYNC, None, None),
        ] {
            assert_eq!((family.burnt(paid), family.tip(paid)), (burnt, tips), "{}", family.name);
        }
        let free = Paid { price: U256::ZERO, ..paid };
        assert_eq!((ETHEREUM.burnt(free), ETHEREUM.tip(free)), (Some(U256::ZERO), Some(U256::ZERO)));
    }
}
