//! Holdings at the tip, with an undo log for blocks that a reorganisation removes.

use std::collections::{HashMap, VecDeque};

use super::block::{Account, Asset};
use super::world::{ACCOUNTS, ENDOWMENT};

/// Most blocks that can be undone.
const UNDO_BLOCKS: usize = 64;

/// Holdings and nonces.
#[derive(Default)]
pub struct State {
    holdings: HashMap<(Asset, Account), u128>,
    nonces: Vec<u64>,
    /// Fees so far.
    pub coinbase: u128,
    undo: VecDeque<Undo>,
}

#[derive(Default)]
struct Undo {
    holdings: HashMap<(Asset, Account), Option<u128>>,
    nonces: HashMap<Account, u64>,
    coinbase: u128,
}

impl State {
    /// The state of the genesis.
    pub fn new() -> Self {
        Self { nonces: vec![0; ACCOUNTS], ..Self::default() }
    }

    /// Starts a block.
    pub fn begin(&mut self) {
        if self.undo.len() == UNDO_BLOCKS {
            self.undo.pop_front();
        }
        self.undo.push_back(Undo { coinbase: self.coinbase, ..Undo::default() });
    }

    /// Undoes the newest block.
    pub fn take_back(&mut self) {
        let Some(undo) = self.undo.pop_back() else { return };
        for (holding, before) in undo.holdings {
            match before {
                Some(amount) => self.holdings.insert(holding, amount),
                None => self.holdings.remove(&holding),
            };
        }
        for (account, nonce) in undo.nonces {
            self.nonces[account as usize] = nonce;
        }
        self.coinbase = undo.coinbase;
    }

    /// Balance of an account.
    pub fn holding(&self, asset: Asset, account: Account) -> u128 {
        self.holdings.get(&(asset, account)).copied().unwrap_or(ENDOWMENT)
    }

    /// Sets the balance of an account.
    pub fn set(&mut self, asset: Asset, account: Account, amount: u128) {
        let before = self.holdings.insert((asset, account), amount);
        if let Some(undo) = self.undo.back_mut() {
            undo.holdings.entry((asset, account)).or_insert(before);
        }
    }

    /// The next nonce of an account.
    pub fn nonce(&self, account: Account) -> u64 {
        self.nonces[account as usize]
    }

    /// Takes the next nonce of an account.
    pub fn use_nonce(&mut self, account: Account) -> u64 {
        let nonce = self.nonces[account as usize];
        if let Some(undo) = self.undo.back_mut() {
            undo.nonces.entry(account).or_insert(nonce);
        }
        self.nonces[account as usize] += 1;
        nonce
    }

    /// What changed in the newest block, with its values after it.
    pub fn changed(&self) -> HashMap<(Asset, Account), u128> {
        let undo = self.undo.back().into_iter().flat_map(|undo| undo.holdings.keys());
        undo.map(|(asset, account)| ((*asset, *account), self.holding(*asset, *account))).collect()
    }
}
