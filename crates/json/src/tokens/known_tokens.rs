//! Names, symbols and decimals of well-known tokens by chain, for contracts that were not queried.
//!
//! The lists have one token a line: `known_tokens.txt` is kept by hand, and `cargo xtask tokens` writes
//! `listed_tokens.txt` from public token lists.

use std::collections::{BTreeMap, HashMap};
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
    let lists = [include_str!("known_tokens.txt"), include_str!("listed_tokens.txt")];
    lists.into_iter().flat_map(str::lines).filter(|line| !line.starts_with('#'))
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

/// The well-known tokens of a chain, in the order of their addresses.
#[must_use]
pub fn known_tokens(chain_id: u64) -> BTreeMap<Address, KnownToken> {
    TOKENS.iter().filter(|((chain, _), _)| *chain == chain_id).map(|((_, address), token)| (*address, *token)).collect()
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
        assert_eq!(known_tokens(1).get(&address).map(|token| token.symbol), Some("USDC"));
        assert!(!known_tokens(10).contains_key(&address) && known_tokens(31_337).is_empty());
    }

    #[test]
    fn bridged_tokens_are_known_where_they_are() {
        // Contracts of bridges, as public token lists have them (token_lists.txt).
        for (chain, address, symbol) in [
            (10, "0x94b008aA00579c1307B0EF2c499aD98a8ce58e58", "USDT"),
            (10, "0x7F5c764cBc14f9669B88837ca1490cCa17c31607", "USDC"),
            (137, "0x1BFD67037B42Cf73acF2047067bd4F2C47D9BfD6", "WBTC"),
            (42_161, "0xf97f4df75117a78c1A5a0DBb814Af92458539FB4", "LINK"),
            (8453, "0x50c5725949A6F0c72E6C4a641F24049A917DB0Cb", "DAI"),
        ] {
            let found = known_token(chain, &address.parse().expect("an address"));
            assert_eq!(found.map(|token| token.symbol), Some(symbol), "{chain} {address}");
        }
    }
}
