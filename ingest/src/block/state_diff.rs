//! What a block changes of the accounts, and how far that is all of it.
//!
//! Transactions change accounts, and so does the block itself: rewards, withdrawals, and writes of the system to its
//! own contracts. A source may cover all of it or the transactions only.

use std::collections::BTreeMap;

use trawl_core::primitives::{Address, B256, Bytes, U256};

/// The differences between the state before a block and after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateDiff {
    /// How far they go.
    pub scope: Scope,
    /// What changed, by account: values after what `scope` covers.
    pub accounts: BTreeMap<Address, AccountDiff>,
    /// What the block adds to balances on top of `accounts`.
    pub credits: Vec<Credit>,
}

/// How much of what a block changes is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// What its transactions change.
    Transactions,
    /// That, and the slots in which the request contracts of EIP-7002 and EIP-7251 keep count after the block.
    TransactionsAndQueues,
    /// That, and what a source gave as steps of the system before the first transaction and after the last one.
    TransactionsAndSystem,
    /// All but what the system writes into its own contracts: those of EIP-2935 and EIP-4788 unless they are there from
    /// genesis on, and those of EIP-7002 and EIP-7251. Where they have no code it writes nothing.
    AllButSystem,
    /// All of it.
    Block,
}

/// What changed of an account. `None` and absent slots are as before.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AccountDiff {
    /// All it held before the block is gone; the other fields hold what it has after the block.
    pub destroyed: bool,
    /// Balance after the block, in wei.
    pub balance: Option<U256>,
    /// Nonce after the block.
    pub nonce: Option<u64>,
    /// Code; empty where it was removed.
    pub code: Option<Bytes>,
    /// The code before it, where it differs and the source has it.
    pub code_before: Option<Bytes>,
    /// Slots; zero where they were cleared.
    pub storage: BTreeMap<B256, B256>,
}

/// Wei that a block adds to a balance outside its transactions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Credit {
    /// Account that receives the amount.
    pub address: Address,
    /// What the amount is for.
    pub reason: CreditReason,
    /// Wei; never zero.
    pub amount: U256,
}

/// Why a block adds to a balance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CreditReason {
    /// For a validator (EIP-4895).
    Withdrawal,
    /// For the miner, uncles it includes counted.
    BlockReward,
    /// For the miners of its uncles.
    UncleReward,
}

impl CreditReason {
    /// Its name in `balance_credits`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Withdrawal => "withdrawal",
            Self::BlockReward => "block reward",
            Self::UncleReward => "uncle reward",
        }
    }
}
