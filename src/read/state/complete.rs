//! All of the state after a block, where it is small and known to be all.

use std::collections::{BTreeMap, HashMap};

use super::State;
use crate::app::App;
use crate::error::Problem;
use crate::read::transactions::receipt_rows::require_header;
use crate::read::transactions::receipt_trie::hashed;
use alloy_consensus::Header;
use trawl_core::primitives::{Address, B256, BlockNumber, U256};
use trawl_core::store::Head;
use trawl_evm::simulation::WholeState;
use trawl_query::state::complete::{StateChange, changes};

/// Most rows of a table that are read for it.
const MAX_ROWS: usize = 10_000;

impl App {
    /// The header of a block, which hashes to its hash, and that hash.
    ///
    /// # Errors
    ///
    /// [`Problem::NotEncodable`] where it does not; when the block is not readable; or when the store fails.
    pub(crate) async fn header(&self, head: &Head, number: BlockNumber) -> Result<(Header, B256), Problem> {
        let batch = self.block_at(number, head).await?.ok_or(Problem::BlockNotFound)?;
        let block = batch.rows().next().ok_or(Problem::BlockNotFound)?;
        let header = require_header(&block).and_then(|()| hashed(&block));
        Ok((header.map_err(|reason| Problem::NotEncodable(number, reason))?, block.hash))
    }
}

impl State {
    /// All accounts and slots after the block, if they are few and have the root of its header.
    ///
    /// The tables do not tell an empty account from none. It may be one if it was last changed, and not ended, in a
    /// block of which `keeps_empty` says that touched accounts stay (before EIP-161).
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub(crate) async fn whole(
        &self,
        root: B256,
        keeps_empty: impl Fn(BlockNumber) -> bool,
    ) -> Result<Option<WholeState>, Problem> {
        let Some(rows) = self.changes().await? else { return Ok(None) };
        let mut accounts: BTreeMap<Address, AccountHistory> = BTreeMap::new();
        for row in rows {
            let account = accounts.entry(row.address).or_default();
            match row.slot {
                Some(slot) => drop(account.slots.insert(slot, U256::ZERO)),
                None if row.part == "end" => account.ended = account.ended.max(Some(row.block_number)),
                None => account.last = account.last.max(Some(row.block_number)),
            }
        }
        let addresses: Vec<Address> = accounts.keys().copied().collect();
        let values = self.accounts_of(&addresses).await?;
        let slots: Vec<(Address, B256)> =
            accounts.iter().flat_map(|(address, account)| account.slots.keys().map(|slot| (*address, *slot))).collect();
        let words: HashMap<(Address, B256), U256> = slots.iter().copied().zip(self.slots_of(&slots).await?).collect();
        let mut all = Vec::with_capacity(accounts.len());
        for ((address, account), value) in accounts.into_iter().zip(values) {
            if value.is_empty() && !account.may_be_empty(&keeps_empty) {
                continue;
            }
            let word = |slot: B256| (slot, words.get(&(address, slot)).copied().unwrap_or_default());
            all.push((address, value, account.slots.into_keys().map(word).collect()));
        }
        let whole = WholeState::new(all);
        Ok((whole.root() == root).then_some(whole))
    }

    /// All changes up to the block; none if there are more than a small chain has.
    async fn changes(&self) -> Result<Option<Vec<StateChange>>, Problem> {
        let blocks = self.blocks();
        if !blocks.newest.is_empty() || (blocks.settled.is_empty() && blocks.hot.is_empty()) {
            return Ok(None);
        }
        let rows = self.app().reader().rows(&changes(&blocks, MAX_ROWS as u64 + 1)).await?;
        let is_few = |part: &str| rows.iter().filter(|row| row.part == part).count() <= MAX_ROWS;
        Ok(["account", "slot", "end"].into_iter().all(is_few).then_some(rows))
    }
}

/// When an account changed, and which of its slots.
#[derive(Default)]
struct AccountHistory {
    /// Its last change.
    last: Option<BlockNumber>,
    /// Its last end.
    ended: Option<BlockNumber>,
    slots: BTreeMap<B256, U256>,
}

impl AccountHistory {
    /// Whether it may be an empty account, and not none.
    fn may_be_empty(&self, keeps_empty: impl Fn(BlockNumber) -> bool) -> bool {
        self.last.is_some_and(keeps_empty) && self.ended.is_none_or(|end| Some(end) < self.last)
    }
}
