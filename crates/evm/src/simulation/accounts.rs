//! Overrides and changes of accounts.

use revm::database::AccountState;
use revm::primitives::hardfork::SpecId;
use revm::primitives::{HashMap, KECCAK_EMPTY};
use revm::state::{AccountInfo, Bytecode, EvmState};
use revm::{DatabaseCommit, DatabaseRef};

use crate::partial_state::ProbeError;
use crate::replay::Changes;
use crate::{AccountOverride, Storage, bytecode};
use trawl_core::primitives::{Address, U256};

/// Overrides an account. One that did not exist does then, even if it is empty.
pub(super) fn override_account(
    changes: &mut Changes<'_>,
    address: Address,
    forced: &AccountOverride,
) -> Result<(), ProbeError> {
    if *forced == AccountOverride::default() {
        return Ok(());
    }
    let is_gone =
        changes.cache.accounts.get(&address).is_some_and(|account| account.account_state == AccountState::NotExisting);
    let mut info = changes.basic_ref(address)?.unwrap_or_default();
    info.balance = forced.balance.unwrap_or(info.balance);
    info.nonce = forced.nonce.unwrap_or(info.nonce);
    if let Some(code) = &forced.code {
        set_code(&mut info, bytecode(code.clone()));
    }
    changes.insert_account_info(address, info);
    if is_gone {
        // What it stored before it went stays gone.
        changes.replace_account_storage(address, HashMap::default())?;
    }
    let words = |slots: &std::collections::BTreeMap<_, U256>| -> Vec<(U256, U256)> {
        slots.iter().map(|(slot, value): (&trawl_core::primitives::B256, &U256)| ((*slot).into(), *value)).collect()
    };
    match &forced.storage {
        Storage::Replaced(slots) => changes.replace_account_storage(address, words(slots).into_iter().collect())?,
        Storage::Changed(slots) => words(slots)
            .into_iter()
            .try_for_each(|(slot, value)| changes.insert_account_storage(address, slot, value))?,
    }
    Ok(())
}

fn set_code(info: &mut AccountInfo, code: Bytecode) {
    info.code_hash = if code.is_empty() { KECCAK_EMPTY } else { code.hash_slow() };
    info.code = Some(code);
}

/// Adds wei to an account.
pub(super) fn credit(changes: &mut Changes<'_>, address: Address, amount: U256) -> Result<(), ProbeError> {
    let mut info = changes.basic_ref(address)?.unwrap_or_default();
    info.balance = info.balance.wrapping_add(amount);
    if info.is_empty() {
        remove(changes, address);
    } else {
        changes.insert_account_info(address, info);
    }
    Ok(())
}

/// Keeps what a run changed. Accounts that it touched and that are empty are gone (EIP-161).
pub(super) fn commit(changes: &mut Changes<'_>, state: EvmState, fork: SpecId) {
    let is_emptied = |account: &revm::state::Account| account.is_touched() && account.info.is_empty();
    let emptied: Vec<Address> = match fork >= SpecId::SPURIOUS_DRAGON {
        true => state.iter().filter(|(_, account)| is_emptied(account)).map(|(address, _)| *address).collect(),
        false => Vec::new(),
    };
    let returned: Vec<Address> = state
        .keys()
        .filter(|address| {
            let known = changes.cache.accounts.get(*address);
            known.is_some_and(|account| account.account_state == AccountState::NotExisting)
        })
        .copied()
        .collect();
    changes.commit(state);
    for address in returned {
        // What such an account stored before it went stays gone.
        if let Some(account) = changes.cache.accounts.get_mut(&address)
            && account.account_state == AccountState::Touched
        {
            account.account_state = AccountState::StorageCleared;
        }
    }
    emptied.into_iter().for_each(|address| remove(changes, address));
}

fn remove(changes: &mut Changes<'_>, address: Address) {
    let account = changes.cache.accounts.entry(address).or_default();
    account.storage.clear();
    account.info = AccountInfo::default();
    account.account_state = AccountState::NotExisting;
}
