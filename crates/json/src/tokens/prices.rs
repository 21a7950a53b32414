//! Token prices in exact decimals, without rounding and without floats.

use alloy_primitives::{U256, U512};

/// Digits of a decimal number, at most: two of them multiplied fit 512 bits.
const DIGITS: usize = 60;

/// A non-negative decimal number: its original text, and its digits for multiplication.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decimal {
    text: String,
    number: ScaledNumber,
}

/// The digits of a number with a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ScaledNumber {
    digits: U256,
    /// How many of the digits follow the point.
    scale: usize,
}

impl ScaledNumber {
    /// The product of two, exactly: sixty digits are 200 bits, and 256 more are 456.
    fn times(self, other: Self) -> String {
        let digits = self.digits.widening_mul::<256, 4, 512, 8>(other.digits);
        with_point(digits, self.scale + other.scale)
    }
}

impl Decimal {
    /// Reads digits with at most one point among them; none for anything else, or for more than 60 digits.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
        let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number(whole) || !is_number(fraction) {
            return None;
        }
        let fraction = if text.contains('.') { fraction } else { "" };
        if whole.len() + fraction.len() > DIGITS {
            return None;
        }
        let digits = U256::from_str_radix(&format!("{whole}{fraction}"), 10).ok()?;
        Some(Self { text: text.into(), number: ScaledNumber { digits, scale: fraction.len() } })
    }

    /// The original text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The exact value of `amount`, in the smallest unit of a token, at this price.
    #[must_use]
    pub fn of_amount(&self, amount: U256, decimals: u8) -> String {
        self.number.times(ScaledNumber { digits: amount, scale: decimals.into() })
    }

    /// The product of two, exactly.
    #[must_use]
    pub fn times(&self, other: &Self) -> String {
        self.number.times(other.number)
    }
}

/// A number with its point, without insignificant zeros.
fn with_point(digits: U512, scale: usize) -> String {
    let digits = format!("{digits:0>width$}", width = scale + 1);
    let (whole, fraction) = digits.split_at(digits.len() - scale);
    let fraction = fraction.trim_end_matches('0');
    if fraction.is_empty() { whole.into() } else { format!("{whole}.{fraction}") }
}

/// Price data of a token, in the currency of the price source.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TokenPrice {
    /// Price of one token.
    pub exchange_rate: Option<Decimal>,
    /// Trading volume of a day.
    pub volume_24h: Option<Decimal>,
    /// Market value of the tokens in circulation.
    pub circulating_market_cap: Option<Decimal>,
    /// Number of whole tokens in circulation.
    pub circulating_supply: Option<Decimal>,
    /// URL of its icon.
    pub icon_url: Option<String>,
}

impl TokenPrice {
    /// The market cap: that of the price source, else the price times the tokens in circulation, else the price times
    /// the supply, which is in the smallest unit.
    #[must_use]
    pub fn market_cap(&self, supply: Option<U256>, decimals: Option<u8>) -> Option<String> {
        if let Some(market_cap) = &self.circulating_market_cap {
            return Some(market_cap.text().into());
        }
        let price = self.exchange_rate.as_ref()?;
        match &self.circulating_supply {
            Some(circulating) => Some(price.times(circulating)),
            None => Some(price.of_amount(supply?, decimals?)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(text: &str) -> Decimal {
        Decimal::parse(text).unwrap_or_else(|| panic!("{text}"))
    }

    #[test]
    fn decimals_are_digits_with_at_most_one_point() {
        for text in ["0", "1.25", "00.10", "123456789012345678901234567890.123456789012345678901234567890"] {
            assert_eq!(decimal(text).text(), text);
        }
        let long = "1".repeat(61);
        for text in ["", ".", "1.", ".5", "-1", "+1", "1e5", "1.2.3", " 1", "NaN", "0x1", "１", &long] {
            assert_eq!(Decimal::parse(text), None, "{text}");
        }
    }

    #[test]
    fn products_are_exact() {
        // No double equals 0.1 or 2^256 - 1.
        assert_eq!(decimal("0.1").of_amount(U256::from(3), 0), "0.3");
        assert_eq!(
            decimal("0.3").of_amount(U256::MAX, 18),
            "34737626771194858627071295502606372355980995399692169211837.2752023739388919805"
        );
        assert_eq!(decimal("1.25").times(&decimal("4")), "5");
        assert_eq!(decimal("9".repeat(60).as_str()).of_amount(U256::MAX, 255).split('.').count(), 2);
        assert_eq!(decimal("0").of_amount(U256::MAX, 6), "0");
    }

    #[test]
    fn a_market_cap_is_given_or_derived_from_the_price() {
        let price = TokenPrice { exchange_rate: Some(decimal("2.5")), ..TokenPrice::default() };
        assert_eq!(price.market_cap(Some(U256::from(3_000_000)), Some(6)), Some("7.5".into()));
        assert_eq!(price.market_cap(None, Some(6)), None);
        assert_eq!(price.market_cap(Some(U256::from(1)), None), None);
        let circulating = TokenPrice { circulating_supply: Some(decimal("1.5")), ..price.clone() };
        assert_eq!(circulating.market_cap(Some(U256::from(3_000_000)), Some(6)), Some("3.75".into()));
        let given = TokenPrice { circulating_market_cap: Some(decimal("7.10")), ..price };
        assert_eq!(given.market_cap(None, None), Some("7.10".into()));
        assert_eq!(TokenPrice::default().market_cap(Some(U256::from(1)), Some(0)), None);
    }
}
