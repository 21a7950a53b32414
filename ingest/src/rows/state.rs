//! What a block changes of the accounts as rows: one for each value, as it is after the block.

use alloy_primitives::keccak256;
use trawl_core::primitives::{Address, B256, Timestamp};
use trawl_core::schema::{
    BalanceRow, CodeChangeRow, CodeRow, ContractRow, CreditRow, DestructionRow, NonceRow, ProxyRow, StorageRow,
};

use super::proxies::{CodeChange, POINTING_SLOTS, StorageChange, proxies};
use crate::block::Header;
use crate::block::state_diff::{AccountDiff, StateDiff};
use crate::write::batch::BlockRows;

/// Adds the rows of `state` to each of their tables.
pub(super) fn state_rows(header: &Header, timestamp: Timestamp, state: StateDiff, rows: &mut BlockRows) {
    let block_number = header.number;
    rows.proxy_implementations.extend(proxy_rows(block_number, &state));
    for (address, account) in state.accounts {
        account_rows(block_number, address, account, rows);
    }
    rows.balance_credits.extend(state.credits.into_iter().map(|credit| CreditRow {
        address: credit.address,
        block_number,
        reason: credit.reason.name().into(),
        amount: credit.amount,
    }));
    // The same code may have come to several accounts.
    rows.codes.sort_by_key(|row| row.code_hash);
    rows.codes.dedup_by_key(|row| row.code_hash);
    if block_number == 0 {
        rows.contracts.extend(genesis_contracts(timestamp, rows));
    }
}

/// The proxies that the codes and slots of a block set.
fn proxy_rows(block_number: u64, state: &StateDiff) -> Vec<ProxyRow> {
    let codes = state.accounts.iter().filter_map(|(address, account)| {
        let before = account.code_before.as_ref().map(AsRef::as_ref);
        Some(CodeChange { address: *address, before, after: account.code.as_ref()? })
    });
    let slots = state.accounts.iter().flat_map(|(address, account)| {
        let change = |(slot, value): (&B256, &B256)| StorageChange { address: *address, slot: *slot, value: *value };
        // What is destroyed points nowhere, unless it was made again.
        let ended = POINTING_SLOTS.into_iter().filter(|slot| account.destroyed && !account.storage.contains_key(slot));
        let ended = ended.map(|slot| StorageChange { address: *address, slot, value: B256::ZERO });
        account.storage.iter().map(change).chain(ended)
    });
    proxies(block_number, codes, slots)
}

fn account_rows(block_number: u64, address: Address, account: AccountDiff, rows: &mut BlockRows) {
    if account.destroyed {
        rows.account_destructions.push(DestructionRow { address, block_number });
    }
    if let Some(balance) = account.balance {
        rows.balance_history.push(BalanceRow { address, block_number, balance });
    }
    if let Some(nonce) = account.nonce {
        rows.nonce_history.push(NonceRow { address, block_number, nonce });
    }
    if let Some(code) = account.code {
        let code_hash = keccak256(&code);
        rows.code_history.push(CodeChangeRow { address, block_number, code_hash });
        if !code.is_empty() {
            rows.codes.push(CodeRow { code_hash, block_number, code });
        }
    }
    let slots = account.storage.into_iter();
    rows.storage_history.extend(slots.map(|(slot, value)| StorageRow { address, slot, block_number, value }));
}

/// The contracts that are there from the beginning: no transaction made them.
fn genesis_contracts(block_timestamp: Timestamp, rows: &BlockRows) -> Vec<ContractRow> {
    let sizes: std::collections::HashMap<B256, usize> =
        rows.codes.iter().map(|row| (row.code_hash, row.code.len())).collect();
    let contract = |row: &CodeChangeRow| {
        let code_size = u32::try_from(*sizes.get(&row.code_hash)?).unwrap_or(u32::MAX);
        Some(ContractRow {
            address: row.address,
            block_number: 0,
            transaction_index: 0,
            transaction_hash: B256::ZERO,
            block_timestamp,
            creator: Address::ZERO,
            creation_type: "genesis".into(),
            code_hash: Some(row.code_hash),
            code_size: Some(code_size),
        })
    };
    rows.code_history.iter().filter_map(contract).collect()
}

#[cfg(test)]
mod tests {
    use trawl_core::primitives::Bytes;

    use super::*;
    use crate::block::state_diff::Scope;

    fn proxies_of(account: AccountDiff) -> Vec<(String, Address)> {
        let accounts = [(Address::repeat_byte(1), account)].into();
        let state = StateDiff { scope: Scope::Block, accounts, credits: Vec::new() };
        proxy_rows(7, &state).into_iter().map(|row| (row.kind, row.implementation)).collect()
    }

    #[test]
    fn a_proxy_that_is_destroyed_points_nowhere() {
        let none = |kind: &str| (kind.to_owned(), Address::ZERO);
        let code_before = Some(Bytes::from_static(&[1]));
        let gone = AccountDiff { destroyed: true, code: Some(Bytes::new()), code_before, ..AccountDiff::default() };
        assert_eq!(proxies_of(gone.clone()), [none("eip1967"), none("eip1967_beacon"), none("eip1822")]);
        // Made again in the same block with another implementation.
        let two = Address::repeat_byte(2);
        let again = AccountDiff { storage: [(POINTING_SLOTS[0], two.into_word())].into(), ..gone.clone() };
        assert_eq!(proxies_of(again), [("eip1967".to_owned(), two), none("eip1967_beacon"), none("eip1822")]);
        assert!(proxies_of(AccountDiff { destroyed: false, ..gone }).is_empty());
    }
}
