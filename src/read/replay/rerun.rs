//! Transactions of a block that run again on the state before it, and are traced.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::time::timeout_at;

use super::recorded::{RecordedBlock, recorded_block};
use crate::app::App;
use crate::error::Problem;
use crate::read::state::State;
use trawl_core::primitives::{Address, B256, BlockNumber, U256};
use trawl_core::store::Head;
use trawl_evm::replay::{Progress, RecordedTransaction, Replay, Trace, Tracer};
use trawl_evm::{Call, Key, PartialState, StateValue, Step};

/// Longest time from the start to the last trace. The rows of blocks that are not settled are there for two minutes.
const MAX_TIME: Duration = Duration::from_secs(60);

/// Which transactions of a block run again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// All of them, each traced.
    Whole,
    /// Those up to the one at a position, which alone is traced.
    UpTo(u32),
    /// Those before the one at a position, none of them traced.
    Before(u32),
}

impl Extent {
    /// The last position that has to be there.
    fn last(self) -> Option<u32> {
        match self {
            Self::Whole => None,
            Self::UpTo(last) | Self::Before(last) => Some(last),
        }
    }
}

/// A block whose transactions run again.
pub(crate) struct Rerun {
    app: App,
    before: State,
    replay: Arc<Replay>,
    /// What is known of the state, and how far the block is; absent while they are away for a computation.
    run: Option<(PartialState, Progress)>,
    /// Hashes of the transactions that are traced next.
    hashes: std::vec::IntoIter<B256>,
    /// When the next traces must be there.
    deadline: Instant,
    ends: Instant,
}

impl Rerun {
    /// Prepares transactions of the block at a height.
    ///
    /// # Errors
    ///
    /// When the state before the block, its receipts or the rules of the chain are not known; or when the store fails.
    pub async fn prepare(
        app: &App,
        head: &Arc<Head>,
        number: BlockNumber,
        extent: Extent,
        tracer: Tracer,
    ) -> Result<Self, Problem> {
        let parent = number.checked_sub(1).ok_or(Problem::BlockNotFound)?;
        let before = State::after(app, parent, head).await?;
        let begins = Instant::now();
        let deadline = begins + app.options().call_timeout;
        let of_block = async {
            let mut block = recorded_block(app, head, number, extent.last()).await?;
            if let Extent::Before(index) = extent {
                block.transactions.truncate(index as usize);
            }
            let mut partial = before.partial(BTreeMap::new());
            before.fetch(&first_keys(&block, number), &mut partial).await?;
            Ok::<_, Problem>((block, partial))
        };
        let too_long = |_| Problem::CallTooLong;
        let (recorded, partial) = timeout_at(deadline.into(), of_block).await.map_err(too_long)??;
        let Some(StateValue::Block(context)) = partial.value(&Key::Block(number)) else {
            return Err(Problem::Internal);
        };
        let RecordedBlock { row, rules, transactions } = recorded;
        let untraced = extent.last().map_or(0, |last| last as usize);
        let hashes: Vec<B256> = transactions[untraced..].iter().map(|transaction| transaction.hash).collect();
        let replay = Replay {
            untraced,
            tracer,
            rules,
            block: (*context).clone(),
            hash: row.hash,
            parent_hash: row.parent_hash,
            beacon_root: row.parent_beacon_block_root,
            transactions,
        };
        let (app, run) = (app.clone(), Some((partial, Progress::default())));
        let (replay, hashes) = (Arc::new(replay), hashes.into_iter());
        Ok(Self { app, before, replay, run, hashes, deadline, ends: begins + MAX_TIME })
    }

    /// The slots of an account that are not zero after the transactions, none of which is traced.
    ///
    /// # Errors
    ///
    /// As [`Rerun::next`] and [`State::storage_of`].
    pub async fn storage_of(&mut self, account: Address) -> Result<BTreeMap<B256, U256>, Problem> {
        self.next().await?;
        let (_, progress) = self.run.as_ref().ok_or(Problem::Internal)?;
        let writes = progress.storage_of(account);
        let mut slots = if writes.is_cleared { BTreeMap::new() } else { self.before.storage_of(account).await? };
        slots.extend(writes.slots);
        slots.retain(|_, value| !value.is_zero());
        Ok(slots)
    }

    /// The next traces with the hashes of their transactions, about a mebibyte; none after the last.
    ///
    /// # Errors
    ///
    /// When a run fails or takes too long; or when the store fails.
    pub async fn next(&mut self) -> Result<Vec<(B256, Trace)>, Problem> {
        let deadline = self.deadline.min(self.ends);
        let (mut partial, mut progress) = self.run.take().ok_or(Problem::Internal)?;
        loop {
            let replay = Arc::clone(&self.replay);
            let work = move || (replay.advance(&mut progress, &partial, deadline), partial, progress);
            let (step, known, reached) = self.app.compute(work).await?;
            (partial, progress) = (known, reached);
            match step {
                Step::Done(traces) => {
                    let traces = traces.map_err(Problem::from)?;
                    self.run = Some((partial, progress));
                    // The time of the client is not that of the next transactions.
                    self.deadline = Instant::now() + self.app.options().call_timeout;
                    return Ok(self.hashes.by_ref().take(traces.len()).zip(traces).collect());
                }
                Step::Missing(keys) => {
                    let read = timeout_at(deadline.into(), self.before.fetch(&keys, &mut partial));
                    read.await.map_err(|_| Problem::CallTooLong)??;
                }
            }
        }
    }
}

/// Keys that every run needs; reading them first saves runs.
fn first_keys(block: &RecordedBlock, number: BlockNumber) -> Vec<Key> {
    let of_call = |call: &Call| {
        let listed = call.access_list.iter().flat_map(|list| &list.0).flat_map(|item| {
            let slots = item.storage_keys.iter().map(|slot| Key::Slot(item.address, *slot));
            [Key::Account(item.address)].into_iter().chain(slots)
        });
        let accounts = [Some(call.from), call.to].into_iter().flatten().map(Key::Account);
        accounts.chain(listed).collect::<Vec<_>>()
    };
    let of_transaction = |recorded: &RecordedTransaction| of_call(&recorded.call);
    let mut keys: Vec<Key> = block.transactions.iter().flat_map(of_transaction).collect();
    keys.extend([Key::Block(number), Key::Account(block.row.miner)]);
    keys.sort_unstable();
    keys.dedup();
    keys
}
