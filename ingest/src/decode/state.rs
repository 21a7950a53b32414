//! State differences as sources give them: whole blocks, or transaction by transaction in two notations.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;
use trawl_core::primitives::{Address, B256, Bytes, U256};

use super::error::StateError;
use super::json::Line;
use super::peek::BlockPeek;
use super::quantity::{Quantity, Word};
use crate::block::Transaction;
use crate::block::state_diff::{Scope, StateDiff};
use crate::block::trace::{Frame, FrameKind, Traces};
use delegations::delegations;
use tracker::{Fields, Tracker};

mod delegations;
#[cfg(test)]
mod tests;
mod tracker;

/// Reads the state differences of block `number` from its line; `None` if it has none, or impossible ones.
pub(super) fn state(
    number: u64,
    line: &Line,
    transactions: &[Transaction],
    ends: &Ends,
) -> Result<Option<StateDiff>, StateError> {
    let mut tracker = Tracker::default();
    let scope = if let Some(raw) = line.state_diff {
        apply_values(&mut tracker, raw.get())?;
        Scope::Block
    } else if let Some(raw) = line.tx_state_diffs.filter(|_| number > 0) {
        // What the allocation of the genesis sets is no transaction's doing.
        let system: Option<SystemDiff> = line.system_diff.map(|raw| serde_json::from_str(raw.get())).transpose()?;
        if let Some(before) = system.as_ref().and_then(|system| system.before) {
            apply_values(&mut tracker, before.get())?;
        }
        let gone = apply_transactions(&mut tracker, raw.get(), transactions)?;
        if let Some((_, account)) = gone.iter().find(|(position, account)| !ends.can_be(*position, *account)) {
            tracing::warn!(block = number, %account, "the node reports the end of a contract that did not end; the state of the block is recorded as missing");
            return Ok(None);
        }
        if let Some(after) = system.as_ref().and_then(|system| system.after) {
            apply_values(&mut tracker, after.get())?;
        }
        // Slots of the request contracts, each with its value before and after the block.
        let queues = line.queue_slots.map(|raw| apply_slots(&mut tracker, raw.get())).transpose()?;
        match (system, queues) {
            (Some(_), _) => Scope::TransactionsAndSystem,
            (None, Some(())) => Scope::TransactionsAndQueues,
            (None, None) => Scope::Transactions,
        }
    } else {
        return Ok(None);
    };
    Ok(Some(StateDiff { scope, accounts: tracker.finish(), credits: Vec::new() }))
}

/// What shows whether a contract can have ended in a transaction.
///
/// Tracers of geth up to 1.16.5 and of Erigon 3.2.1 leave every contract that ran `SELFDESTRUCT` out of what is there
/// afterwards, whether that was undone or, since Cancun, had no such effect (EIP-6780).
pub(super) struct Ends<'a> {
    /// The block is of Cancun or later: a contract only ends in the transaction that made it.
    pub is_cancun: bool,
    /// Its call frames, if they are known.
    pub traces: Option<&'a Traces>,
}

impl Ends<'_> {
    /// Whether an account that had code before the transaction at `position` can be gone after it.
    fn can_be(&self, position: usize, account: Address) -> bool {
        let trace = self.traces.and_then(|traces| traces.transactions.get(position));
        let ends = |frame: &Frame| frame.kind == FrameKind::Selfdestruct && frame.from == account;
        !self.is_cancun && trace.is_none_or(|trace| trace.lasting().any(ends))
    }
}

#[derive(Deserialize)]
struct SystemDiff<'a> {
    #[serde(borrow, default)]
    before: Option<&'a RawValue>,
    #[serde(borrow, default)]
    after: Option<&'a RawValue>,
}

/// An account in prestateTracer's notation, and in that of whole blocks.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct JsonAccount {
    balance: Option<Quantity<U256>>,
    nonce: Option<Quantity<u64>>,
    code: Option<Bytes>,
    /// Newer tracers show a removed code by its hash.
    code_hash: Option<B256>,
    #[serde(default)]
    storage: BTreeMap<Word, Word>,
}

impl JsonAccount {
    fn code(&self) -> Option<Bytes> {
        let removed = self.code_hash.filter(|hash| *hash == alloy_primitives::KECCAK256_EMPTY).map(|_| Bytes::new());
        self.code.clone().or(removed)
    }

    /// What is named.
    fn fields(&self) -> Fields {
        Fields {
            balance: self.balance.map(|balance| balance.0),
            nonce: self.nonce.map(|nonce| nonce.0),
            code: self.code(),
        }
    }

    /// What was there, if this is all of it: an absent field was empty.
    fn all_fields(&self) -> Fields {
        let Fields { balance, nonce, code } = self.fields();
        Fields {
            balance: Some(balance.unwrap_or_default()),
            nonce: Some(nonce.unwrap_or_default()),
            code: Some(code.unwrap_or_default()),
        }
    }
}

/// Values after a step; `null` is an account that is gone.
fn apply_values(tracker: &mut Tracker, json: &str) -> Result<(), StateError> {
    let accounts: BTreeMap<Address, Option<JsonAccount>> = serde_json::from_str(json)?;
    for (address, account) in accounts {
        let Some(account) = account else {
            tracker.destroy(address, Fields::default());
            continue;
        };
        tracker.set(address, Fields::default(), account.fields());
        for (slot, value) in account.storage {
            tracker.set_slot(address, slot.0, None, value.0);
        }
    }
    Ok(())
}

fn apply_slots(tracker: &mut Tracker, json: &str) -> Result<(), StateError> {
    let accounts: BTreeMap<Address, BTreeMap<Word, (Word, Word)>> = serde_json::from_str(json)?;
    for (address, slots) in accounts {
        for (slot, (before, after)) in slots {
            tracker.set_slot(address, slot.0, Some(before.0), after.0);
        }
    }
    Ok(())
}

/// The difference of one transaction, in the notation of the node that traced it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TransactionDiff {
    #[serde(alias = "transactionHash")]
    tx_hash: Option<B256>,
    #[serde(alias = "result")]
    prestate_diff: Option<PrestateDiff>,
    #[serde(alias = "stateDiff")]
    parity: Option<BTreeMap<Address, ParityAccount>>,
}

/// The differences of transactions with these hashes, one for each.
fn read_transactions(json: &str, hashes: impl ExactSizeIterator<Item = B256>) -> Result<Vec<NodeDiff>, StateError> {
    let diffs: Vec<TransactionDiff> = serde_json::from_str(json)?;
    if diffs.len() != hashes.len() {
        return Err(StateError::Count { transactions: hashes.len(), found: diffs.len() });
    }
    let diff_of = |(position, (diff, hash)): (usize, (TransactionDiff, B256))| {
        if let Some(found) = diff.tx_hash.filter(|found| *found != hash) {
            return Err(StateError::Transaction { position, found });
        }
        let prestate = diff.prestate_diff.map(NodeDiff::Prestate);
        prestate.or(diff.parity.map(NodeDiff::Parity)).ok_or(StateError::Absent { position })
    };
    diffs.into_iter().zip(hashes).enumerate().map(diff_of).collect()
}

/// A difference in one of the notations.
enum NodeDiff {
    Prestate(PrestateDiff),
    Parity(BTreeMap<Address, ParityAccount>),
}

/// Accounts with code that a transaction ended, each with its position.
type DestroyedAccounts = Vec<(usize, Address)>;

fn apply_transactions(
    tracker: &mut Tracker,
    json: &str,
    transactions: &[Transaction],
) -> Result<DestroyedAccounts, StateError> {
    let diffs = read_transactions(json, transactions.iter().map(|transaction| transaction.hash))?;
    let mut gone = DestroyedAccounts::new();
    for (position, (diff, transaction)) in diffs.into_iter().zip(transactions).enumerate() {
        let ended = match diff {
            NodeDiff::Prestate(diff) => diff.apply(tracker, transaction),
            NodeDiff::Parity(accounts) => apply_parity(tracker, accounts, transaction),
        };
        gone.extend(ended.into_iter().map(|account| (position, account)));
    }
    Ok(gone)
}

/// prestateTracer with `diffMode`: `pre` has the accounts that changed as they were, `post` what changed of them.
///
/// <https://geth.ethereum.org/docs/developers/evm-tracing/built-in-tracers#prestate-tracer>
#[derive(Deserialize)]
struct PrestateDiff {
    pre: BTreeMap<Address, JsonAccount>,
    post: BTreeMap<Address, JsonAccount>,
}

impl PrestateDiff {
    /// Gives the accounts with code that are gone.
    fn apply(mut self, tracker: &mut Tracker, transaction: &Transaction) -> Vec<Address> {
        let nonces = self.post.keys().map(|address| {
            let before = self.pre.get(address).and_then(|account| account.nonce);
            (*address, before.map_or(0, |nonce| nonce.0))
        });
        let mut delegations = delegations(transaction, &nonces.collect());
        for (address, after) in self.post {
            let before = self.pre.remove(&address).unwrap_or_default();
            let mut fields = after.fields();
            // Code that was removed is code that is not mentioned.
            fields.code = fields.code.or(delegations.remove(&address));
            tracker.set(address, before.all_fields(), fields);
            for (slot, was) in &before.storage {
                // A slot that is not mentioned any more holds nothing.
                let is = after.storage.get(slot).copied().unwrap_or_default();
                tracker.set_slot(address, slot.0, Some(was.0), is.0);
            }
            for (slot, is) in after.storage.iter().filter(|(slot, _)| !before.storage.contains_key(slot)) {
                tracker.set_slot(address, slot.0, Some(B256::ZERO), is.0);
            }
        }
        let mut gone = Vec::new();
        for (address, before) in self.pre {
            gone.extend(before.code.as_ref().is_some_and(|code| !code.is_empty()).then_some(address));
            tracker.destroy(address, before.all_fields());
        }
        gone
    }
}

/// An account in the notation of `trace_replayBlockTransactions`.
///
/// <https://openethereum.github.io/JSONRPC-trace-module>
#[derive(Deserialize)]
struct ParityAccount {
    balance: ParityChange<Quantity<U256>>,
    nonce: ParityChange<Quantity<u64>>,
    code: ParityChange<Bytes>,
    #[serde(default)]
    storage: BTreeMap<Word, ParityChange<Word>>,
}

#[derive(Deserialize)]
enum ParityChange<T> {
    #[serde(rename = "=")]
    Same,
    #[serde(rename = "+")]
    Born(T),
    #[serde(rename = "-")]
    Died(T),
    #[serde(rename = "*")]
    Changed { from: T, to: T },
}

impl<T> ParityChange<T> {
    /// The value before and after; `nothing` where there was none, `None` where it was not touched.
    fn sides(self, nothing: T) -> (Option<T>, Option<T>) {
        match self {
            Self::Same => (None, None),
            Self::Born(after) => (Some(nothing), Some(after)),
            Self::Died(before) => (Some(before), Some(nothing)),
            Self::Changed { from, to } => (Some(from), Some(to)),
        }
    }
}

/// Gives the accounts with code that are gone.
fn apply_parity(
    tracker: &mut Tracker,
    accounts: BTreeMap<Address, ParityAccount>,
    transaction: &Transaction,
) -> Vec<Address> {
    let mut gone = Vec::new();
    let nonces = accounts.iter().filter_map(|(address, account)| {
        let before = match &account.nonce {
            ParityChange::Changed { from, .. } => from.0,
            ParityChange::Born(_) => 0,
            ParityChange::Same | ParityChange::Died(_) => return None,
        };
        Some((*address, before))
    });
    let mut delegations = delegations(transaction, &nonces.collect());
    for (address, account) in accounts {
        let is_gone = matches!(account.balance, ParityChange::Died(_));
        let balance = account.balance.sides(Quantity(U256::ZERO));
        let nonce = account.nonce.sides(Quantity(0));
        let code = account.code.sides(Bytes::new());
        let before = Fields { balance: balance.0.map(|it| it.0), nonce: nonce.0.map(|it| it.0), code: code.0 };
        if is_gone {
            gone.extend(before.code.as_ref().is_some_and(|code| !code.is_empty()).then_some(address));
            tracker.destroy(address, before);
            continue;
        }
        let after = Fields {
            balance: balance.1.map(|it| it.0),
            nonce: nonce.1.map(|it| it.0),
            // Some nodes leave delegations out of these differences.
            code: code.1.or(delegations.remove(&address)),
        };
        tracker.set(address, before, after);
        for (slot, change) in account.storage {
            if let (Some(before), Some(after)) = change.sides(Word::default()) {
                tracker.set_slot(address, slot.0, Some(before.0), after.0);
            }
        }
    }
    gone
}

/// Whether differences are those of the transactions of the block of `peek`, one for each.
pub fn state_fits(diffs: &RawValue, peek: &BlockPeek) -> Result<(), StateError> {
    read_transactions(diffs.get(), peek.transactions.iter().copied()).map(drop)
}
