//! Where proxies forward their calls to, as the state after the head says: their slots, and what they and their beacons
//! answer. Records of changes (`proxy_implementations`) have the proxies that one slot or their code shows; this has
//! the others.
//!
//! Without state nothing is known. Results are cached under the view of the chain from which they were read.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use alloy_primitives::{b256, hex};
use revm::primitives::KECCAK_EMPTY;

use super::contract_calls::ContractCalls;
use crate::app::App;
use crate::error::Problem;
use crate::read::state::State;
use trawl_core::primitives::returned::number;
use trawl_core::primitives::{Address, B256, U256};
use trawl_core::store::Head;
use trawl_evm::{Key, PartialState, StateValue};
use trawl_json::addresses::address::Proxy;

/// Most contracts that one request looks at.
pub(crate) const MAX_CONTRACTS: usize = 16;
/// Most implementations of a diamond that are shown.
const MAX_FACETS: usize = 256;
/// A minimal proxy is shorter than this, and shows where it forwards to in its code, of which there are records.
const MINIMAL_BYTES: usize = 64;

/// `keccak256("eip1967.proxy.beacon") - 1` (EIP-1967).
const BEACON: B256 = b256!("a3f0ad74e5423aebfd80d3ef4346578335a9a72aeaee59ff6cb3582b35133d50");
/// `keccak256("eip1967.proxy.implementation") - 1` (EIP-1967).
const IMPLEMENTATION: B256 = b256!("360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc");
/// `keccak256("PROXIABLE")`, the slot of the implementation (EIP-1822).
const PROXIABLE: B256 = b256!("c5f16f0fcc639fa48a6947836d9850f504798523bf8c9a3a87d5876cf622bcf7");
/// `keccak256("org.zeppelinos.proxy.implementation")`: what OpenZeppelin used before EIP-1967.
const ZEPPELIN_OS: B256 = b256!("7050c9e0f4ca769c69bd3a8ef740bc37934f8e2c036e5a723fd8ee048ed3f8c3");
/// The first slot, where the proxies of Safe have their master copy.
const FIRST: B256 = B256::ZERO;

/// `implementation()` of a beacon (EIP-1967) and of a proxy (EIP-897).
const ASK_IMPLEMENTATION: [u8; 4] = hex!("5c60da1b");
/// `proxyType()` of a proxy (EIP-897).
const ASK_TYPE: [u8; 4] = hex!("4555d5c9");
/// `masterCopy()` of Safe.
const ASK_MASTER_COPY: [u8; 4] = hex!("a619486e");
/// `getImplementation()` and `comptrollerImplementation()`, which some proxies have instead.
const ASK_GET_IMPLEMENTATION: [u8; 4] = hex!("aaf10f42");
const ASK_COMPTROLLER: [u8; 4] = hex!("bb82aa5e");
/// An unused selector: what a call of it runs is what the proxy forwards to.
const UNUSED: [u8; 4] = hex!("ffffffff");
/// `facetAddresses()` of a diamond (EIP-2535).
const ASK_FACETS: [u8; 4] = hex!("52ef6b2c");

/// A contract that forwards calls, perhaps.
struct Candidate<'c> {
    calls: &'c ContractCalls<'c>,
    address: Address,
    is_minimal: bool,
    slots: &'c PartialState,
}

/// The proxies among `contracts`. What is not known, as state is missing or a call takes too long, is left out.
///
/// # Errors
///
/// When the store fails.
pub(crate) async fn state_proxies(
    app: &App,
    head: &Head,
    mut contracts: Vec<Address>,
) -> Result<HashMap<Address, Proxy>, Problem> {
    contracts.truncate(MAX_CONTRACTS);
    let mut found: HashMap<Address, Option<Arc<Proxy>>> = HashMap::new();
    for contract in &contracts {
        found.extend(app.contracts().state_proxy(head, *contract).map(|known| (*contract, known)));
    }
    contracts.retain(|contract| !found.contains_key(contract));
    if !contracts.is_empty() {
        found.extend(read(app, head, &contracts).await?);
    }
    Ok(found.into_iter().filter_map(|(contract, proxy)| Some((contract, Proxy::clone(&*proxy?)))).collect())
}

async fn read(app: &App, head: &Head, contracts: &[Address]) -> Result<HashMap<Address, Option<Arc<Proxy>>>, Problem> {
    let Some(calls) = ContractCalls::at_head(app, head) else { return Ok(HashMap::new()) };
    let state = match State::after(app, calls.number, &calls.head).await {
        Err(Problem::StateMissing(_)) => return Ok(HashMap::new()),
        state => state?,
    };
    let mut slots = state.partial(std::collections::BTreeMap::new());
    let forwarding = forwarding(&state, contracts, &mut slots).await?;
    let keys = [BEACON, IMPLEMENTATION, PROXIABLE, ZEPPELIN_OS, FIRST];
    let keys: Vec<Key> = forwarding.keys().flat_map(|contract| keys.map(|slot| Key::Slot(*contract, slot))).collect();
    state.fetch(&keys, &mut slots).await?;
    let mut found = HashMap::new();
    for contract in contracts {
        let proxy = match forwarding.get(contract) {
            None => Ok(None),
            Some(size) => {
                let (address, is_minimal) = (*contract, *size < MINIMAL_BYTES);
                Candidate { calls: &calls, address, is_minimal, slots: &slots }.proxy().await
            }
        };
        // Something that a call did not answer in time is not known.
        if let Ok(proxy) = proxy {
            let proxy = proxy.map(Arc::new);
            app.contracts().keep_state_proxy(&calls.head, *contract, proxy.clone());
            found.insert(*contract, proxy);
        }
    }
    Ok(found)
}

/// Those whose code can run other code as their own, with the size of it.
async fn forwarding(
    state: &State,
    contracts: &[Address],
    partial: &mut PartialState,
) -> Result<HashMap<Address, usize>, Problem> {
    let accounts: Vec<Key> = contracts.iter().map(|contract| Key::Account(*contract)).collect();
    state.fetch(&accounts, partial).await?;
    let mut hashes: HashMap<Address, B256> = HashMap::new();
    for contract in contracts {
        if let Some(StateValue::Account(account)) = partial.value(&Key::Account(*contract))
            && account.code_hash != KECCAK_EMPTY
        {
            hashes.insert(*contract, account.code_hash);
        }
    }
    let codes: HashSet<B256> = hashes.values().copied().collect();
    state.fetch(&codes.into_iter().map(Key::Code).collect::<Vec<_>>(), partial).await?;
    let size = |(contract, hash): (Address, B256)| match partial.value(&Key::Code(hash)) {
        Some(StateValue::Code(code)) => {
            let code = code.original_byte_slice();
            can_forward(code).then_some((contract, code.len()))
        }
        _ => None,
    };
    Ok(hashes.into_iter().filter_map(size).collect())
}

/// Whether there is a DELEGATECALL or CALLCODE in a code, outside of the data of pushes.
fn can_forward(code: &[u8]) -> bool {
    const PUSH1: u8 = 0x60;
    const PUSH32: u8 = 0x7f;
    let mut rest = code;
    while let Some((opcode, after)) = rest.split_first() {
        match opcode {
            0xf2 | 0xf4 => return true,
            PUSH1..=PUSH32 => rest = after.get(usize::from(opcode - PUSH1) + 1..).unwrap_or_default(),
            _ => rest = after,
        }
    }
    false
}

impl Candidate<'_> {
    /// The proxy that it is, if it is any.
    async fn proxy(&self) -> Result<Option<Proxy>, Problem> {
        if let Some(beacon) = self.pointer(BEACON) {
            let implementation = self.address_from(beacon, ASK_IMPLEMENTATION).await?;
            return Ok(Some(Proxy { implementation, ..Proxy::new("eip1967_beacon") }));
        }
        for (slot, kind) in [(IMPLEMENTATION, "eip1967"), (PROXIABLE, "eip1822"), (ZEPPELIN_OS, "eip1967_oz")] {
            if let Some(implementation) = self.pointer(slot) {
                return Ok(Some(Proxy { implementation: Some(implementation), ..Proxy::new(kind) }));
            }
        }
        if let Some(first) = self.pointer(FIRST)
            && self.address_from(self.address, ASK_MASTER_COPY).await? == Some(first)
        {
            return Ok(Some(Proxy { implementation: Some(first), ..Proxy::new("master_copy") }));
        }
        if self.is_minimal { Ok(None) } else { self.proxy_by_calls().await }
    }

    /// A diamond, or a proxy that says what it is.
    async fn proxy_by_calls(&self) -> Result<Option<Proxy>, Problem> {
        let facets = self.calls.returned(self.address, ASK_FACETS).await?.and_then(|answer| addresses(&answer));
        if let Some((first, others)) = facets.as_deref().and_then(<[Address]>::split_first) {
            let (implementation, others) = (Some(*first), others.to_vec());
            return Ok(Some(Proxy { implementation, others, ..Proxy::new("eip2535") }));
        }
        let proxy_type = self.calls.returned(self.address, ASK_TYPE).await?.and_then(|answer| number(&answer));
        if proxy_type.is_some_and(|kind| kind == U256::ONE || kind == U256::from(2))
            && let Some(implementation) = self.address_from(self.address, ASK_IMPLEMENTATION).await?
        {
            return Ok(Some(Proxy { implementation: Some(implementation), ..Proxy::new("eip897") }));
        }
        self.proxy_by_name().await
    }

    /// A proxy of no standard, that names its implementation and runs it. Beacons and factories name one and run none.
    async fn proxy_by_name(&self) -> Result<Option<Proxy>, Problem> {
        for (selector, kind) in [
            (ASK_IMPLEMENTATION, "basic_implementation"),
            (ASK_GET_IMPLEMENTATION, "basic_get_implementation"),
            (ASK_COMPTROLLER, "comptroller"),
        ] {
            if let Some(implementation) = self.address_from(self.address, selector).await?
                && self.calls.touched(self.address, UNUSED).await?.contains(&implementation)
            {
                return Ok(Some(Proxy { implementation: Some(implementation), ..Proxy::new(kind) }));
            }
        }
        Ok(None)
    }

    /// The address in a slot, whose upper bytes some keep flags in.
    fn pointer(&self, slot: B256) -> Option<Address> {
        match self.slots.value(&Key::Slot(self.address, slot)) {
            Some(StateValue::Slot(value)) => {
                Some(Address::from_word(value.to_be_bytes::<32>().into())).filter(|address| !address.is_zero())
            }
            _ => None,
        }
    }

    /// The address that a contract answers.
    async fn address_from(&self, contract: Address, selector: [u8; 4]) -> Result<Option<Address>, Problem> {
        Ok(self.calls.returned(contract, selector).await?.and_then(|answer| one_address(&answer)))
    }
}

/// The address of an answer of one word.
fn one_address(answer: &[u8]) -> Option<Address> {
    let (padding, address) = <[u8; 32]>::try_from(answer).ok().map(|word| (word[..12] == [0; 12], word))?;
    let address = Address::from_slice(&address[12..]);
    (padding && !address.is_zero()).then_some(address)
}

/// The addresses of an answer that is one list of them.
fn addresses(answer: &[u8]) -> Option<Vec<Address>> {
    let mut words = answer.chunks(32);
    let (offset, length) = (number(words.next()?)?, number(words.next()?)?);
    let length = usize::try_from(length).ok().filter(|length| *length <= MAX_FACETS)?;
    if offset != U256::from(32) || answer.len() != 64 + 32 * length {
        return None;
    }
    words.map(one_address).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_forwards_by_an_opcode_and_not_by_data() {
        assert!(can_forward(&hex!("60006000f4")) && can_forward(&hex!("61f4f4f2")));
        assert!(!can_forward(&hex!("60f4")) && !can_forward(&hex!("7ff4f4")) && !can_forward(&[]));
    }

    #[test]
    fn a_list_of_addresses_is_read_whole_or_not() {
        let word = |number: u8| B256::with_last_byte(number).0;
        let list = [word(0x20), word(2), word(7), word(8)].concat();
        assert_eq!(addresses(&list), Some(vec![Address::with_last_byte(7), Address::with_last_byte(8)]));
        assert_eq!(addresses(&list[..96]), None);
        assert_eq!(addresses(&[word(0x20), [0xff; 32], word(7)].concat()), None);
        assert_eq!(addresses(&[word(0x20), word(1), [0xff; 32]].concat()), None);
        assert_eq!(addresses(&[word(0x20), word(0)].concat()), Some(vec![]));
    }
}
