//! What is known of the addresses on a page, and the words for their logs and calls: looked up in one go.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use super::catalogue::Wanted;
use super::{App, Problem};
use crate::json::address::{AddressFacts, Addresses, Proxy};
use crate::json::token_transfers::Tokens;
use crate::json::vocabulary::Vocabulary;
use crate::primitives::Address;
use crate::query;
use crate::schema::{ProxyRow, TokenStatisticsRow};
use crate::store::Head;

impl App {
    /// What is known of `shown` as of `head`: a few reads side by side, however many addresses there are.
    pub(super) async fn addresses(
        &self,
        shown: impl IntoIterator<Item = Address>,
        head: &Head,
    ) -> Result<(Addresses, Tokens), Problem> {
        let (addresses, tokens, _) = self.directory(shown, Wanted::default(), head).await?;
        Ok((addresses, tokens))
    }

    /// The same and the words for what is `wanted`, in the same round: what was loaded of an implementation is read
    /// with what was loaded of its proxy. Only where the proxy's part was remembered there is a second one.
    pub(super) async fn directory(
        &self,
        shown: impl IntoIterator<Item = Address>,
        wanted: Wanted,
        head: &Head,
    ) -> Result<(Addresses, Tokens, Vocabulary), Problem> {
        let shown: BTreeSet<Address> = shown.into_iter().chain(wanted.contracts()).collect();
        let shown: Vec<Address> = shown.into_iter().collect();
        let blocks = head.blocks.span();
        let known = async {
            if shown.is_empty() {
                return Ok(<_>::default());
            }
            let (contracts, proxies, tokens, statistics) = (
                query::addresses::contracts(&shown, &blocks),
                query::addresses::proxies(&shown, &blocks),
                query::addresses::tokens(&shown),
                query::addresses::statistics(&shown),
            );
            Ok(tokio::try_join!(
                self.reader().rows(&contracts),
                self.reader().rows(&proxies),
                self.reader().rows(&tokens),
                self.reader().rows(&statistics)
            )?)
        };
        let lookup = self.catalogue().lookup(self.reader(), head.labels, &shown, wanted);
        let ((contracts, proxies, tokens, statistics), lookup) = tokio::try_join!(known, lookup)?;
        let beacons = self.beacons(&proxies, head).await?;
        let mut facts: HashMap<Address, AddressFacts> = HashMap::new();
        for contract in contracts {
            facts.entry(contract.address).or_default().is_contract = true;
        }
        let mut pointers: HashMap<Address, Vec<ProxyRow>> = HashMap::new();
        for proxy in proxies {
            pointers.entry(proxy.address).or_default().push(proxy.clone());
            point(facts.entry(proxy.address).or_default(), proxy, &beacons);
        }
        // An account that took its delegation back is an account again.
        facts.values_mut().for_each(|facts| facts.is_contract |= facts.proxy.is_some());
        for token in &tokens {
            let facts = facts.entry(token.address).or_default();
            facts.is_contract = true;
            // The newest word counts, and comes last.
            facts.token_name.clone_from(&token.name);
        }
        let (labels, words) = lookup.with_pointers(self.reader(), pointers, beacons).await?;
        for (address, labels) in labels {
            facts.entry(address).or_default().labels = Arc::clone(&labels);
        }
        let told: HashMap<Address, _> = tokens.into_iter().map(|token| (token.address, token)).collect();
        let prices = told.keys().chain(&shown);
        let prices = prices.filter_map(|token| Some((*token, self.options().prices.of(token)?))).collect();
        Ok((Addresses(facts), Tokens { told, counted: counted(statistics), prices }, words))
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

/// What beacons said of whom those that look at them forward their calls to, each from the oldest word to the newest.
type Beacons = HashMap<Address, Vec<ProxyRow>>;

impl App {
    /// What the beacons of `proxies` said; nothing is read where there are none.
    async fn beacons(&self, proxies: &[ProxyRow], head: &Head) -> Result<Beacons, Problem> {
        let looked_at = proxies.iter().filter(|proxy| proxy.kind == BEACON && !proxy.implementation.is_zero());
        let looked_at: BTreeSet<Address> = looked_at.map(|proxy| proxy.implementation).collect();
        let looked_at: Vec<Address> = looked_at.into_iter().collect();
        let mut beacons = Beacons::new();
        if looked_at.is_empty() {
            return Ok(beacons);
        }
        let upgrades = query::addresses::beacon_upgrades(&looked_at, &head.receipts.span());
        for upgrade in self.reader().rows(&upgrades).await?.into_iter().rev() {
            let implementation = Address::from_word(upgrade.topic1);
            let (address, block_number) = (upgrade.address, upgrade.block_number);
            let row = ProxyRow { address, block_number, kind: "beacon".into(), implementation };
            beacons.entry(address).or_default().push(row);
        }
        Ok(beacons)
    }
}

/// The kind of a proxy that asks another contract whom to forward its calls to.
const BEACON: &str = "eip1967_beacon";

/// Notes where an address points to from some block on; the zero address takes an earlier word of that kind back.
fn point(facts: &mut AddressFacts, proxy: ProxyRow, beacons: &Beacons) {
    let is_same = |known: &Proxy| known.kind == proxy.kind;
    if proxy.implementation.is_zero() {
        facts.proxy.take_if(|known| is_same(known));
        return;
    }
    let implementation = if proxy.kind == BEACON {
        // A beacon names the implementation, and is none itself.
        beacons.get(&proxy.implementation).and_then(|words| words.last()).map(|word| word.implementation)
    } else {
        Some(proxy.implementation)
    };
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
        let beacons = Beacons::from([(Address::repeat_byte(8), vec![row("beacon", 3), row("beacon", 4)])]);
        let point = |facts: &mut AddressFacts, row| point(facts, row, &beacons);
        point(&mut facts, row("eip1967", 5));
        point(&mut facts, row("eip1967", 6));
        assert_eq!(facts.proxy.as_ref().and_then(|proxy| proxy.implementation), Some(Address::repeat_byte(6)));
        point(&mut facts, row("eip7702", 0));
        assert!(facts.proxy.is_some());
        point(&mut facts, row("eip1967", 0));
        assert!(facts.proxy.is_none());
        point(&mut facts, row("eip1967_beacon", 9));
        assert_eq!(facts.proxy, Some(Proxy { kind: BEACON.into(), implementation: None }));
        point(&mut facts, row("eip1967_beacon", 8));
        let named = facts.proxy.and_then(|proxy| proxy.implementation);
        assert_eq!(named, Some(Address::repeat_byte(4)), "the newest word of the beacon");
    }
}
