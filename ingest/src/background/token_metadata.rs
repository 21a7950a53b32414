//! Asks token contracts what they are: name, symbol, decimals and supply, once each.
//!
//! It works beside the load and never holds it up: what it cannot take in is left out, what fails is told once, and
//! what was not asked is asked by the next run, which finds it in the tables. A run that follows the head lasts for
//! months, so it does not leave a node's outage to the next one: it asks until there is an answer.

use std::collections::HashSet;
use std::ops::Bound::{Excluded, Unbounded};
use std::time::Duration;

use futures_util::{StreamExt, stream};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use trawl_core::primitives::Address;
use trawl_core::schema::{Table, TokenRow};
use trawl_core::store::{Reader, StoreError, Writer};

use crate::source::rpc::{NodeClient, TokenAnswers, TokenFailure};
use crate::write::batch::Tokens;
use crate::write::lease::Held;

pub mod answers;

/// Batches that wait to be looked at.
const WAITING: usize = 64;
/// Contracts that wait to be asked; more are left to the next run.
const PENDING: usize = 100_000;
/// Contracts asked before their rows are written.
const ROUND: usize = 64;
/// Contracts looked up at once in the tables.
const LOOKUP: usize = 1000;
/// Contracts asked at the same time.
const AT_ONCE: usize = 4;
/// Rounds that may fail one after another, in a run that has an end.
const PATIENCE: u32 = 3;
/// Pause after the first round that failed; it doubles with each further one where nobody gives up.
const PAUSE: Duration = Duration::from_secs(2);
/// The longest pause: how late a node that is back is asked.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// How long a load that is through waits for the rest.
const REST: Duration = Duration::from_secs(30);

/// Where a load says which contracts it came upon.
#[derive(Debug, Clone)]
pub struct Offers(mpsc::Sender<Tokens>);

impl Offers {
    /// Hands contracts over, or forgets them if there are too many: the tables know them.
    pub fn offer(&self, tokens: Tokens) {
        if !tokens.is_empty() && self.0.try_send(tokens).is_err() {
            tracing::debug!("token contracts are left to the next run");
        }
    }
}

/// What becomes of contracts a node does not answer for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unanswered {
    /// They are left to the next run, and all of them after a few rounds without an answer: a load has an end.
    LeftToTheNextRun,
    /// They are asked again, with longer and longer pauses, until there is an answer: following has no end.
    AskedAgain,
}

/// The task that asks.
#[derive(Debug)]
pub struct Asking(JoinHandle<()>);

impl Asking {
    /// Starts to ask `node`, and to write while the lease is `held`.
    #[must_use]
    pub fn start(
        node: NodeClient,
        (reader, writer): (Reader, Writer),
        held: Held,
        unanswered: Unanswered,
    ) -> (Offers, Self) {
        let (offers, offered) = mpsc::channel(WAITING);
        let asker = Asker {
            node,
            writer,
            held,
            unanswered,
            asked: HashSet::new(),
            pending: Tokens::new(),
            last: Address::ZERO,
            rounds: 0,
        };
        let task = tokio::spawn(async move {
            if let Err(cause) = asker.run(&reader, offered).await {
                tracing::warn!(error = %trawl_core::chain(&cause), "token contracts are not asked; the next run asks them");
            }
        });
        (Offers(offers), Self(task))
    }

    /// Waits for what is left, not for long and not if told to stop. All [`Offers`] must be gone.
    pub async fn finish(mut self, mut stop: watch::Receiver<bool>) {
        let cut_short = tokio::select! {
            _ = &mut self.0 => false,
            _ = stop.wait_for(|stop| *stop) => true,
            () = tokio::time::sleep(REST) => true,
        };
        if cut_short {
            tracing::info!("the rest of the token contracts is asked by the next run");
            self.stop();
        }
    }

    /// Ends at once.
    pub fn stop(self) {
        self.0.abort();
    }
}

#[derive(Debug, thiserror::Error)]
enum AskError {
    #[error(transparent)]
    Node(#[from] TokenFailure),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl AskError {
    /// Whether asking again cannot help: the node has no calls, or this run may not write any more.
    fn is_final(&self) -> bool {
        match self {
            Self::Node(failure) => failure.is_final(),
            Self::Store(error) => matches!(error, StoreError::LeaseLost | StoreError::NoSignOfLife(_)),
        }
    }
}

/// How a round went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Round {
    Answered,
    /// The node does not answer for some, and does for others.
    Partly,
}

struct Asker {
    node: NodeClient,
    writer: Writer,
    held: Held,
    unanswered: Unanswered,
    /// Those that were asked in this run, or could not be.
    asked: HashSet<Address>,
    pending: Tokens,
    /// Where the last round ended: the next one begins behind it, so that those that fail keep nobody else waiting.
    last: Address,
    rounds: u64,
}

impl Asker {
    async fn run(mut self, reader: &Reader, mut offered: mpsc::Receiver<Tokens>) -> Result<(), AskError> {
        self.take_in(left_over(reader).await);
        let mut failures = 0_u64;
        loop {
            while let Ok(tokens) = offered.try_recv() {
                let tokens = self.unasked(reader, tokens).await;
                self.take_in(tokens);
            }
            if self.pending.is_empty() {
                let Some(tokens) = offered.recv().await else { return Ok(()) };
                let tokens = self.unasked(reader, tokens).await;
                self.take_in(tokens);
                continue;
            }
            let failure = match self.round().await {
                Ok(Round::Answered) => {
                    if failures > u64::from(PATIENCE) {
                        tracing::info!("token contracts are asked again");
                    }
                    failures = 0;
                    continue;
                }
                Ok(Round::Partly) => None,
                Err(error) => Some(error),
            };
            failures += 1;
            match failure {
                Some(error) if error.is_final() => return Err(error),
                Some(error) if self.unanswered == Unanswered::LeftToTheNextRun => {
                    if failures > u64::from(PATIENCE) || matches!(error, AskError::Store(_)) {
                        return Err(error);
                    }
                    tracing::debug!(error = %trawl_core::chain(&error), "asking token contracts again");
                }
                Some(error) if failures == u64::from(PATIENCE) + 1 => {
                    tracing::warn!(error = %trawl_core::chain(&error), "token contracts wait for an answer");
                }
                Some(_) | None => {}
            }
            self.rest(failures, reader, &mut offered).await;
        }
    }

    /// A pause after so many failures; what is offered meanwhile is taken in.
    async fn rest(&mut self, failures: u64, reader: &Reader, offered: &mut mpsc::Receiver<Tokens>) {
        let end = tokio::time::Instant::now() + pause(failures, self.unanswered);
        while let Ok(Some(tokens)) = tokio::time::timeout_at(end, offered.recv()).await {
            let tokens = self.unasked(reader, tokens).await;
            self.take_in(tokens);
        }
        // Nobody offers any more: the rest of the pause.
        tokio::time::sleep_until(end).await;
    }

    fn take_in(&mut self, tokens: Tokens) {
        for (address, token_type) in tokens {
            if self.pending.len() < PENDING && !self.asked.contains(&address) {
                self.pending.entry(address).or_insert(token_type);
            }
        }
    }

    /// Those that no run has asked. If that cannot be told they are asked again, which adds a row that says the same.
    async fn unasked(&self, reader: &Reader, mut tokens: Tokens) -> Tokens {
        tokens.retain(|address, _| !self.asked.contains(address) && !self.pending.contains_key(address));
        let addresses: Vec<Address> = tokens.keys().copied().collect();
        for addresses in addresses.chunks(LOOKUP) {
            match reader.asked_tokens(addresses).await {
                Ok(asked) => asked.iter().for_each(|address| drop(tokens.remove(address))),
                Err(error) => tracing::debug!(%error, "cannot tell which token contracts were asked"),
            }
        }
        tokens
    }

    /// Asks some of the pending contracts and writes what they answered.
    async fn round(&mut self) -> Result<Round, AskError> {
        let block_number = self.node.newest_block().await?;
        let behind = self.pending.range((Excluded(self.last), Unbounded));
        let turn = behind.chain(self.pending.range(..=self.last)).take(ROUND);
        let some: Vec<(Address, String)> = turn.map(|(address, kind)| (*address, kind.clone())).collect();
        self.last = some.last().map_or(Address::ZERO, |(address, _)| *address);
        let node = &self.node;
        let answers: Vec<(Address, Result<TokenRow, TokenFailure>)> = stream::iter(some)
            .map(|(address, token_type)| async move {
                let told = node.token(address, block_number).await;
                (address, told.map(|told| token_row(address, block_number, token_type, told)))
            })
            .buffer_unordered(AT_ONCE)
            .collect()
            .await;
        let mut failed = Vec::new();
        let mut rows = Vec::new();
        for (address, answer) in answers {
            match answer {
                Ok(row) => rows.push(row),
                Err(cause) => failed.push((address, cause)),
            }
        }
        let node_answers = !rows.is_empty();
        self.write(rows).await?;
        match failed.pop() {
            Some((_, cause)) if !node_answers || cause.is_final() => Err(cause.into()),
            Some(_) if self.unanswered == Unanswered::AskedAgain => Ok(Round::Partly),
            Some((address, cause)) => {
                tracing::debug!(%address, error = %cause, "token contracts are left to the next run");
                failed.push((address, cause));
                for (address, _) in failed {
                    self.pending.remove(&address);
                    self.asked.insert(address);
                }
                Ok(Round::Answered)
            }
            None => Ok(Round::Answered),
        }
    }

    async fn write(&mut self, rows: Vec<TokenRow>) -> Result<(), StoreError> {
        if rows.is_empty() {
            return Ok(());
        }
        let addresses: Vec<Address> = rows.iter().map(|row| row.address).collect();
        let mut builder = <TokenRow as Table>::Builder::default();
        for row in rows {
            TokenRow::push(&mut builder, row);
        }
        let batch = TokenRow::finish(builder);
        self.rounds += 1;
        for table in TokenRow::NAMES {
            let token = format!("{}/tokens/{}/{table}", self.writer.run(), self.rounds);
            self.held.write(self.writer.insert(table, &batch, &token)).await?;
        }
        for address in addresses {
            self.pending.remove(&address);
            self.asked.insert(address);
        }
        Ok(())
    }
}

/// How long to wait after so many failures, one after another.
fn pause(failures: u64, unanswered: Unanswered) -> Duration {
    match unanswered {
        Unanswered::LeftToTheNextRun => PAUSE,
        Unanswered::AskedAgain => {
            let doubled = u32::try_from(failures.saturating_sub(1).min(10)).unwrap_or(10);
            (PAUSE * 2_u32.pow(doubled)).min(LONGEST_PAUSE)
        }
    }
}

/// What earlier runs did not ask. That it cannot be told holds nobody up.
async fn left_over(reader: &Reader) -> Tokens {
    match reader.unasked_tokens().await {
        Ok(tokens) => tokens.into_iter().map(|token| (token.address, token.token_type)).collect(),
        Err(error) => {
            tracing::warn!(
                error = %trawl_core::chain(&error),
                "cannot tell which token contracts earlier runs did not ask; only those of this run are asked"
            );
            Tokens::new()
        }
    }
}

fn token_row(address: Address, block_number: u64, token_type: String, told: TokenAnswers) -> TokenRow {
    TokenRow {
        address,
        block_number,
        token_type,
        name: told.name.and_then(|answer| answers::text(&answer)),
        symbol: told.symbol.and_then(|answer| answers::text(&answer)),
        decimals: told.decimals.and_then(|answer| answers::decimals(&answer)),
        total_supply: told.total_supply.and_then(|answer| answers::number(&answer)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_where_nobody_gives_up() {
        let seconds = |failures| pause(failures, Unanswered::AskedAgain).as_secs();
        assert_eq!([1, 2, 3, 5, 6, u64::MAX].map(seconds), [2, 4, 8, 32, 60, 60]);
        assert_eq!(pause(9, Unanswered::LeftToTheNextRun), PAUSE);
    }
}
