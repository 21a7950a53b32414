//! What a transaction changes of coins: by running it again where the state before it is known, else by what its value,
//! its fee and its call frames say. What they do not say is unknown.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::coin_moves::{Moves, moves};
use crate::app::App;
use crate::error::Problem;
use crate::read::replay::run_again;
use crate::read::rules::has_ethereums_rules;
use crate::read::state::block_context;
use trawl_core::primitives::{Address, BlockNumber, TransactionType, U256};
use trawl_core::schema::{BlockRow, TransactionRow};
use trawl_core::store::Head;
use trawl_evm::replay::Tracer;
use trawl_json::transactions::state_changes::Difference;

/// Gas of a transaction before anything runs.
const INTRINSIC_GAS: u64 = 21_000;

/// What is known of the coins of an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::rest) struct CoinChange {
    /// The balance before and after, if known.
    pub balances: Option<(U256, U256)>,
    /// The difference, if all of it is known.
    pub change: Option<Difference>,
}

/// The changes of coins by account; without those that are known to be none.
///
/// # Errors
///
/// When the store fails, or this server has too much to do.
pub(in crate::rest) async fn coin_changes(
    app: &App,
    head: &Arc<Head>,
    transaction: &TransactionRow,
    block: &BlockRow,
) -> Result<BTreeMap<Address, CoinChange>, Problem> {
    let (number, index) = (block.block_number, transaction.transaction_index);
    let mut changes = match run_again(app, head, number, index, Tracer::Balances).await {
        Ok(text) => exact(&text)?,
        Err(
            Problem::StateMissing(_)
            | Problem::RulesUnknown(_)
            | Problem::ColumnsMissing { .. }
            | Problem::CallTooLong
            | Problem::Call(_),
        ) => without_replay(app, head, transaction, block).await?,
        Err(problem) => return Err(problem),
    };
    changes.retain(|_, change| change.change.is_none_or(|change| !change.is_none()));
    Ok(changes)
}

/// The balances that a replay reported: before and after, by account.
fn exact(text: &[u8]) -> Result<BTreeMap<Address, CoinChange>, Problem> {
    let balances: BTreeMap<Address, (U256, U256)> = serde_json::from_slice(text).map_err(|error| {
        tracing::error!(%error, "balances of a replay cannot be read");
        Problem::Internal
    })?;
    let change = |(address, (before, after))| {
        let change = Difference { received: after, given: before };
        (address, CoinChange { balances: Some((before, after)), change: Some(change) })
    };
    Ok(balances.into_iter().map(change).collect())
}

/// What value, fee and call frames say.
async fn without_replay(
    app: &App,
    head: &Head,
    transaction: &TransactionRow,
    block: &BlockRow,
) -> Result<BTreeMap<Address, CoinChange>, Problem> {
    let frames = frames(app, head, block.block_number, transaction.transaction_index).await?;
    // Chains with other rules have other fees, and give them to others; rollups take more than gas costs.
    let pays_for_gas_alone = app.family(head).is_none_or(|family| family.l1_fee.is_none());
    let knows_fees = pays_for_gas_alone && has_ethereums_rules(app, head, &block_context(block));
    Ok(UnreplayableTransaction { transaction, block, frames, knows_fees }.changes())
}

/// Moves of coins in the call frames of a transaction; `None` if its frames are not indexed, too many, or do not tell.
async fn frames(app: &App, head: &Head, block: BlockNumber, index: u32) -> Result<Option<Moves>, Problem> {
    if !head.traces.contains(block) {
        return Ok(None);
    }
    let statement = trawl_query::transactions::internal::coin_frames(&head.traces.at(block), index, MAX_FRAMES + 1);
    let frames = app.values_of(head, &statement).await?;
    Ok((frames.len() as u64 <= MAX_FRAMES).then(|| moves(&frames)).flatten())
}

/// Most call frames that are examined; with more, what they move is unknown.
const MAX_FRAMES: u64 = 20_000;

/// A transaction that cannot be replayed here.
struct UnreplayableTransaction<'t> {
    transaction: &'t TransactionRow,
    block: &'t BlockRow,
    frames: Option<Moves>,
    knows_fees: bool,
}

impl UnreplayableTransaction<'_> {
    fn changes(&self) -> BTreeMap<Address, CoinChange> {
        let transaction = self.transaction;
        let (sender, miner) = (transaction.from_address, self.block.producer);
        let recipient = transaction.to_address.or(transaction.contract_address);
        let mut known: BTreeMap<Address, Difference> = BTreeMap::new();
        let mut unknown: BTreeSet<Address> = BTreeSet::new();
        match self.fees() {
            Some((fee, tip)) => {
                give(&mut known, sender, fee);
                receive(&mut known, miner, tip);
            }
            None => unknown.extend([sender, miner]),
        }
        match self.moved() {
            Some(moves) => {
                for (from, to, value) in &moves.coins {
                    give(&mut known, *from, *value);
                    receive(&mut known, *to, *value);
                }
                unknown.extend(&moves.uncertain);
            }
            // The code that ran may have sent coins to any account.
            None => unknown.extend([sender, miner].into_iter().chain(recipient)),
        }
        let changes = known.into_iter().map(|(address, change)| (address, Some(change)));
        let all = changes.chain(unknown.into_iter().map(|address| (address, None)));
        all.map(|(address, change)| (address, CoinChange { balances: None, change })).collect()
    }

    /// What the transaction moves without its fee; `None` if that is not known.
    fn moved(&self) -> Option<Moves> {
        let transaction = self.transaction;
        let own = || {
            let to = transaction.to_address.or(transaction.contract_address)?;
            Some((transaction.from_address, to, transaction.value))
        };
        let status = transaction.status.filter(|_| self.has("status"));
        if status == Some(0) {
            return Some(Moves::default());
        }
        if let Some(frames) = &self.frames {
            let mut moves = frames.clone();
            if !frames.is_failed {
                moves.coins.extend(own());
            }
            return Some(moves);
        }
        // Without gas for a single step of code nothing else can have moved.
        let ran_nothing = status == Some(1) && transaction.gas_limit == INTRINSIC_GAS && transaction.input.is_empty();
        (ran_nothing && self.has("gas_limit") && self.has("input"))
            .then(|| Moves { coins: own().into_iter().collect(), ..Moves::default() })
    }

    /// What the sender pays for gas, and what of it the block's beneficiary gets.
    fn fees(&self) -> Option<(U256, U256)> {
        let (transaction, block) = (self.transaction, self.block);
        let needed = ["gas_used", "effective_gas_price", "blob_gas_used", "blob_gas_price"];
        let is_complete = needed.iter().all(|column| self.has(column)) && !lacks(&block.lacking, "base_fee_per_gas");
        if !self.knows_fees || !is_complete {
            return None;
        }
        let gas = U256::from(transaction.gas_used);
        let paid = gas.checked_mul(transaction.effective_gas_price)?;
        let blobs = match transaction.transaction_type.into() {
            TransactionType::Blob => U256::from(transaction.blob_gas_used?).checked_mul(transaction.blob_gas_price?)?,
            _ => U256::ZERO,
        };
        let burnt = gas.checked_mul(block.base_fee_per_gas.unwrap_or(U256::ZERO))?;
        Some((paid.checked_add(blobs)?, paid.checked_sub(burnt)?))
    }

    fn has(&self, column: &str) -> bool {
        !lacks(&self.transaction.lacking, column)
    }
}

fn lacks(lacking: &[String], column: &str) -> bool {
    lacking.iter().any(|lacking| lacking == column)
}

fn give(known: &mut BTreeMap<Address, Difference>, from: Address, value: U256) {
    let change = known.entry(from).or_default();
    change.given = change.given.saturating_add(value);
}

fn receive(known: &mut BTreeMap<Address, Difference>, to: Address, value: U256) {
    let change = known.entry(to).or_default();
    change.received = change.received.saturating_add(value);
}
