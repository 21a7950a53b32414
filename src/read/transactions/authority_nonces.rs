//! Nonces, before a transaction, of the accounts that signed authorizations for it (EIP-7702).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use revm::primitives::KECCAK_EMPTY;

use crate::app::App;
use crate::error::Problem;
use crate::read::state::State;
use trawl_core::primitives::{Address, BlockNumber};
use trawl_core::schema::{Authorization, Column, TransactionRow};
use trawl_core::store::{Batch, Head};
use trawl_evm::{Account, Key, StateValue};
use trawl_json::transactions::authorizations::authority;

/// Most authorizations that are looked at, of the transaction and of those before it in its block: the signer of each
/// has to be recovered. With more, no nonce is known.
const MAX_AUTHORIZATIONS: usize = 256;

/// The nonces that the state before the block proves, for the transaction in a row. An account without code counts
/// unless a transaction before in the block is its own or has an authorization of it: nothing else can change its
/// nonce. One that delegates may have created contracts, so it counts in the first transaction only. Empty where the
/// state is not known.
///
/// # Errors
///
/// When the store fails.
pub(crate) async fn authority_nonces(
    app: &App,
    head: &Arc<Head>,
    batch: &Batch<TransactionRow>,
    row: usize,
) -> Result<BTreeMap<Address, u64>, Problem> {
    let none = Ok(BTreeMap::new());
    let (number, index) = (batch.view().block_number[row], batch.view().transaction_index[row]);
    let authorizations: Vec<Authorization> = batch.view().authorization_list.items::<Authorization>(row).collect();
    let is_read = (1..=MAX_AUTHORIZATIONS).contains(&authorizations.len());
    let Some(parent) = number.checked_sub(1).filter(|_| is_read) else { return none };
    let before = match State::after(app, parent, head).await {
        Err(Problem::StateMissing(_)) => return none,
        before => before?,
    };
    let Some(changed) = changed_before(app, head, number, index).await? else { return none };
    if changed.authorizations + authorizations.len() > MAX_AUTHORIZATIONS {
        return none;
    }
    let signers: BTreeSet<Address> = authorizations.iter().filter_map(authority).collect();
    let unchanged: Vec<Address> = signers.difference(&changed.accounts).copied().collect();
    let mut nonces = BTreeMap::new();
    for (address, account) in unchanged.iter().zip(before.accounts_of(&unchanged).await?) {
        if account.code_hash == KECCAK_EMPTY || (index == 0 && delegates(&before, &account).await?) {
            nonces.insert(*address, account.nonce);
        }
    }
    Ok(nonces)
}

/// What transactions may have changed.
#[derive(Default)]
struct ChangedNonces {
    /// Accounts that sent one, or signed an authorization for one.
    accounts: BTreeSet<Address>,
    /// The number of authorizations.
    authorizations: usize,
}

/// What the transactions before the one at `index` may have changed; `None` if that is not known, or too much.
async fn changed_before(
    app: &App,
    head: &Head,
    number: BlockNumber,
    index: u32,
) -> Result<Option<ChangedNonces>, Problem> {
    let statement = trawl_query::transactions::of_block(&head.blocks.at(number));
    let batches = app.rows_of(head, &statement).await?;
    let (mut changed, mut found) = (ChangedNonces::default(), 0);
    for batch in batches.iter() {
        let view = batch.view();
        for row in (0..batch.len()).filter(|row| view.transaction_index[*row] < index) {
            let list: Vec<Authorization> = view.authorization_list.items::<Authorization>(row).collect();
            changed.authorizations += list.len();
            let needed = ["authorization_list", "from_address"];
            let is_partial = view.lacking.items::<String>(row).any(|column| needed.contains(&column));
            if is_partial || changed.authorizations > MAX_AUTHORIZATIONS {
                return Ok(None);
            }
            changed.accounts.insert(Address::get(&view.from_address, row));
            changed.accounts.extend(list.iter().filter_map(authority));
            found += 1;
        }
    }
    Ok((found == index).then_some(changed))
}

/// Whether the code of an account is a delegation.
async fn delegates(state: &State, account: &Account) -> Result<bool, Problem> {
    let code = state.value(Key::Code(account.code_hash)).await?;
    Ok(matches!(code, StateValue::Code(code) if code.is_eip7702()))
}
