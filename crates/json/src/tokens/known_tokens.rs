//! Names, symbols and decimals of well-known tokens by chain, for contracts that were not queried.
//!
//! The list is `known_tokens.txt`, one token a line.

use std::collections::HashMap;
use std::sync::LazyLock;

use trawl_core::primitives::Address;

/// A well-known ERC-20 token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownToken {
    /// Decimal digits of an amount that follow the point.
    pub decimals: u8,
    /// Symbol, such as `USDC`.
    pub symbol: &'static str,
    /// Name, such as `USD Coin`.
    pub name: &'static str,
}

static TOKENS: LazyLock<HashMap<(u64, Address), KnownToken>> = LazyLock::new(|| lines().filter_map(token).collect());

fn lines() -> impl Iterator<Item = &'static str> {
    include_str!("known_tokens.txt").lines().filter(|line| !line.starts_with('#'))
}

fn token(line: &'static str) -> Option<((u64, Address), KnownToken)> {
    let [chain, address, decimals, symbol, name] =
        <[&str; 5]>::try_from(line.splitn(5, ' ').collect::<Vec<_>>()).ok()?;
    let known = KnownToken { decimals: decimals.parse().ok()?, symbol, name };
    Some(((chain.parse().ok()?, address.parse().ok()?), known))
}

/// The well-known token at `address` on a chain.
#[must_use]
pub fn known_token(chain_id: u64, address: &Address) -> Option<KnownToken> {
    TOKENS.get(&(chain_id, *address)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_a_token_with_the_checksum_of_its_address() {
        assert_eq!(TOKENS.len(), lines().count());
        for line in lines() {
            let address = line.split(' ').nth(1).expect("an address");
            assert!(Address::parse_checksummed(address, None).is_ok(), "{line}");
        }
    }

    #[test]
    fn a_token_is_known_on_its_chain_alone() {
        let address = "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48".parse().expect("an address");
        let known = known_token(1, &address);
        assert_eq!(known, Some(KnownToken { decimals: 6, symbol: "USDC", name: "USD Coin" }));
        assert_eq!(known_token(10, &address), None);
    }
}
