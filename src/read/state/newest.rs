//! The changes of the newest blocks to the settled state.

use trawl_core::newest::NewestSpan;
use trawl_core::primitives::{Address, B256, BlockNumber, BlockRange, U256};
use trawl_evm::{AccountChange, Change, Key, RecentBlocks, StateValue};

/// The blocks in memory above the cached state, and settled ones that were in memory a short time ago.
#[derive(Debug)]
pub(crate) struct NewestState {
    /// The blocks above.
    pub above: NewestSpan,
    /// Settled blocks whose rows are in memory.
    pub recent: NewestSpan,
}

impl RecentBlocks for NewestState {
    fn change(&self, key: &Key) -> Option<Change> {
        change(&self.above, key)
    }

    fn leaves(&self, key: &Key, first: BlockNumber, last: BlockNumber) -> bool {
        let Some(range) = BlockRange::new(first, last) else { return true };
        let blocks = self.recent.within(range);
        let count: u64 = blocks.ranges().iter().map(|range| range.count()).sum();
        let is_of_blocks = matches!(key, Key::Account(_) | Key::Slot(..));
        is_of_blocks && count == range.count() && change(&blocks, key).is_none()
    }
}

/// The change of a key by blocks.
fn change(blocks: &NewestSpan, key: &Key) -> Option<Change> {
    match key {
        Key::Account(address) => account(blocks, address),
        Key::Slot(address, slot) => value_of_slot(blocks, address, slot),
        Key::Code(_) | Key::BlockHash(_) | Key::Block(_) => None,
    }
}

/// The change of an account by blocks. A credit adds to the balance of the account after its block or an older one.
fn account(blocks: &NewestSpan, address: &Address) -> Option<Change> {
    let key_columns = [("address", address.as_slice())];
    let balance = blocks.find_newest("balance_history", &key_columns);
    let since = BlockRange::new(balance.map_or(0, |(block, _)| block), BlockNumber::MAX)?;
    let after_balance = blocks.within(since);
    let credits = after_balance.find_all("balance_credits", &key_columns);
    let code = blocks.find_newest("code_history", &key_columns).and_then(|(_, row)| row.bytes("code_hash"));
    let change = AccountChange {
        balance: balance.and_then(|(_, row)| integer(row.bytes("balance")?)),
        credits: credits.iter().filter_map(|row| integer(row.bytes("amount")?)).fold(U256::ZERO, U256::wrapping_add),
        nonce: blocks.find_newest("nonce_history", &key_columns).and_then(|(_, row)| row.number("nonce")),
        code_hash: code.and_then(|hash| B256::try_from(hash).ok()),
    };
    (!change.is_empty()).then_some(Change::Account(change))
}

/// The change of a slot by blocks. The destruction of an account clears it; later writes of the same block stay.
fn value_of_slot(blocks: &NewestSpan, address: &Address, slot: &B256) -> Option<Change> {
    let written = blocks.find_newest("storage_history", &[("address", address.as_slice()), ("slot", slot.as_slice())]);
    let ended = blocks.find_newest("account_destructions", &[("address", address.as_slice())]);
    let value = match (written, ended) {
        (Some((written, row)), ended) if ended.is_none_or(|(ended, _)| ended <= written) => {
            U256::from_be_bytes::<32>(row.bytes("value")?.try_into().ok()?)
        }
        (_, Some(_)) => U256::ZERO,
        (_, None) => return None,
    };
    Some(Change::Whole(StateValue::Slot(value)))
}

/// An integer as a column has it: 32 bytes, little-endian.
fn integer(bytes: &[u8]) -> Option<U256> {
    Some(U256::from_le_bytes::<32>(bytes.try_into().ok()?))
}
