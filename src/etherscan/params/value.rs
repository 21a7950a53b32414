//! Values of parameters, from their text.

use serde_json::Value;

use crate::http::values::{BlockName, block_name};
use trawl_core::calendar;
use trawl_core::primitives::{Address, B256, BlockNumber};

/// `0x` and 40 digits, in any letter case.
pub(in crate::etherscan) fn address(text: &str) -> Option<Address> {
    text.trim().parse().ok()
}

/// Addresses with commas between them.
pub(in crate::etherscan) fn addresses(text: &str) -> Option<Vec<Address>> {
    text.split(',').map(address).collect()
}

/// `0x` and 64 digits.
pub(in crate::etherscan) fn hash(text: &str) -> Option<B256> {
    text.parse().ok()
}

/// An integer from 0, in decimal digits; `None` beyond 64 bits.
pub(in crate::etherscan) fn number(text: &str) -> Option<u64> {
    text.bytes().all(|digit| digit.is_ascii_digit()).then(|| text.parse().ok())?
}

/// The height of a block, or the newest one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::etherscan) enum Height {
    Number(BlockNumber),
    Latest,
}

/// Decimal digits, or `latest`.
pub(in crate::etherscan) fn height(text: &str) -> Option<Height> {
    match text.eq_ignore_ascii_case("latest") {
        true => Some(Height::Latest),
        false => number(text).map(Height::Number),
    }
}

/// A block whose state is read: by name, in decimal digits, or as a quantity of JSON-RPC.
pub(in crate::etherscan) fn tag(text: &str) -> Option<BlockName> {
    let decimal = number(text).map(BlockName::Number);
    decimal.or_else(|| block_name(&Value::from(text.to_ascii_lowercase())))
}

/// A day since 1970, of YYYY-MM-DD.
pub(in crate::etherscan) fn day(text: &str) -> Option<u64> {
    calendar::day(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_digits_alone() {
        assert_eq!(number("17"), Some(17));
        for text in ["", "+17", "-1", " 17", "0x11", "1e3", "99999999999999999999"] {
            assert_eq!(number(text), None, "{text}");
        }
    }

    #[test]
    fn blocks_have_names_and_heights() {
        assert_eq!(height("LATEST"), Some(Height::Latest));
        assert_eq!(height("9"), Some(Height::Number(9)));
        assert_eq!(tag("Latest"), Some(BlockName::Head));
        assert_eq!((tag("16"), tag("0x10")), (Some(BlockName::Number(16)), Some(BlockName::Number(16))));
        assert_eq!((height("earliest"), tag("newest"), tag("")), (None, None, None));
    }

    #[test]
    fn days_are_since_1970() {
        assert_eq!((day("1970-01-02"), day("1969-12-31"), day("2023-14-11")), (Some(1), None, None));
    }
}
