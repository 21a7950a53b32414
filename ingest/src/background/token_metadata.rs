//! Fetches what token contracts report about themselves: name, symbol, decimals and supply, after the first transfer of
//! a contract, and again and again while a run follows the head.
//!
//! The task runs beside the load and never blocks it: contracts beyond its limits are skipped, a failure is logged
//! once, and the next run finds in the tables what is still missing. A run that follows the head lasts for months, so
//! it does not leave the outage of a node to the next run: it retries until there is an answer.

use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use trawl_core::store::{Reader, Writer};

use crate::write::batch::Tokens;
use crate::write::leased_database::LeasedDatabase;
use trawl_node::NodeClient;

pub mod answers;
mod error;
mod policy;
mod refresh;
mod worker;

pub use error::FetchError;
pub use policy::RetryPolicy;
use refresh::Refresh;
pub use refresh::RefreshReport;
use worker::Worker;

/// Most batches in the queue.
const QUEUED_BATCHES: usize = 64;
/// How long a load that is complete waits for the contracts that remain.
const FINISH_TIMEOUT: Duration = Duration::from_secs(30);

/// Queues the token contracts that a load found.
#[derive(Debug, Clone)]
pub struct TokenQueue(mpsc::Sender<Tokens>);

impl TokenQueue {
    /// Queues contracts, or drops them if there are too many: the tables know them.
    pub fn push(&self, tokens: Tokens) {
        if !tokens.is_empty() && self.0.try_send(tokens).is_err() {
            tracing::debug!("token contracts are left for the next run");
        }
    }
}

/// Queries the token contracts that no run has queried yet, and returns how many.
///
/// # Errors
///
/// If the store fails, the lease is lost, or `node` answers for no contract three times in a row.
pub async fn fetch_missing(node: NodeClient, database: LeasedDatabase) -> Result<usize, FetchError> {
    let (_, queued) = mpsc::channel(1);
    Worker::new(node, database.writer, database.guard, RetryPolicy::NextRun).run(&database.reader, queued).await
}

/// Calls all contracts that answered before once more, and writes changed answers. Needs no lease:
/// it adds whole rows to one table, at the height at which the contracts were called.
///
/// # Errors
///
/// If the store fails, or `node` answers for none of the contracts that are called together.
pub async fn refresh(node: NodeClient, reader: &Reader, writer: Writer) -> Result<RefreshReport, FetchError> {
    Refresh::new(node, writer, None).whole(reader).await
}

/// The task that fetches the metadata of token contracts.
#[derive(Debug)]
pub struct TokenFetcher(JoinHandle<()>);

impl TokenFetcher {
    /// Starts to call the contracts through `node`, and to write while the lease of `database` is held.
    #[must_use]
    pub fn start(node: NodeClient, database: LeasedDatabase, policy: RetryPolicy) -> (TokenQueue, Self) {
        let LeasedDatabase { reader, writer, guard } = database;
        let (queue, queued) = mpsc::channel(QUEUED_BATCHES);
        let worker = Worker::new(node, writer, guard, policy);
        let task = tokio::spawn(async move {
            if let Err(cause) = worker.run(&reader, queued).await {
                let error = trawl_core::error_chain(&cause);
                tracing::warn!(%error, "cannot fetch token metadata; the next run fetches it");
            }
        });
        (TokenQueue(queue), Self(task))
    }

    /// Waits for the contracts that remain, until a timeout or a request to stop. Every [`TokenQueue`] must be dropped.
    pub async fn finish(mut self, mut stop: watch::Receiver<bool>) {
        let cut_short = tokio::select! {
            _ = &mut self.0 => false,
            _ = stop.wait_for(|stop| *stop) => true,
            () = tokio::time::sleep(FINISH_TIMEOUT) => true,
        };
        if cut_short {
            tracing::info!("the next run fetches the remaining token metadata");
            self.stop();
        }
    }

    /// Ends at once.
    pub fn stop(self) {
        self.0.abort();
    }
}
