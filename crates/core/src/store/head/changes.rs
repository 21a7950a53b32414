//! Waits until tables are written to, where the database can say so: `GET /changes` of `trawl-engine`
//! (docs/operate/engine.md). A ClickHouse server has no such path; then heads are found by polling alone.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use reqwest::{Client, StatusCode};
use serde::Deserialize;
use tokio::sync::Notify;
use tokio::task::JoinSet;

use crate::served_chain::for_same_chain;
use crate::store::StoreAddress;
use crate::store::client::failover::Failover;

/// Longer than the engine lets a request wait.
const TIMEOUT: Duration = Duration::from_secs(45);
/// Pause after a failure, and between two looks whether a server has learnt to say so.
const RETRY_DELAY: Duration = Duration::from_secs(1);
const UNSUPPORTED_DELAY: Duration = Duration::from_secs(60);

/// Writes to some tables. Its task ends when it is dropped.
pub(crate) struct Changes {
    shared: Arc<ChangeState>,
    _task: JoinSet<()>,
}

/// What the task finds out.
#[derive(Default)]
struct ChangeState {
    written: Notify,
    /// Whether the database reports writes to the tables now.
    is_live: AtomicBool,
    /// How many times it ceased to.
    losses: AtomicU64,
}

#[derive(Deserialize)]
struct Answer {
    changes: u64,
}

impl Changes {
    /// Begins to wait for writes to `tables`.
    pub fn of(database: &Failover, tables: &[&str]) -> Self {
        let (shared, mut task) = (Arc::<ChangeState>::default(), JoinSet::new());
        match Client::builder().timeout(TIMEOUT).build() {
            Ok(client) => {
                let wait = wait(client, database.clone(), tables.join(","), Arc::clone(&shared));
                task.spawn(for_same_chain(wait));
            }
            Err(error) => tracing::debug!(%error, "new heads are found only by polling"),
        }
        Self { shared, _task: task }
    }

    /// Waits for a write that no earlier call returned for.
    pub async fn next(&self) {
        self.shared.written.notified().await;
    }

    /// Whether every write is noticed.
    pub fn is_live(&self) -> bool {
        self.shared.is_live.load(Ordering::Relaxed)
    }

    /// How many times the database ceased to report writes: since then it may be another process.
    pub fn losses(&self) -> u64 {
        self.shared.losses.load(Ordering::Relaxed)
    }
}

async fn wait(client: Client, database: Failover, tables: String, shared: Arc<ChangeState>) {
    let mut known = None;
    loop {
        let in_use = database.in_use();
        let answer = tokio::select! {
            answer = ask(&client, database.address(), &tables, known) => answer,
            () = database.changed(in_use) => Err(None),
        };
        match answer {
            Ok(now) => {
                shared.is_live.store(true, Ordering::Relaxed);
                // Writes between two connections may have been missed.
                if known != Some(now) {
                    shared.written.notify_one();
                }
                known = Some(now);
            }
            Err(status) => {
                if shared.is_live.swap(false, Ordering::Relaxed) {
                    shared.losses.fetch_add(1, Ordering::Relaxed);
                    // Whoever waits has to look.
                    shared.written.notify_one();
                }
                known = None;
                let is_unknown = status == Some(StatusCode::NOT_FOUND);
                tokio::time::sleep(if is_unknown { UNSUPPORTED_DELAY } else { RETRY_DELAY }).await;
            }
        }
    }
}

/// The number of the tables once it is no longer `known`, or the status of a refusal.
async fn ask(
    client: &Client,
    address: &StoreAddress,
    tables: &str,
    known: Option<u64>,
) -> Result<u64, Option<StatusCode>> {
    let failed = |error: reqwest::Error| error.status();
    let mut parameters = vec![("database", address.database.clone()), ("tables", tables.to_owned())];
    parameters.extend(known.map(|known| ("after", known.to_string())));
    let mut url = reqwest::Url::parse(&address.url).and_then(|url| url.join("/changes")).map_err(|_| None)?;
    url.query_pairs_mut().extend_pairs(parameters);
    let request = client.get(url).header("X-ClickHouse-User", &address.user);
    let request = request.header("X-ClickHouse-Key", &address.password);
    let answer = request.send().await.and_then(reqwest::Response::error_for_status).map_err(failed)?;
    answer.json::<Answer>().await.map(|answer| answer.changes).map_err(failed)
}
