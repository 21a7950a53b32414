//! Facts of the addresses on a page, and the vocabulary (ABI entries, signatures) of their logs and calls, looked up in
//! one round.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use super::state_proxies::state_proxies;
use super::token_facts::token_facts;
use crate::app::App;
use crate::enrich::contracts::{ContractFacts, ContractInfo};
use crate::enrich::labels::{BY_STATE, LabelQuery};
use crate::error::Problem;
use trawl_core::primitives::Address;
use trawl_core::schema::{ProxyRow, TokenRow};
use trawl_core::store::Head;
use trawl_json::addresses::address::{AddressFacts, Addresses, Proxy};
use trawl_json::tokens::prices::TokenPrice;
use trawl_json::tokens::transfers::Tokens;
use trawl_json::vocabulary::Vocabulary;

impl App {
    /// The facts of `shown` as of `head`: a few concurrent reads, however many addresses there are.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub(crate) async fn addresses(
        &self,
        shown: impl IntoIterator<Item = Address>,
        head: &Head,
    ) -> Result<Addresses, Problem> {
        let (addresses, _, _) = self.address_info(shown, LabelQuery::default(), head).await?;
        Ok(addresses)
    }

    /// The facts of `shown`, and the tokens and the vocabulary that `label_query` names, in one round: labels of an
    /// implementation are read together with those of its proxy. Only a proxy whose part was cached needs a second
    /// round.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub(crate) async fn address_info(
        &self,
        shown: impl IntoIterator<Item = Address>,
        label_query: LabelQuery,
        head: &Head,
    ) -> Result<(Addresses, Tokens, Vocabulary), Problem> {
        let contracts = if head.labels > 0 { label_query.contracts() } else { BTreeSet::new() };
        let shown: BTreeSet<Address> = shown.into_iter().chain(contracts).collect();
        let shown: Vec<Address> = shown.into_iter().collect();
        let (counted, named) = (label_query.tokens.clone(), label_query.names.clone());
        // A list of addresses shows what records say; a contract by itself, and what decodes its calls and logs, its
        // state too.
        let forwarding: BTreeSet<Address> = if head.labels > 0 { label_query.contracts() } else { BTreeSet::new() }
            .union(&label_query.proxies)
            .copied()
            .collect();
        let contract_facts = self.contracts().facts(self.reader(), &shown, &counted, head);
        let lookup = self.labels().lookup(self.reader(), head.labels, &shown, label_query);
        let ran_code = self.ran_code().of(self.reader(), &shown, head);
        let (ContractFacts { code, mut tokens, counted }, lookup, ran_code) =
            tokio::try_join!(contract_facts, lookup, ran_code)?;
        let mut pointers: HashMap<Address, Vec<ProxyRow>> = code
            .iter()
            .filter(|(_, code)| !code.pointers.is_empty())
            .map(|(address, code)| (*address, code.pointers.clone()))
            .collect();
        let proxies: Vec<&ProxyRow> = pointers.values().flatten().collect();
        let without_record = |address: &Address| {
            code.get(address).is_none_or(|code| code.pointers.iter().all(|pointer| pointer.kind == BEACON))
        };
        let forwarding = forwarding.into_iter().filter(without_record).collect();
        let (by_state, mut primary) =
            tokio::try_join!(state_proxies(self, head, forwarding), self.primary_names(head, &named))?;
        // All implementations that proxies ever forwarded calls to are shown with their names.
        let implementations: BTreeSet<Address> = proxies
            .iter()
            .map(|proxy| proxy.implementation)
            .chain(by_state.values().flat_map(Proxy::implementations).copied())
            .collect();
        let is_unknown = |address: &Address| !address.is_zero() && !code.contains_key(address);
        let implementations: Vec<Address> = implementations.into_iter().filter(is_unknown).collect();
        let tokens_of_implementations =
            async { Ok(self.contracts().tokens(self.reader(), &implementations, head).await?) };
        let (beacons, more_tokens) = tokio::try_join!(self.beacons(&proxies, head), tokens_of_implementations)?;
        tokens.extend(more_tokens);
        let mut facts: HashMap<Address, AddressFacts> = HashMap::new();
        for (address, code) in &code {
            let facts = facts.entry(*address).or_default();
            code.pointers.iter().for_each(|proxy| apply_proxy(facts, proxy, &beacons));
            facts.is_contract =
                is_contract(code, facts.proxy.as_ref(), head).or(ran_code.contains(address).then_some(true));
        }
        for (address, proxy) in by_state {
            pointers.entry(address).or_default().splice(0..0, state_pointers(address, &proxy));
            facts.entry(address).or_default().proxy = Some(proxy);
        }
        let (labels, vocabulary) =
            lookup.with_pointers(self.reader(), head.blocks.settled(), pointers, beacons).await?;
        let chain_id = self.chain_id(head);
        let named: BTreeSet<Address> =
            shown.iter().chain(&implementations).chain(counted.keys()).chain(tokens.keys()).copied().collect();
        let with_facts = |address: Address| {
            Some((address, token_facts(address, tokens.get(&address), labels.get(&address), chain_id)?))
        };
        let tokens: HashMap<Address, Arc<TokenRow>> = named.into_iter().filter_map(with_facts).collect();
        for (address, token) in &tokens {
            let facts = facts.entry(*address).or_default();
            // A constructor may make transfers and leave no code.
            facts.is_contract.get_or_insert(true);
            facts.token_name.clone_from(&token.name);
        }
        let prices = tokens.keys().chain(&shown);
        let mut prices: HashMap<Address, TokenPrice> =
            prices.filter_map(|token| Some((*token, self.options().prices.of(token)?))).collect();
        for (address, labels) in labels {
            if let Some(icon) = labels.token.as_ref().and_then(|token| token.icon_url.clone()) {
                prices.entry(address).or_default().icon_url.get_or_insert(icon);
            }
            facts.entry(address).or_default().labels = labels;
        }
        for address in shown {
            let name = primary.remove(&address).or_else(|| self.names().verified_lately(&address));
            if name.is_some() {
                facts.entry(address).or_default().primary_name = name;
            }
        }
        Ok((Addresses(facts), Tokens { metadata: tokens, counted, prices }, vocabulary))
    }

    /// Reads the facts of `shown` and `tokens` into the caches, concurrently with other reads of a page.
    ///
    /// # Errors
    ///
    /// When the store fails.
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

/// Whether an address is a contract, as far as creations and proxy records say.
fn is_contract(code: &ContractInfo, proxy: Option<&Proxy>, head: &Head) -> Option<bool> {
    let delegates = proxy.is_some_and(|proxy| proxy.kind == DELEGATION);
    if !code.creations.is_empty() || delegates {
        return Some(true);
    }
    // An account that revoked its delegation is a plain account again; whoever wrote other records runs code, unless
    // all creations are known: a constructor may write one and leave no code.
    let is_account = code.pointers.iter().any(|pointer| pointer.kind == DELEGATION);
    if is_account || code.is_codeless || head.knows_all_code() {
        return Some(false);
    }
    (!code.pointers.is_empty()).then_some(true)
}

/// The kind of the record of an account that delegates to a contract.
const DELEGATION: &str = "eip7702";

/// The implementations that beacons named, by beacon, from the oldest record to the newest.
type Beacons = HashMap<Address, Vec<ProxyRow>>;

impl App {
    /// The records of the beacons of `proxies`; nothing is read if there are none.
    async fn beacons(&self, proxies: &[&ProxyRow], head: &Head) -> Result<Beacons, Problem> {
        let named = proxies.iter().filter(|proxy| proxy.kind == BEACON && !proxy.implementation.is_zero());
        let addresses: BTreeSet<Address> = named.map(|proxy| proxy.implementation).collect();
        let addresses: Vec<Address> = addresses.into_iter().collect();
        let mut beacons = Beacons::new();
        if addresses.is_empty() {
            return Ok(beacons);
        }
        let upgrades = trawl_query::addresses::beacon_upgrades(&addresses, &head.receipts.span());
        for upgrade in self.reader().rows(&upgrades).await?.into_iter().rev() {
            let implementation = Address::from_word(upgrade.topic1);
            let (address, block_number) = (upgrade.address, upgrade.block_number);
            let row = ProxyRow { address, block_number, kind: "beacon".into(), implementation };
            beacons.entry(address).or_default().push(row);
        }
        Ok(beacons)
    }
}

/// Pointers to the implementations of a proxy in the state. The block where each one began is unknown; all of them
/// apply.
fn state_pointers(address: Address, proxy: &Proxy) -> Vec<ProxyRow> {
    let pointer = |(position, implementation): (usize, &Address)| ProxyRow {
        address,
        block_number: 0,
        kind: format!("{BY_STATE} {position}"),
        implementation: *implementation,
    };
    proxy.implementations().enumerate().map(pointer).collect()
}

/// The kind of a proxy that reads its implementation from another contract, the beacon.
const BEACON: &str = "eip1967_beacon";

/// Applies a proxy record to the facts of its address; the zero address revokes the earlier record of that kind.
fn apply_proxy(facts: &mut AddressFacts, proxy: &ProxyRow, beacons: &Beacons) {
    let is_same = |known: &Proxy| known.kind == proxy.kind;
    if proxy.implementation.is_zero() {
        facts.proxy.take_if(|known| is_same(known));
        return;
    }
    let implementation = if proxy.kind == BEACON {
        // A beacon names the implementation and is not one itself.
        beacons.get(&proxy.implementation).and_then(|records| records.last()).map(|record| record.implementation)
    } else {
        Some(proxy.implementation)
    };
    facts.proxy = Some(Proxy { implementation, ..Proxy::new(&proxy.kind) });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(kind: &str, implementation: u8) -> ProxyRow {
        let implementation = Address::repeat_byte(implementation);
        ProxyRow { address: Address::repeat_byte(1), block_number: 7, kind: kind.into(), implementation }
    }

    #[test]
    fn the_newest_record_counts_and_zero_revokes_it() {
        let mut facts = AddressFacts::default();
        let beacons = Beacons::from([(Address::repeat_byte(8), vec![row("beacon", 3), row("beacon", 4)])]);
        let apply = |facts: &mut AddressFacts, row| apply_proxy(facts, &row, &beacons);
        apply(&mut facts, row("eip1967", 5));
        apply(&mut facts, row("eip1967", 6));
        assert_eq!(facts.proxy.as_ref().and_then(|proxy| proxy.implementation), Some(Address::repeat_byte(6)));
        apply(&mut facts, row("eip7702", 0));
        assert!(facts.proxy.is_some());
        apply(&mut facts, row("eip1967", 0));
        assert!(facts.proxy.is_none());
        apply(&mut facts, row("eip1967_beacon", 9));
        assert_eq!(facts.proxy, Some(Proxy::new(BEACON)));
        apply(&mut facts, row("eip1967_beacon", 8));
        let named = facts.proxy.and_then(|proxy| proxy.implementation);
        assert_eq!(named, Some(Address::repeat_byte(4)), "the newest record of the beacon");
    }
}
