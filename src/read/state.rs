//! State after a block, read from the history tables in batches, and whether the tables have all of it.

mod accounts;
mod complete;
mod headers;
mod newest;
mod slots;
mod steps;
mod storage;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use futures_util::future::try_join_all;
use revm::primitives::KECCAK_EMPTY;

use crate::app::App;
use crate::cache::state_loads::{MAX_ACCOUNTS, MAX_SLOTS, StateWindow};
use crate::error::{MissingState, Problem};
use newest::NewestState;
use trawl_core::newest::NewestSpan;
use trawl_core::primitives::{Address, B256, BlockNumber, BlockRange, U256};
use trawl_core::readable::{Readable, Span};
use trawl_core::schema::BlockRow;
use trawl_core::store::Head;
use trawl_evm::{Account, AccountOverride, BlockContext, Fact, Key, PartialState, Point, StateValue, bytecode};
use trawl_query::state::{self, StateBlocks};

/// The state after one block. All changes up to that block are readable.
pub(crate) struct State {
    app: App,
    number: BlockNumber,
    /// The blocks up to the point, in tables.
    base: Span,
    /// The last of them.
    point: Point,
    /// The blocks after which state is read together, the point among them.
    window: StateWindow,
    /// The blocks above the point.
    newest: Arc<NewestState>,
    head: Arc<Head>,
}

/// Contracts into which the system writes values of the header; ingest adds these if the contracts exist from genesis
/// on.
const HEADER_CONTRACTS: [Address; 2] =
    [alloy_eips::eip4788::BEACON_ROOTS_ADDRESS, alloy_eips::eip2935::HISTORY_STORAGE_ADDRESS];
/// Contracts in which the system keeps counts of requests.
const REQUEST_CONTRACTS: [Address; 2] = [
    alloy_eips::eip7002::WITHDRAWAL_REQUEST_PREDEPLOY_ADDRESS,
    alloy_eips::eip7251::CONSOLIDATION_REQUEST_PREDEPLOY_ADDRESS,
];

/// The branch of facts that are not cached.
const UNCACHED: u64 = u64::MAX;

impl State {
    /// The state after the block at `number`.
    ///
    /// # Errors
    ///
    /// [`Problem::StateMissing`] when the changes of some block up to `number` are not indexed; or when the store
    /// fails.
    pub async fn after(app: &App, number: BlockNumber, head: &Arc<Head>) -> Result<Self, Problem> {
        let range = up_to(number);
        let known = &head.known_state;
        let missing = known.missing(range);
        if !missing.is_empty() {
            return Err(Problem::StateMissing(MissingState::new(missing, head)));
        }
        let state = Self::at_block(app, number, head, known);
        let without_system = head.state.missing(range);
        if !without_system.is_empty() && !state.knows_system_contracts(known).await? {
            return Err(Problem::StateMissing(MissingState::new(without_system, head)));
        }
        Ok(state)
    }

    /// The app, which all requests share.
    pub fn app(&self) -> &App {
        &self.app
    }

    /// The blocks whose changes make the state: from genesis up to the block.
    pub fn blocks(&self) -> Span {
        Span { newest: self.newest.above.clone(), ..self.base.clone() }
    }

    fn at_block(app: &App, number: BlockNumber, head: &Arc<Head>, known: &Readable) -> Self {
        let span = known.within(up_to(number));
        let sequence = head.newest.as_ref().map_or(0, |newest| newest.sequence);
        let base = Span { newest: NewestSpan::default(), ..span.clone() };
        let branch = if span.hot.is_empty() { 0 } else { sequence };
        // Nothing in the cache is about the state before genesis.
        let before_genesis = Point { block: BlockNumber::MAX, branch: u64::MAX };
        let point = base.highest().map_or(before_genesis, |block| Point { block, branch });
        let settled = known.settled().ranges().iter().find(|range| range.contains(point.block));
        let window = match settled {
            Some(settled) if branch == 0 => StateWindow::of_settled(point.block, *settled),
            _ => StateWindow::of_block(point.block, point.branch),
        };
        let newest = Arc::new(NewestState { above: span.newest, recent: head.recent_span() });
        Self { app: app.clone(), number, base, point, window, newest, head: Arc::clone(head) }
    }

    /// The state without any value, for a call with overrides.
    pub fn partial(&self, overrides: BTreeMap<Address, AccountOverride>) -> PartialState {
        let newer = Arc::<NewestState>::clone(&self.newest);
        PartialState::new(self.app.state_cache().clone(), self.point, newer, overrides)
    }

    /// Whether all writes of the system up to the block are indexed. Code at these addresses comes from the genesis or
    /// from one transaction each, and stays: an address without code now has never had storage to write into.
    async fn knows_system_contracts(&self, known: &Readable) -> Result<bool, Problem> {
        let before = Self::at_block(&self.app, 0, &self.head, known).code_hashes().await?;
        // A contract without code at the newest settled block had none below it: one lookup serves all those blocks.
        let settled = known.settled().ranges().first().map_or(0, |range| range.last());
        for number in [settled.max(self.number), self.number] {
            let now = Self::at_block(&self.app, number, &self.head, known).code_hashes().await?;
            let (header_contracts, request_contracts) = now.split_at(HEADER_CONTRACTS.len());
            if header_contracts == &before[..HEADER_CONTRACTS.len()]
                && request_contracts.iter().all(|hash| *hash == KECCAK_EMPTY)
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Hashes of the code of the system contracts.
    async fn code_hashes(&self) -> Result<Vec<B256>, Problem> {
        let contracts: Vec<Address> = HEADER_CONTRACTS.into_iter().chain(REQUEST_CONTRACTS).collect();
        Ok(self.accounts_of(&contracts).await?.into_iter().map(|account| account.code_hash).collect())
    }

    /// An account after the block.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub async fn account(&self, address: Address) -> Result<Account, Problem> {
        match self.value(Key::Account(address)).await? {
            StateValue::Account(account) => Ok(account),
            _ => Err(Problem::Internal),
        }
    }

    /// Accounts after the block, in the order of their addresses: those that are not cached are read together.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub async fn accounts_of(&self, addresses: &[Address]) -> Result<Vec<Account>, Problem> {
        let keys: Vec<Key> = addresses.iter().map(|address| Key::Account(*address)).collect();
        let mut partial = self.partial(BTreeMap::new());
        self.fetch(&keys, &mut partial).await?;
        let account = |key| match partial.value(key) {
            Some(StateValue::Account(account)) => Ok(account),
            _ => Err(Problem::Internal),
        };
        keys.iter().map(account).collect()
    }

    /// Slots after the block, in the order of the request: those that are not cached are read together.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub async fn slots_of(&self, slots: &[(Address, B256)]) -> Result<Vec<U256>, Problem> {
        let keys: Vec<Key> = slots.iter().map(|(address, slot)| Key::Slot(*address, *slot)).collect();
        let mut partial = self.partial(BTreeMap::new());
        self.fetch(&keys, &mut partial).await?;
        let slot = |key| match partial.value(key) {
            Some(StateValue::Slot(value)) => Ok(value),
            _ => Err(Problem::Internal),
        };
        keys.iter().map(slot).collect()
    }

    /// The value of one key after the block.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub async fn value(&self, key: Key) -> Result<StateValue, Problem> {
        let mut partial = self.partial(BTreeMap::new());
        if let Some(value) = partial.value(&key) {
            return Ok(value);
        }
        self.fetch(&[key], &mut partial).await?;
        partial.value(&key).ok_or(Problem::Internal)
    }

    /// Reads the values of `keys` after the block into `partial` and the cache, unless they are cached already.
    ///
    /// # Errors
    ///
    /// When the store fails, or when a block of `keys` is not readable.
    pub async fn fetch(&self, keys: &[Key], partial: &mut PartialState) -> Result<(), Problem> {
        let (mut addresses, mut slots, mut codes, mut blocks) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut headers = Vec::new();
        for key in keys.iter().filter(|key| !partial.pin(key)) {
            match *key {
                Key::Account(address) => addresses.push(address),
                Key::Slot(address, slot) => slots.push((address, slot)),
                Key::Code(hash) => codes.push(hash),
                Key::BlockHash(number) => blocks.push(number),
                Key::Block(number) => headers.push(self.headers(number)),
            }
        }
        slots.sort_unstable();
        let accounts = try_join_all(addresses.chunks(MAX_ACCOUNTS).map(|some| self.accounts(some)));
        let slots = try_join_all(slots.chunks(MAX_SLOTS).map(|some| self.slots(some)));
        let headers = try_join_all(headers);
        let (accounts, slots, codes, blocks, headers) =
            tokio::try_join!(accounts, slots, self.codes(&codes), self.block_hashes(&blocks), headers)?;
        for (key, facts) in accounts.into_iter().chain(slots).flatten() {
            self.learn(key, facts, partial)?;
        }
        for (key, fact) in codes.into_iter().chain(blocks).chain(headers.into_iter().flatten()) {
            partial.learn(key, fact.value.clone());
            if fact.branch != UNCACHED {
                self.app.state_cache().remember(key, fact);
            }
        }
        Ok(())
    }

    /// Puts the facts of the window into the cache, and the one of the point into `partial`.
    fn learn(&self, key: Key, facts: Arc<[Fact]>, partial: &mut PartialState) -> Result<(), Problem> {
        let fact = facts.iter().rfind(|fact| fact.since <= self.point.block).ok_or(Problem::Internal)?;
        partial.learn(key, fact.value.clone());
        let cache = self.app.state_cache();
        if self.window.is_one_block() {
            cache.remember(key, fact.clone());
        } else {
            cache.remember_window(key, facts);
        }
        Ok(())
    }

    /// The blocks that the history tables are read up to, and the first one after which state is requested.
    fn state_blocks(&self) -> StateBlocks {
        let mut history = self.base.clone();
        if let (false, Some(last)) = (self.window.is_one_block(), history.settled.last_mut()) {
            *last = BlockRange::new(last.first(), self.window.last).unwrap_or(*last);
        }
        StateBlocks { history, first: self.window.first }
    }

    /// A fact about a block itself, which never changes if the block is settled, and is not cached otherwise.
    fn fact_of(&self, number: BlockNumber, value: StateValue) -> Fact {
        let branch = if self.head.blocks.settled().contains(number) { 0 } else { UNCACHED };
        Fact { since: 0, until: BlockNumber::MAX, branch, value }
    }

    async fn codes(&self, hashes: &[B256]) -> Result<Vec<(Key, Fact)>, Problem> {
        if hashes.is_empty() {
            return Ok(Vec::new());
        }
        let mut rows = self.app.reader().rows(&state::newest_codes(hashes, &self.head.blocks.span())).await?;
        let found: HashSet<B256> = rows.iter().map(|row| row.code_hash).collect();
        let unknown: Vec<B256> = hashes.iter().copied().filter(|hash| !found.contains(hash)).collect();
        if !unknown.is_empty() {
            rows.extend(self.app.reader().rows(&state::codes(&unknown, &self.base)).await?);
        }
        if hashes.iter().any(|hash| rows.iter().all(|row| row.code_hash != *hash)) {
            tracing::error!(block = self.number, "bytecode is missing from `codes`");
            return Err(Problem::Internal);
        }
        let fact = |row: state::CodeBytes| {
            let value = StateValue::Code(bytecode(row.code));
            (Key::Code(row.code_hash), Fact { since: 0, until: BlockNumber::MAX, branch: 0, value })
        };
        Ok(rows.into_iter().map(fact).collect())
    }

    /// Block hashes by height; zero for a height that is not readable, as for one above the head.
    async fn block_hashes(&self, numbers: &[BlockNumber]) -> Result<Vec<(Key, Fact)>, Problem> {
        let (Some(first), Some(last)) = (numbers.iter().min(), numbers.iter().max()) else { return Ok(Vec::new()) };
        let range = BlockRange::new(*first, *last).expect("the minimum and the maximum");
        let span = self.head.blocks.within(range);
        let rows =
            if span.is_empty() { Vec::new() } else { self.app.reader().rows(&state::block_hashes(&span)).await? };
        let hashes: HashMap<BlockNumber, B256> = rows.into_iter().map(|row| (row.block_number, row.hash)).collect();
        let fact = |number: &BlockNumber| {
            let hash = hashes.get(number).copied().unwrap_or_default();
            (Key::BlockHash(*number), self.fact_of(*number, StateValue::BlockHash(hash)))
        };
        Ok(numbers.iter().map(fact).collect())
    }
}

/// A header as code sees it.
pub(crate) fn block_context(block: &BlockRow) -> BlockContext {
    BlockContext {
        number: block.block_number,
        timestamp: block.timestamp.seconds(),
        miner: block.miner,
        producer: block.producer,
        gas_limit: block.gas_limit,
        base_fee_per_gas: block.base_fee_per_gas.unwrap_or(U256::ZERO).saturating_to(),
        difficulty: block.difficulty,
        mix_hash: block.mix_hash,
        excess_blob_gas: block.excess_blob_gas,
        extra_data: block.extra_data.clone(),
    }
}

fn up_to(number: BlockNumber) -> BlockRange {
    BlockRange::new(0, number).expect("nothing is below 0")
}
