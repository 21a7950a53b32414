//! What the newest blocks change of the settled state.

use trawl_core::newest::{NewestBlock, NewestSpan};
use trawl_core::primitives::{Address, B256, BlockNumber, BlockRange, U256};
use trawl_evm::{AccountChange, Change, Key, Newer, StateValue};

/// The blocks in memory above the cached state, and settled ones that were in memory a short time ago.
#[derive(Debug)]
pub(crate) struct NewestState {
    /// The blocks above.
    pub above: NewestSpan,
    /// Settled blocks whose rows are in memory.
    pub recent: NewestSpan,
}

impl Newer for NewestState {
    fn change(&self, key: &Key) -> Option<Change> {
        match key {
            Key::Account(address) => account(&self.above, address),
            Key::Slot(address, slot) => self.above.iter().rev().find_map(|block| slot_in(block, address, slot)),
            Key::Code(_) | Key::BlockHash(_) | Key::Block(_) => None,
        }
        .filter(|change| !matches!(change, Change::Account(change) if change.is_empty()))
    }

    fn leaves(&self, key: &Key, first: BlockNumber, last: BlockNumber) -> bool {
        let Some(range) = BlockRange::new(first, last) else { return true };
        let blocks = self.recent.within(range);
        let is_there = blocks.iter().count() as u64 == range.count();
        is_there
            && match key {
                Key::Account(address) => account(&blocks, address).is_none(),
                Key::Slot(address, slot) => blocks.iter().all(|block| slot_in(block, address, slot).is_none()),
                Key::Code(_) | Key::BlockHash(_) | Key::Block(_) => false,
            }
    }
}

/// What blocks change of an account. A credit adds to the balance that the account has after its block or an older one.
fn account(blocks: &NewestSpan, address: &Address) -> Option<Change> {
    let mut change = AccountChange::default();
    for block in blocks.iter().rev().filter(|block| block.may_change(address)) {
        let find = |table: &str| block.find(table, &[("address", address.as_slice())]);
        if change.balance.is_none() {
            let credits = block.find_all("balance_credits", &[("address", address.as_slice())]);
            let amounts = credits.iter().filter_map(|row| integer(row.bytes("amount")?));
            change.credits = amounts.fold(change.credits, U256::wrapping_add);
            change.balance = find("balance_history").and_then(|row| integer(row.bytes("balance")?));
        }
        change.nonce = change.nonce.or_else(|| find("nonce_history")?.number("nonce"));
        let code = || B256::try_from(find("code_history")?.bytes("code_hash")?).ok();
        change.code_hash = change.code_hash.or_else(code);
    }
    (!change.is_empty()).then_some(Change::Account(change))
}

/// What a block changes of a slot. The end of an account empties it; what the block writes after that stays.
fn slot_in(block: &NewestBlock, address: &Address, slot: &B256) -> Option<Change> {
    let wanted = [("address", address.as_slice()), ("slot", slot.as_slice())];
    let written = block.find("storage_history", &wanted).and_then(|row| row.bytes("value")?.try_into().ok());
    let is_ended = || block.find("account_destructions", &[("address", address.as_slice())]).is_some();
    let value = written.map(U256::from_be_bytes::<32>).or_else(|| is_ended().then_some(U256::ZERO))?;
    Some(Change::Whole(StateValue::Slot(value)))
}

/// An integer as a column has it: 32 bytes, little-endian.
fn integer(bytes: &[u8]) -> Option<U256> {
    Some(U256::from_le_bytes::<32>(bytes.try_into().ok()?))
}
