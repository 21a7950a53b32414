//! Amounts of coins and tokens as people read them.

use trawl_core::primitives::U256;

/// Decimals of the chain's own coin.
pub(crate) const COIN_DECIMALS: u8 = 18;

/// An amount with its point, without insignificant zeros.
pub(crate) fn decimal(amount: U256, decimals: u8) -> String {
    let digits = format!("{amount:0>width$}", width = usize::from(decimals) + 1);
    let (whole, fraction) = digits.split_at(digits.len() - usize::from(decimals));
    let fraction = fraction.trim_end_matches('0');
    if fraction.is_empty() { whole.into() } else { format!("{whole}.{fraction}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_have_their_point() {
        assert_eq!(decimal(U256::from(1), 18), "0.000000000000000001");
        assert_eq!(decimal(U256::from(100), 2), "1");
        assert_eq!(decimal(U256::from(105), 2), "1.05");
        assert_eq!(decimal(U256::ZERO, 6), "0");
        assert_eq!(decimal(U256::from(42), 0), "42");
    }
}
