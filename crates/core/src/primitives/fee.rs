//! What a transaction paid.

use super::U256;

/// The parts of what a transaction paid, in wei. What blobs cost is no part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TransactionFee {
    /// Gas that it used.
    pub gas_used: u64,
    /// For each gas.
    pub gas_price: U256,
    /// For data on L1; `None` where the chain has no such fee.
    pub l1_fee: Option<U256>,
    /// To the operator of a rollup; `None` where the chain has no such fee.
    pub operator_fee: Option<U256>,
}

impl TransactionFee {
    /// The parts together; `None` if that is more than 256 bits hold.
    #[must_use]
    pub fn total(&self) -> Option<U256> {
        let for_gas = self.gas_price.checked_mul(U256::from(self.gas_used))?;
        for_gas.checked_add(self.l1_fee.unwrap_or_default())?.checked_add(self.operator_fee.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fee_is_the_sum_of_its_parts() {
        let [price, l1_fee, operator_fee] = [7, 100, 10].map(U256::from);
        let mut fee = TransactionFee { gas_used: 3, gas_price: price, l1_fee: None, operator_fee: None };
        assert_eq!(fee.total(), Some(U256::from(21)));
        fee = TransactionFee { l1_fee: Some(l1_fee), operator_fee: Some(operator_fee), ..fee };
        assert_eq!(fee.total(), Some(U256::from(131)));
        fee.gas_price = U256::MAX;
        assert_eq!(fee.total(), None);
    }
}
