//! All slots of an account after a block, where it has few changes.

use std::collections::BTreeMap;

use super::State;
use crate::error::Problem;
use trawl_core::primitives::{Address, B256, BlockNumber, U256};
use trawl_evm::{Change, Failure, Key, RecentBlocks, StateValue};
use trawl_query::state::slots::of_account;

/// Most changes of slots of an account that are read.
const MAX_CHANGES: u64 = 50_000;

impl State {
    /// The slots of an account after the block that are not zero.
    ///
    /// # Errors
    ///
    /// [`Problem::Call`] where more than [`MAX_CHANGES`] changes would have to be read; or when the store fails.
    pub(crate) async fn storage_of(&self, account: Address) -> Result<BTreeMap<B256, U256>, Problem> {
        let mut slots = self.slots_in_tables(account).await?;
        let (newest, key) = (&self.newest.above, [("address", account.as_slice())]);
        if newest.find_newest("account_destructions", &key).is_some() {
            slots.clear();
        }
        for row in newest.find_all("storage_history", &key) {
            let slot = row.bytes("slot").and_then(|bytes| B256::try_from(bytes).ok()).ok_or(Problem::Internal)?;
            if let Some(Change::Whole(StateValue::Slot(value))) = self.newest.change(&Key::Slot(account, slot)) {
                slots.insert(slot, value);
            }
        }
        slots.retain(|_, value| !value.is_zero());
        Ok(slots)
    }

    /// The slots of an account after the last block in tables.
    async fn slots_in_tables(&self, account: Address) -> Result<BTreeMap<B256, U256>, Problem> {
        if !self.base.is_in_tables() {
            return Ok(BTreeMap::new());
        }
        let rows = self.app.reader().rows(&of_account(account, &self.base, MAX_CHANGES + 1)).await?;
        let read: u64 = rows.iter().filter(|row| row.slot.is_some()).map(|row| row.rows_read).sum();
        if read > MAX_CHANGES {
            let text = format!("slots of this account changed more than {MAX_CHANGES} times: they are not listed here");
            return Err(Problem::Call(Failure::Invalid(text)));
        }
        let ends = rows.iter().filter(|row| row.slot.is_none()).map(|row| row.since);
        // Storage that an account had before its end is gone; what the same block writes after that stays.
        let end: BlockNumber = ends.max().unwrap_or(0);
        let live = rows.iter().filter(|row| row.since >= end);
        Ok(live.filter_map(|row| Some((row.slot?, U256::from_be_bytes(row.value.0)))).collect())
    }
}
