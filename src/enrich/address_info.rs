//! What is known of the addresses on a page, and the words for their logs and calls: looked up in one go.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use crate::app::App;
use crate::enrich::contracts::Facts;
use crate::enrich::labels::LabelQuery;
use crate::error::Problem;
use trawl_core::primitives::Address;
use trawl_core::schema::ProxyRow;
use trawl_core::store::Head;
use trawl_json::address::{AddressFacts, Addresses, Proxy};
use trawl_json::token_transfers::Tokens;
use trawl_json::vocabulary::Vocabulary;

impl App {
    /// What is known of `shown` as of `head`: a few reads side by side, however many addresses there are.
    pub(crate) async fn addresses(
        &self,
        shown: impl IntoIterator<Item = Address>,
        head: &Head,
    ) -> Result<Addresses, Problem> {
        let (addresses, _, _) = self.address_info(shown, LabelQuery::default(), head).await?;
        Ok(addresses)
    }

    /// The same and the tokens and words for what is `wanted`, in the same round: what was loaded of an implementation is read
    /// with what was loaded of its proxy. Only where the proxy's part was remembered there is a second one.
    pub(crate) async fn address_info(
        &self,
        shown: impl IntoIterator<Item = Address>,
        wanted: LabelQuery,
        head: &Head,
    ) -> Result<(Addresses, Tokens, Vocabulary), Problem> {
        let contracts = if head.labels > 0 { wanted.contracts() } else { BTreeSet::new() };
        let shown: BTreeSet<Address> = shown.into_iter().chain(contracts).collect();
        let shown: Vec<Address> = shown.into_iter().collect();
        let counted = wanted.tokens.clone();
        let known = self.contracts().facts(self.reader(), &shown, &counted, head);
        let lookup = self.labels().lookup(self.reader(), head.labels, &shown, wanted);
        let (Facts { code, mut tokens, counted }, lookup) = tokio::try_join!(known, lookup)?;
        let pointers: HashMap<Address, Vec<ProxyRow>> = code
            .iter()
            .filter(|(_, code)| !code.pointers.is_empty())
            .map(|(address, code)| (*address, code.pointers.clone()))
            .collect();
        let proxies: Vec<&ProxyRow> = pointers.values().flatten().collect();
        // Those their calls were ever forwarded to are shown with their names.
        let behind: BTreeSet<Address> = proxies.iter().map(|proxy| proxy.implementation).collect();
        let is_unknown = |address: &Address| !address.is_zero() && !code.contains_key(address);
        let behind: Vec<Address> = behind.into_iter().filter(is_unknown).collect();
        let behind = async { Ok(self.contracts().tokens(self.reader(), &behind, head).await?) };
        let (beacons, behind) = tokio::try_join!(self.beacons(&proxies, head), behind)?;
        tokens.extend(behind);
        let mut facts: HashMap<Address, AddressFacts> = HashMap::new();
        for (address, code) in &code {
            let facts = facts.entry(*address).or_default();
            code.pointers.iter().for_each(|proxy| point(facts, proxy, &beacons));
            // An account that took its delegation back is an account again.
            facts.is_contract = code.is_created || facts.proxy.is_some();
        }
        for (address, token) in &tokens {
            let facts = facts.entry(*address).or_default();
            facts.is_contract = true;
            facts.token_name.clone_from(&token.name);
        }
        let (labels, words) = lookup.with_pointers(self.reader(), head.blocks.settled(), pointers, beacons).await?;
        for (address, labels) in labels {
            facts.entry(address).or_default().labels = Arc::clone(&labels);
        }
        let prices = tokens.keys().chain(&shown);
        let prices = prices.filter_map(|token| Some((*token, self.options().prices.of(token)?))).collect();
        Ok((Addresses(facts), Tokens { told: tokens, counted, prices }, words))
    }

    /// Reads facts of `shown` and `tokens` into the caches, beside other reads of a page.
    pub(crate) async fn prefetch(
        &self,
        shown: &BTreeSet<Address>,
        tokens: &BTreeSet<Address>,
        head: &Head,
    ) -> Result<(), Problem> {
        let shown: Vec<Address> = shown.iter().copied().collect();
        Ok(self.contracts().facts(self.reader(), &shown, tokens, head).await.map(drop)?)
    }
}

/// What beacons said of whom those that look at them forward their calls to, each from the oldest word to the newest.
type Beacons = HashMap<Address, Vec<ProxyRow>>;

impl App {
    /// What the beacons of `proxies` said; nothing is read where there are none.
    async fn beacons(&self, proxies: &[&ProxyRow], head: &Head) -> Result<Beacons, Problem> {
        let looked_at = proxies.iter().filter(|proxy| proxy.kind == BEACON && !proxy.implementation.is_zero());
        let looked_at: BTreeSet<Address> = looked_at.map(|proxy| proxy.implementation).collect();
        let looked_at: Vec<Address> = looked_at.into_iter().collect();
        let mut beacons = Beacons::new();
        if looked_at.is_empty() {
            return Ok(beacons);
        }
        let upgrades = trawl_query::addresses::beacon_upgrades(&looked_at, &head.receipts.span());
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
fn point(facts: &mut AddressFacts, proxy: &ProxyRow, beacons: &Beacons) {
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
    facts.proxy = Some(Proxy { kind: proxy.kind.clone(), implementation });
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
        let point = |facts: &mut AddressFacts, row| point(facts, &row, &beacons);
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
