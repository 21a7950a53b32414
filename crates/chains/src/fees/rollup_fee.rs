//! What a transaction of a rollup pays beside its gas: for its data on L1, and to the operator. Formulas and storage
//! layout: <https://specs.optimism.io/protocol/exec-engine.html>.

use alloy_primitives::{Address, U256, address, uint};

use serde_json::{Map, Value};

use crate::fees::fast_lz::compressed_size;
use crate::fields::quantity;
use crate::transaction_type::DEPOSIT_NONCE;

/// The contract that has the parameters of both fees, which the first deposit of each block sets.
pub const FEE_PARAMETERS: Address = address!("4200000000000000000000000000000000000015");
/// The account that gets the base fee.
pub const BASE_FEE_VAULT: Address = address!("4200000000000000000000000000000000000019");
/// The account that gets what is paid for data on L1.
pub const L1_FEE_VAULT: Address = address!("420000000000000000000000000000000000001a");
/// The account that gets the operator's fee.
pub const OPERATOR_FEE_VAULT: Address = address!("420000000000000000000000000000000000001b");

const L1_BASE_FEE: U256 = uint!(1_U256);
/// Scalars of Ecotone: bytes 16 to 20 for the base fee, 20 to 24 for the blob base fee.
const SCALARS: U256 = uint!(3_U256);
const OVERHEAD: U256 = uint!(5_U256);
const SCALAR: U256 = uint!(6_U256);
const BLOB_BASE_FEE: U256 = uint!(7_U256);
/// Bytes 20 to 24 the scalar, 24 to 32 the constant.
const OPERATOR: U256 = uint!(8_U256);

const MILLION: U256 = uint!(1_000_000_U256);
/// Of the estimated size of a transaction in millionths of a byte: what is taken away, what each compressed byte adds,
/// and the least.
const SIZE_INTERCEPT: U256 = uint!(42_585_600_U256);
const SIZE_PER_BYTE: U256 = uint!(836_500_U256);
const MIN_SIZE: U256 = uint!(100_000_000_U256);

/// What is paid for data on L1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum L1FeeFormula {
    /// Gas of the bytes and an overhead, at the base fee of L1 (Regolith).
    Overhead,
    /// Gas of the bytes, at a mix of base fee and blob base fee (Ecotone).
    Scalars,
    /// The estimated size after compression, at that mix (Fjord).
    EstimatedSize,
}

/// What is paid to the operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperatorFeeFormula {
    /// Millionths of the gas (Isthmus).
    Millionths,
    /// Hundreds of the gas (Jovian).
    Hundreds,
}

/// What of the bytes of a signed transaction the fee for data depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DataSize {
    zeros: u64,
    others: u64,
    compressed: u64,
}

impl DataSize {
    /// Of the bytes that its hash is of.
    #[must_use]
    pub fn of(encoded: &[u8]) -> Self {
        let others = encoded.iter().filter(|byte| **byte != 0).count() as u64;
        Self { zeros: encoded.len() as u64 - others, others, compressed: compressed_size(encoded) }
    }

    fn gas(self) -> U256 {
        U256::from(4 * self.zeros + 16 * self.others)
    }

    /// In millionths of a byte.
    fn estimated(self) -> U256 {
        (SIZE_PER_BYTE * U256::from(self.compressed)).saturating_sub(SIZE_INTERCEPT).max(MIN_SIZE)
    }
}

impl L1FeeFormula {
    /// The fee in wei, with the values of slots of [`FEE_PARAMETERS`].
    ///
    /// # Errors
    ///
    /// Those of `slot`.
    pub fn fee<E>(self, data: DataSize, mut slot: impl FnMut(U256) -> Result<U256, E>) -> Result<U256, E> {
        let base_fee = slot(L1_BASE_FEE)?;
        if self != Self::Overhead {
            let (blob_base_fee, scalars) = (slot(BLOB_BASE_FEE)?, slot(SCALARS)?);
            let (base_scalar, blob_scalar) = (part(scalars, 96, 32), part(scalars, 64, 32));
            // The first block of Ecotone still has the parameters of before.
            if !(blob_base_fee.is_zero() && base_scalar.is_zero() && blob_scalar.is_zero()) {
                let base = U256::from(16).wrapping_mul(base_scalar).wrapping_mul(base_fee);
                let price = base.wrapping_add(blob_scalar.wrapping_mul(blob_base_fee));
                return Ok(match self {
                    Self::EstimatedSize => data.estimated().wrapping_mul(price) / (MILLION * MILLION),
                    _ => data.gas().wrapping_mul(price) / (U256::from(16) * MILLION),
                });
            }
        }
        let gas = data.gas().wrapping_add(slot(OVERHEAD)?);
        Ok(gas.wrapping_mul(base_fee).wrapping_mul(slot(SCALAR)?) / MILLION)
    }
}

impl OperatorFeeFormula {
    /// The fee in wei of an amount of gas, with the values of slots of [`FEE_PARAMETERS`].
    ///
    /// # Errors
    ///
    /// Those of `slot`.
    pub fn fee<E>(self, gas: u64, slot: impl FnOnce(U256) -> Result<U256, E>) -> Result<U256, E> {
        let parameters = slot(OPERATOR)?;
        Ok(self.of_parameters(gas, part(parameters, 64, 32), part(parameters, 0, 64)))
    }

    /// The fee in wei of an amount of gas.
    fn of_parameters(self, gas: u64, scalar: U256, constant: U256) -> U256 {
        let scaled = U256::from(gas).wrapping_mul(scalar);
        let scaled = match self {
            Self::Millionths => scaled / MILLION,
            Self::Hundreds => scaled.wrapping_mul(U256::from(100)),
        };
        scaled.wrapping_add(constant)
    }
}

/// The operator's fee by the parameters in a receipt; since Jovian that has the factor of the gas of its data too.
/// Deposits pay none, though some clients give them the parameters.
pub(crate) fn operator_fee(receipt: &Map<String, Value>, gas_used: u64) -> Option<U256> {
    if receipt.contains_key(DEPOSIT_NONCE) {
        return None;
    }
    let parameter = |name: &str| receipt.get(name).and_then(quantity);
    let formula = match receipt.contains_key("daFootprintGasScalar") {
        true => OperatorFeeFormula::Hundreds,
        false => OperatorFeeFormula::Millionths,
    };
    let (scalar, constant) = (parameter("operatorFeeScalar")?, parameter("operatorFeeConstant")?);
    Some(formula.of_parameters(gas_used, scalar, constant))
}

/// Some bits of a word, from the lowest of them on.
fn part(word: U256, lowest: usize, bits: usize) -> U256 {
    (word >> lowest) & ((U256::from(1) << bits) - U256::from(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloy_primitives::hex;

    /// A transfer of nothing, unsigned: 30 bytes, none of them zero.
    const TRANSFER: [u8; 30] = hex!("dd80808094095e7baea6a6c7c4c2dfeb977efac326af552d878080808080");

    fn slots(values: &[(U256, U256)]) -> impl Fn(U256) -> Result<U256, ()> {
        move |slot| Ok(values.iter().find(|(key, _)| *key == slot).map_or(U256::ZERO, |(_, value)| *value))
    }

    /// By hand from the formulas of the specification.
    #[test]
    fn fees_for_data_are_those_of_the_specification() {
        let data = DataSize::of(&TRANSFER);
        let (gwei, seven) = (U256::from(1_000_000_000_u64), U256::from(7_000_000));
        let before = [(L1_BASE_FEE, gwei), (OVERHEAD, U256::from(50)), (SCALAR, seven)];
        // (480 + 50) × 10^9 × 7.
        let regolith = U256::from(3_710_000_000_000_u64);
        assert_eq!(L1FeeFormula::Overhead.fee(data, slots(&before)), Ok(regolith));
        assert_eq!(L1FeeFormula::Scalars.fee(data, slots(&before)), Ok(regolith), "the first block of Ecotone");
        // Scalars 2 and 3, and a sequence number that is no scalar.
        let scalars = (U256::from(2) << 96) | (U256::from(3) << 64) | U256::from(9);
        let after = [(L1_BASE_FEE, gwei), (BLOB_BASE_FEE, U256::from(10_000_000)), (SCALARS, scalars)];
        // 480 × (16 × 2 × 10^9 + 3 × 10^7) / (16 × 10^6).
        assert_eq!(L1FeeFormula::Scalars.fee(data, slots(&after)), Ok(U256::from(960_900)));
        // 100 bytes, the least: 10^8 × (16 × 2 × 10^9 + 3 × 10^7) / 10^12.
        assert_eq!(L1FeeFormula::EstimatedSize.fee(data, slots(&after)), Ok(U256::from(3_203_000)));
        let long = DataSize { compressed: 202, ..data };
        // 836,500 × 202 − 42,585,600 = 126,387,400 millionths.
        assert_eq!(L1FeeFormula::EstimatedSize.fee(long, slots(&after)), Ok(U256::from(4_048_188)));
    }

    #[test]
    fn fees_of_operators_are_those_of_the_specification() {
        let parameters = (U256::from(500_000) << 64) | U256::from(77);
        let values = [(OPERATOR, parameters)];
        let slots = slots(&values);
        assert_eq!(OperatorFeeFormula::Millionths.fee(21_000, &slots), Ok(U256::from(10_577)));
        assert_eq!(OperatorFeeFormula::Hundreds.fee(21_000, &slots), Ok(U256::from(1_050_000_000_077_u64)));
    }
}
