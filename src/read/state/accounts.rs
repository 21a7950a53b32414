//! Balance, nonce and code of accounts after the blocks of a window.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use futures_util::future::try_join_all;

use super::State;
use super::steps::{above, facts, last_up_to};
use crate::cache::state_loads::{History, LOOKBACKS, StateWindow};
use crate::error::Problem;
use trawl_core::primitives::{Address, B256, BlockNumber, U256};
use trawl_core::store::StoreError;
use trawl_evm::{Account, Fact, Key, StateValue};
use trawl_query::state::accounts::{AccountPart, AccountsSince, accounts, credits};

impl State {
    /// The facts of accounts after the blocks of the window.
    pub(super) async fn accounts(&self, addresses: &[Address]) -> Result<Vec<(Key, Arc<[Fact]>)>, Problem> {
        let loader = &self.app.state_loads().accounts;
        let facts = loader.load(self.window, addresses, async |all| self.read_accounts(all).await).await?;
        Ok(addresses.iter().map(|address| (Key::Account(*address), Arc::clone(&facts[address]))).collect())
    }

    async fn read_accounts(&self, addresses: Vec<Address>) -> Result<HashMap<Address, Arc<[Fact]>>, StoreError> {
        let mut changes: HashMap<Address, AccountChanges> = HashMap::new();
        let mut pending = if self.base.is_in_tables() { addresses.clone() } else { Vec::new() };
        for lookback in LOOKBACKS {
            let read = self.group(&pending, lookback).into_iter().map(|(since, some)| self.read_changes(some, since));
            let mut incomplete = Vec::new();
            for (since, found) in try_join_all(read).await? {
                let lacks = |(address, changes): &(&Address, &AccountChanges)| {
                    changes.lack(since, self.window.first).then_some(**address)
                };
                incomplete.extend(found.iter().filter_map(|pair| lacks(&pair)));
                changes.extend(found);
            }
            pending = incomplete;
            if pending.is_empty() {
                break;
            }
        }
        let facts = |address: Address| {
            let changes = changes.remove(&address).unwrap_or_default();
            (address, changes.facts(self.window))
        };
        Ok(addresses.into_iter().map(facts).collect())
    }

    /// Accounts by the blocks since when their histories have to be read.
    fn group(&self, addresses: &[Address], lookback: BlockNumber) -> BTreeMap<AccountsSince, Vec<Address>> {
        let recent = self.window.first.saturating_sub(lookback);
        let long = &self.app.state_loads().long_histories;
        let since = |history| if long.contains(history) { recent } else { 0 };
        let mut groups: BTreeMap<AccountsSince, Vec<Address>> = BTreeMap::new();
        for address in addresses {
            let (balance, nonce) = (since(History::Balance(*address)), since(History::Nonce(*address)));
            groups.entry(AccountsSince { balance, nonce }).or_default().push(*address);
        }
        groups
    }

    /// The changes of each of these accounts.
    async fn read_changes(
        &self,
        addresses: Vec<Address>,
        since: AccountsSince,
    ) -> Result<(AccountsSince, HashMap<Address, AccountChanges>), StoreError> {
        let rows = self.app.reader().rows(&accounts(&addresses, &self.state_blocks(), since)).await?;
        let mut found: HashMap<Address, AccountChanges> =
            addresses.into_iter().map(|address| (address, AccountChanges::default())).collect();
        for row in &rows {
            found.entry(row.address).or_default().add(row);
        }
        let first = self.window.first;
        let partly_older: Vec<_> = found
            .iter_mut()
            .filter_map(|(address, changes)| Some((*address, changes.drop_older_credits(first)?)))
            .collect();
        if !partly_older.is_empty() {
            let rows = self.app.reader().rows(&credits(&partly_older, &self.state_blocks())).await?;
            for row in &rows {
                found.entry(row.address).or_default().add(row);
            }
        }
        let long = &self.app.state_loads().long_histories;
        for (address, changes) in &found {
            long.learn(History::Balance(*address), changes.balance_rows);
            long.learn(History::Nonce(*address), changes.nonce_rows);
        }
        Ok((since, found))
    }
}

/// What changed of an account, by block: the last change up to the first block of a window, and those above.
#[derive(Debug, Default)]
struct AccountChanges {
    balance: BTreeMap<BlockNumber, U256>,
    /// What is added to the balance.
    credits: BTreeMap<BlockNumber, U256>,
    /// The first credit that was read.
    first_credit: Option<BlockNumber>,
    nonce: BTreeMap<BlockNumber, u64>,
    code: BTreeMap<BlockNumber, B256>,
    /// Rows that were read for balances and credits.
    balance_rows: u64,
    /// Rows that were read for nonces.
    nonce_rows: u64,
}

impl AccountChanges {
    fn add(&mut self, row: &AccountPart) {
        match row.part.as_str() {
            "balance" | "credits" => {
                let changes = if row.part == "balance" { &mut self.balance } else { &mut self.credits };
                changes.insert(row.since, row.number);
                self.balance_rows += row.rows_read;
                if row.part == "credits" {
                    self.first_credit = self.first_credit.min(Some(row.first)).or(Some(row.first));
                }
            }
            "nonce" => {
                self.nonce.insert(row.since, row.number.saturating_to());
                self.nonce_rows += row.rows_read;
            }
            _ => drop(self.code.insert(row.since, row.code_hash)),
        }
    }

    /// Drops the sum of credits up to the first block of the window if some of them are older than the balance, and
    /// returns the block of that balance: the credits from there on have to be read.
    fn drop_older_credits(&mut self, first: BlockNumber) -> Option<BlockNumber> {
        let (balance, _) = last_up_to(&self.balance, first)?;
        let (sum, _) = last_up_to(&self.credits, first)?;
        if self.first_credit? >= balance {
            return None;
        }
        self.credits.remove(&sum);
        (sum >= balance).then_some(balance)
    }

    /// Whether what counts after the first block of the window may be older than what was read.
    fn lack(&self, since: AccountsSince, first: BlockNumber) -> bool {
        (since.balance > 0 && last_up_to(&self.balance, first).is_none())
            || (since.nonce > 0 && last_up_to(&self.nonce, first).is_none())
    }

    fn facts(self, window: StateWindow) -> Arc<[Fact]> {
        let first = window.first;
        let (balance, credits) = (last_up_to(&self.balance, first), last_up_to(&self.credits, first));
        let (nonce, code) = (last_up_to(&self.nonce, first), last_up_to(&self.code, first));
        let changed = [balance.map(|it| it.0), credits.map(|it| it.0), nonce.map(|it| it.0), code.map(|it| it.0)];
        let mut account = Account::default();
        account.balance = balance.map_or(U256::ZERO, |it| it.1).wrapping_add(credits.map_or(U256::ZERO, |it| it.1));
        account.nonce = nonce.map_or(account.nonce, |it| it.1);
        account.code_hash = code.map_or(account.code_hash, |it| it.1);
        let at_first = account;
        let changes = self.blocks_above(first).into_iter().map(|block| {
            self.change(block, &mut account);
            (block, StateValue::Account(account))
        });
        let since = changed.into_iter().flatten().max().unwrap_or(0);
        facts(window, since, StateValue::Account(at_first), changes.collect())
    }

    fn blocks_above(&self, first: BlockNumber) -> BTreeSet<BlockNumber> {
        let balances = above(&self.balance, first).chain(above(&self.credits, first));
        balances.chain(above(&self.nonce, first)).chain(above(&self.code, first)).collect()
    }

    /// Applies the changes of a block. Credits come on top of a balance of the same block.
    fn change(&self, block: BlockNumber, account: &mut Account) {
        let credits = self.credits.get(&block).copied().unwrap_or_default();
        account.balance = self.balance.get(&block).copied().unwrap_or(account.balance).wrapping_add(credits);
        account.nonce = self.nonce.get(&block).copied().unwrap_or(account.nonce);
        account.code_hash = self.code.get(&block).copied().unwrap_or(account.code_hash);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(value: &StateValue) -> (u64, u64) {
        match value {
            StateValue::Account(account) => (account.balance.saturating_to(), account.nonce),
            other => panic!("{other:?}"),
        }
    }

    fn part(name: &str, since: BlockNumber, number: u64) -> AccountPart {
        let (address, code_hash) = (Address::ZERO, B256::ZERO);
        AccountPart {
            part: name.into(),
            address,
            first: since,
            since,
            number: U256::from(number),
            code_hash,
            rows_read: 1,
        }
    }

    #[test]
    fn credits_come_on_top_of_the_balance_of_their_block_and_go_with_the_next_one() {
        let mut changes = AccountChanges::default();
        for row in [
            part("balance", 90, 1000),
            part("credits", 95, 7),
            part("credits", 102, 3),
            part("balance", 104, 500),
            part("credits", 104, 2),
            part("nonce", 80, 4),
            part("nonce", 103, 5),
        ] {
            changes.add(&row);
        }
        let facts = changes.facts(StateWindow { first: 100, last: 110, branch: 0 });
        let shown: Vec<_> = facts.iter().map(|fact| (fact.since, fact.until, number(&fact.value))).collect();
        let expected = [(95, 101, (1007, 4)), (102, 102, (1010, 4)), (103, 103, (1010, 5)), (104, 110, (502, 5))];
        assert_eq!(shown, expected);
    }

    #[test]
    fn credits_below_the_balance_do_not_count() {
        let with_credits = |first, since| {
            let mut changes = AccountChanges::default();
            changes.add(&part("balance", 90, 1000));
            changes.add(&AccountPart { first, ..part("credits", since, 7) });
            let read_again = changes.drop_older_credits(100);
            (read_again, changes.credits.len())
        };
        assert_eq!(with_credits(90, 95), (None, 1), "all count");
        assert_eq!(with_credits(10, 89), (None, 0), "none counts");
        assert_eq!(with_credits(10, 95), (Some(90), 0), "some count");
    }

    #[test]
    fn what_is_older_than_what_was_read_is_not_taken_for_nothing() {
        let mut changes = AccountChanges::default();
        changes.add(&part("balance", 120, 1));
        changes.add(&part("nonce", 90, 1));
        assert!(
            changes.lack(AccountsSince { balance: 50, nonce: 0 }, 100),
            "its first balance is above the first block"
        );
        assert!(!changes.lack(AccountsSince { balance: 0, nonce: 50 }, 100));
        assert!(AccountChanges::default().lack(AccountsSince { balance: 0, nonce: 50 }, 100));
        assert!(!AccountChanges::default().lack(AccountsSince::default(), 100));
    }
}
