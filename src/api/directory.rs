//! What is known of the addresses on a page: looked up in one go, never one by one.

use std::collections::{BTreeSet, HashMap};

use super::{App, Problem};
use crate::json::address::{AddressFacts, Addresses, Proxy};
use crate::json::token_transfers::Tokens;
use crate::primitives::Address;
use crate::query;
use crate::schema::{ProxyRow, TokenStatisticsRow};
use crate::store::Head;

impl App {
    /// What is known of `shown` as of `head`: four reads side by side, however many addresses there are, and a fifth
    /// for the names of implementations.
    pub(super) async fn addresses(
        &self,
        shown: impl IntoIterator<Item = Address>,
        head: &Head,
    ) -> Result<(Addresses, Tokens), Problem> {
        let shown: Vec<Address> = shown.into_iter().collect::<BTreeSet<_>>().into_iter().collect();
        if shown.is_empty() {
            return Ok(<_>::default());
        }
        let blocks = head.blocks.span();
        let (contracts, proxies, tokens, statistics) = (
            query::addresses::contracts(&shown, &blocks),
            query::addresses::proxies(&shown, &blocks),
            query::addresses::tokens(&shown),
            query::addresses::statistics(&shown),
        );
        let (contracts, proxies, tokens, statistics) = tokio::try_join!(
            self.reader().rows(&contracts),
            self.reader().rows(&proxies),
            self.reader().rows(&tokens),
            self.reader().rows(&statistics)
        )?;
        let mut facts: HashMap<Address, AddressFacts> = HashMap::new();
        for contract in contracts {
            facts.entry(contract.address).or_default().is_contract = true;
        }
        for proxy in proxies {
            point(facts.entry(proxy.address).or_default(), proxy);
        }
        // An account that took its delegation back is an account again.
        facts.values_mut().for_each(|facts| facts.is_contract |= facts.proxy.is_some());
        // The newest word counts, and comes last.
        let mut tokens: HashMap<Address, _> = tokens.into_iter().map(|token| (token.address, token)).collect();
        let implementations: Vec<Address> = facts
            .values()
            .filter_map(|facts| facts.proxy.as_ref()?.implementation)
            .filter(|implementation| !tokens.contains_key(implementation))
            .collect();
        if !implementations.is_empty() {
            let named = self.reader().rows(&query::addresses::tokens(&implementations)).await?;
            tokens.extend(named.into_iter().map(|token| (token.address, token)));
        }
        for (address, token) in &tokens {
            let facts = facts.entry(*address).or_default();
            facts.is_contract = true;
            facts.name.clone_from(&token.name);
        }
        let prices = tokens.keys().chain(&shown);
        let prices = prices.filter_map(|token| Some((*token, self.options().prices.of(token)?))).collect();
        Ok((Addresses(facts), Tokens { told: tokens, counted: counted(statistics), prices }))
    }
}

/// The newest word on each token, which comes last, by kind of its transfers.
fn counted(rows: Vec<TokenStatisticsRow>) -> HashMap<Address, Vec<TokenStatisticsRow>> {
    let mut counted: HashMap<Address, Vec<TokenStatisticsRow>> = HashMap::new();
    for row in rows {
        let kinds = counted.entry(row.token_address).or_default();
        kinds.retain(|kind| kind.token_type != row.token_type);
        kinds.push(row);
    }
    counted
}

/// Notes where an address points to from some block on; the zero address takes an earlier word of that kind back.
fn point(facts: &mut AddressFacts, proxy: ProxyRow) {
    let is_same = |known: &Proxy| known.kind == proxy.kind;
    if proxy.implementation.is_zero() {
        facts.proxy.take_if(|known| is_same(known));
        return;
    }
    // A beacon names the implementation, and is none itself.
    let implementation = (proxy.kind != "eip1967_beacon").then_some(proxy.implementation);
    facts.proxy = Some(Proxy { kind: proxy.kind, implementation });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(kind: &str, implementation: u8) -> ProxyRow {
        let implementation = Address::repeat_byte(implementation);
        ProxyRow { address: Address::repeat_byte(1), block_number: 7, kind: kind.into(), implementation }
    }

    #[test]
    fn the_newest_word_counts_and_zero_takes_it_back() {
        let mut facts = AddressFacts::default();
        point(&mut facts, row("eip1967", 5));
        point(&mut facts, row("eip1967", 6));
        assert_eq!(facts.proxy.as_ref().and_then(|proxy| proxy.implementation), Some(Address::repeat_byte(6)));
        point(&mut facts, row("eip7702", 0));
        assert!(facts.proxy.is_some());
        point(&mut facts, row("eip1967", 0));
        assert!(facts.proxy.is_none());
        point(&mut facts, row("eip1967_beacon", 9));
        assert_eq!(facts.proxy, Some(Proxy { kind: "eip1967_beacon".into(), implementation: None }));
    }
}
