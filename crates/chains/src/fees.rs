//! Who gets which part of a fee.

use std::ops::Range;

use alloy_primitives::{B256, U256};

use serde_json::{Map, Value};

use crate::family::{BurntFees, Family, PriceRule};
use crate::fees::rollup_fee::operator_fee;
use crate::fields::quantity;
use crate::rest::RestSource;

pub(crate) mod fast_lz;
pub(crate) mod rollup_fee;

/// The byte of a mix hash of Arbitrum whose lowest bit says that tips are collected.
const COLLECTS_TIPS: usize = 25;
/// The bytes of a mix hash of Arbitrum with the version of ArbOS.
const VERSION: Range<usize> = 16..24;
/// The version that collected tips without saying so.
const COLLECTING_VERSION: u64 = 9;

/// What a transaction, or the gas of a block, paid in wei.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GasPayment {
    /// Units of gas used.
    pub gas: u64,
    /// For each gas.
    pub price: U256,
    /// Of that, the base fee of the block.
    pub base_fee: U256,
}

impl Family {
    /// The part that was burnt, in wei; `None` where that is not known.
    #[must_use]
    pub fn burnt(&self, paid: GasPayment) -> Option<U256> {
        let gas = U256::from(paid.gas);
        match self.burnt {
            // Who pays nothing burns nothing.
            BurntFees::BaseFee => Some(paid.base_fee.min(paid.price).wrapping_mul(gas)),
            BurntFees::Nothing => Some(U256::ZERO),
            BurntFees::Everything => Some(paid.price.wrapping_mul(gas)),
            BurntFees::Unknown => None,
        }
    }

    /// What a block burnt, in wei: of its base fee, its gas and the fees that all its transactions paid; `None` where
    /// that is not known. A block before London has no base fee.
    #[must_use]
    pub fn burnt_by_block(&self, base_fee: Option<U256>, gas_used: u64, fees: Option<U256>) -> Option<U256> {
        match self.burnt {
            BurntFees::BaseFee => Some(base_fee.unwrap_or_default().wrapping_mul(U256::from(gas_used))),
            BurntFees::Nothing => Some(U256::ZERO),
            BurntFees::Everything => fees,
            BurntFees::Unknown => None,
        }
    }

    /// Whether the base fee is what is paid in a block, whatever was signed. A block of Arbitrum may say in its mix
    /// hash that tips are collected (OffchainLabs/go-ethereum, `core/types/arb_types.go`, `HeaderInfo`), and version 9
    /// of ArbOS always did (OffchainLabs/nitro, `arbos/tx_processor.go`, `DropTip`).
    #[must_use]
    pub fn pays_base_fee(&self, mix_hash: Option<B256>) -> bool {
        let collects = |hash: B256| {
            let version = U256::from_be_slice(&hash[VERSION]);
            hash[COLLECTS_TIPS] & 1 == 1 || version == U256::from(COLLECTING_VERSION)
        };
        self.price == PriceRule::BaseFee && !mix_hash.is_some_and(collects)
    }

    /// What a receipt says that was paid for data on L1 beside the gas, in wei; `None` where the chain has no such fee.
    #[must_use]
    pub fn l1_fee_of(&self, receipt: &Map<String, Value>) -> Option<U256> {
        let is_beside = self.l1_fee_sign.is_none_or(|sign| receipt.contains_key(sign));
        receipt.get(self.l1_fee.filter(|_| is_beside)?).and_then(quantity)
    }

    /// What the operator took of a transaction by the parameters in its receipt, in wei; `None` where the chain has no
    /// such fee.
    #[must_use]
    pub fn operator_fee_of(&self, receipt: &Map<String, Value>, gas_used: u64) -> Option<U256> {
        self.has_operator_fee().then(|| operator_fee(receipt, gas_used))?
    }

    /// Whether the operator of its chains may take a fee, since a fork of the stack.
    #[must_use]
    pub fn has_operator_fee(&self) -> bool {
        self.reader.fee.iter().any(|part| part.source == RestSource::OperatorFee)
    }

    /// The part above the base fee that the maker of the block got, in wei; `None` where that is not known.
    #[must_use]
    pub fn tip(&self, paid: GasPayment) -> Option<U256> {
        match self.burnt {
            BurntFees::Unknown => None,
            BurntFees::Everything => Some(U256::ZERO),
            BurntFees::BaseFee | BurntFees::Nothing => {
                Some(paid.price.saturating_sub(paid.base_fee).wrapping_mul(U256::from(paid.gas)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::families::{ARBITRUM, AVALANCHE, ETHEREUM, MANTLE, OPTIMISM, ZKSYNC};
    use serde_json::json;

    #[test]
    fn a_fee_for_data_that_is_part_of_the_gas_is_not_paid_twice() {
        let fee = |family: &Family, receipt: &Value| receipt.as_object().and_then(|receipt| family.l1_fee_of(receipt));
        let before = json!({"l1Fee": "0x7", "tokenRatio": "0xbb8"});
        let since = json!({"l1Fee": "0x7", "tokenRatio": "0xbb8", "daFootprintGasScalar": "0x190"});
        assert_eq!((fee(&MANTLE, &before), fee(&MANTLE, &since)), (None, Some(U256::from(7))));
        assert_eq!((fee(&OPTIMISM, &before), fee(&ETHEREUM, &since)), (Some(U256::from(7)), None));
    }

    #[test]
    fn fees_are_split_as_each_chain_does() {
        let paid = GasPayment { gas: 21_000, price: U256::from(12), base_fee: U256::from(10) };
        let (base, tip, all) = (U256::from(210_000), U256::from(42_000), U256::from(252_000));
        for (family, burnt, tips) in [
            (&ETHEREUM, Some(base), Some(tip)),
            (&OPTIMISM, Some(U256::ZERO), Some(tip)),
            (&ARBITRUM, Some(U256::ZERO), Some(tip)),
            (&AVALANCHE, Some(all), Some(U256::ZERO)),
            (&ZKSYNC, None, None),
        ] {
            assert_eq!((family.burnt(paid), family.tip(paid)), (burnt, tips), "{}", family.name);
        }
        let mut flags = B256::ZERO;
        assert!(ARBITRUM.pays_base_fee(Some(flags)) && !ETHEREUM.pays_base_fee(Some(flags)));
        flags.0[25] = 1;
        assert!(!ARBITRUM.pays_base_fee(Some(flags)), "tips are collected");
        for (version, pays) in [(8, true), (9, false), (10, true), (60, true)] {
            let mut of_version = B256::ZERO;
            of_version.0[23] = version;
            assert_eq!(ARBITRUM.pays_base_fee(Some(of_version)), pays, "ArbOS {version}");
        }
        let base_fee_only = GasPayment { price: U256::from(10), ..paid };
        assert_eq!(ARBITRUM.tip(base_fee_only), Some(U256::ZERO));
        let free = GasPayment { price: U256::ZERO, ..paid };
        assert_eq!((ETHEREUM.burnt(free), ETHEREUM.tip(free)), (Some(U256::ZERO), Some(U256::ZERO)));
    }
}
