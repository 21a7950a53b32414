//! The state of one call: known values, cached values, and the keys that a run found missing.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Instant;

use revm::database_interface::{DBErrorMarker, DatabaseRef};
use revm::primitives::KECCAK_EMPTY;
use revm::state::{AccountInfo, Bytecode};

use super::cache::Lookup;
use super::{Account, AccountOverride, Key, Point, RecentBlocks, StateCache, StateValue, bytecode};
use trawl_core::primitives::{Address, B256, U256};

/// The known part of the state after a block, with the overrides of the caller.
#[derive(Debug)]
pub struct PartialState {
    cache: StateCache,
    point: Point,
    newer: Arc<dyn RecentBlocks>,
    known: HashMap<Key, StateValue>,
    overrides: BTreeMap<Address, AccountOverride>,
}

impl PartialState {
    /// The state after the block of `point` and what `newer` blocks change, with the values in `cache`.
    #[must_use]
    pub fn new(
        cache: StateCache,
        point: Point,
        newer: Arc<dyn RecentBlocks>,
        overrides: BTreeMap<Address, AccountOverride>,
    ) -> Self {
        Self { cache, point, newer, known: HashMap::new(), overrides }
    }

    /// Adds the value that a key has after the block of the point.
    pub fn learn(&mut self, key: Key, value: StateValue) {
        let value = match self.newer.change(&key) {
            Some(change) => change.apply(value),
            None => value,
        };
        self.known.insert(key, value);
    }

    /// The value of a key without overrides; `None` if unknown.
    #[must_use]
    pub fn value(&self, key: &Key) -> Option<StateValue> {
        match self.lookup(key) {
            Lookup::Known(value) => Some(value),
            _ => None,
        }
    }

    /// Whether the value of a key is known. A known value is pinned: it stays known even if the cache evicts it.
    pub fn pin(&mut self, key: &Key) -> bool {
        match self.value(key) {
            Some(value) => {
                self.known.insert(*key, value);
                true
            }
            None => false,
        }
    }

    /// The nonce of an account, with overrides; `None` if unknown.
    pub(super) fn nonce(&self, address: &Address) -> Option<u64> {
        let forced = self.overrides.get(address).and_then(|account| account.nonce);
        forced.or_else(|| match self.value(&Key::Account(*address))? {
            StateValue::Account(account) => Some(account.nonce),
            _ => None,
        })
    }

    /// The balance of an account, with overrides; `None` if unknown.
    pub(super) fn balance(&self, address: &Address) -> Option<U256> {
        let forced = self.overrides.get(address).and_then(|account| account.balance);
        forced.or_else(|| match self.value(&Key::Account(*address))? {
            StateValue::Account(account) => Some(account.balance),
            _ => None,
        })
    }

    fn lookup(&self, key: &Key) -> Lookup {
        if let Some(value) = self.known.get(key) {
            return Lookup::Known(value.clone());
        }
        let Some(change) = self.newer.change(key) else { return self.cache.get(key, self.point, &*self.newer) };
        if let Some(value) = change.value() {
            return Lookup::Known(value);
        }
        match self.cache.get(key, self.point, &*self.newer) {
            Lookup::Known(value) => Lookup::Known(change.apply(value)),
            Lookup::Guess(value) => Lookup::Guess(change.apply(value)),
            Lookup::Nothing => Lookup::Nothing,
        }
    }

    /// A view of the state that records missing keys.
    pub(super) fn probe(&self, deadline: Instant) -> Probe<'_> {
        Probe { state: self, missing: RefCell::default(), deadline }
    }
}

/// One run's view of a [`PartialState`]. The run continues past missing state, with a value after another block or with
/// an empty one, to find further keys that it needs.
#[derive(Debug)]
pub(super) struct Probe<'a> {
    state: &'a PartialState,
    missing: RefCell<BTreeSet<Key>>,
    deadline: Instant,
}

/// Why the view ended a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum ProbeError {
    /// The run exceeded its deadline.
    #[error("the call took longer than this server allows")]
    Late,
    /// Enough keys are missing for a fetch, and the values in use are guesses.
    #[error("enough is missing")]
    Astray,
}

impl DBErrorMarker for ProbeError {}

/// Most missing keys of a run before they are fetched: a request for so many takes about 0.2 s.
const MAX_MISSING_KEYS: usize = 1000;

impl Probe<'_> {
    /// The keys that the run read and that are unknown.
    pub fn missing(&self) -> Vec<Key> {
        self.missing.borrow().iter().copied().collect()
    }

    /// Whether the run read something that is unknown.
    pub fn is_missing_some(&self) -> bool {
        !self.missing.borrow().is_empty()
    }

    /// The value of a key, or a guess; `None` if there is neither.
    fn read(&self, key: Key) -> Result<Option<StateValue>, ProbeError> {
        if Instant::now() >= self.deadline {
            return Err(ProbeError::Late);
        }
        let guess = match self.state.lookup(&key) {
            Lookup::Known(value) => return Ok(Some(value)),
            Lookup::Guess(value) => Some(value),
            Lookup::Nothing => None,
        };
        let mut missing = self.missing.borrow_mut();
        missing.insert(key);
        if missing.len() >= MAX_MISSING_KEYS { Err(ProbeError::Astray) } else { Ok(guess) }
    }
}

impl DatabaseRef for Probe<'_> {
    type Error = ProbeError;

    fn basic_ref(&self, address: Address) -> Result<Option<AccountInfo>, ProbeError> {
        let forced = self.state.overrides.get(&address);
        let is_forced_whole = forced.is_some_and(|it| it.balance.is_some() && it.nonce.is_some() && it.code.is_some());
        let found = if is_forced_whole { None } else { self.read(Key::Account(address))? };
        let account = match found {
            Some(StateValue::Account(account)) => account,
            _ => Account::default(),
        };
        let mut info = AccountInfo {
            balance: account.balance,
            nonce: account.nonce,
            code_hash: account.code_hash,
            code: (account.code_hash == KECCAK_EMPTY).then(Bytecode::default),
            ..AccountInfo::default()
        };
        if let Some(forced) = forced {
            info.balance = forced.balance.unwrap_or(info.balance);
            info.nonce = forced.nonce.unwrap_or(info.nonce);
            if let Some(code) = &forced.code {
                let code = bytecode(code.clone());
                info.code_hash = code.hash_slow();
                info.code = Some(code);
            }
        }
        Ok((forced.is_some() || !account.is_empty()).then_some(info))
    }

    fn code_by_hash_ref(&self, code_hash: B256) -> Result<Bytecode, ProbeError> {
        if code_hash == KECCAK_EMPTY {
            return Ok(Bytecode::default());
        }
        Ok(match self.read(Key::Code(code_hash))? {
            Some(StateValue::Code(code)) => code,
            _ => Bytecode::default(),
        })
    }

    fn storage_ref(&self, address: Address, index: U256) -> Result<U256, ProbeError> {
        let slot = B256::from(index);
        if let Some(forced) = self.state.overrides.get(&address).and_then(|account| account.storage.slot(&slot)) {
            return Ok(forced);
        }
        Ok(match self.read(Key::Slot(address, slot))? {
            Some(StateValue::Slot(value)) => value,
            _ => U256::ZERO,
        })
    }

    fn block_hash_ref(&self, number: u64) -> Result<B256, ProbeError> {
        Ok(match self.read(Key::BlockHash(number))? {
            Some(StateValue::BlockHash(hash)) => hash,
            _ => B256::ZERO,
        })
    }
}
