//! Sends statements to one of the addresses that hold a database: to another when the one in use is gone.
//!
//! Another address comes into use only if it has what answers were made of (`ServedState`): statements of answers that
//! are being made go on there. A statement is sent again only if none of its rows has arrived.

use std::sync::Arc;
use std::time::Duration;

use super::addresses::{Addresses, Endpoint, InUse, Lag, ServedState};
use super::connection::{Batch, Connection, EngineRows};
use super::timeout::within;
use crate::schema::Columns;
use crate::schema::columns::columns;
use crate::statement::Statement;
use crate::store::error::{UNKNOWN_DATABASE, UNKNOWN_TABLE};
use crate::store::head::committed::{committed_of, committed_ranges};
use crate::store::{StoreAddress, StoreError};

/// How long an address that did not answer is left alone.
const AWAY_PAUSE: Duration = Duration::from_secs(2);
/// The same of one that lacks something, which may arrive any moment.
const LAG_PAUSE: Duration = Duration::from_millis(200);
/// How long an address may take to report its state.
const PROBE_TIMEOUT: Duration = Duration::from_secs(2);
/// After how long without a row it is looked whether the address is there at all, and how often.
const PATIENCE: Duration = Duration::from_secs(3);

columns! {
    pub struct SequenceRow / SequenceView {
        sequence: u64,
    }
}

/// The state of an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndpointStatus {
    /// It has the served state.
    Whole,
    /// It lacks something.
    Behind(Lag),
    /// It refuses to report its state.
    Refuses,
    /// It does not answer.
    Silent,
}

/// Sends statements to one of several addresses.
#[derive(Clone)]
pub(crate) struct Failover {
    addresses: Arc<Addresses>,
    /// Checks whether a server responds; for several addresses.
    ping: Option<reqwest::Client>,
}

impl Failover {
    /// The first address is used first. There is at least one.
    pub fn new(endpoints: Vec<Endpoint>) -> Self {
        let ping = || reqwest::Client::builder().timeout(PROBE_TIMEOUT).build().ok();
        let ping = (endpoints.len() > 1).then(ping).flatten();
        Self { addresses: Arc::new(Addresses::new(endpoints)), ping }
    }

    /// Sends a statement, with another limit on its rows if one is given, and waits for the first of them.
    pub async fn send<R: Columns>(
        &self,
        statement: &Statement<R>,
        limit: Option<u64>,
    ) -> Result<EngineRows<R>, StoreError> {
        self.run(|connection| async move { connection.send(statement, limit).await }).await
    }

    /// Sends to the address in use; to another one if that does not answer.
    pub async fn run<T, Answer>(&self, ask: impl Fn(Arc<Connection>) -> Answer) -> Result<T, StoreError>
    where
        Answer: Future<Output = Result<T, StoreError>>,
    {
        let mut tried = 0;
        loop {
            let in_use = self.in_use();
            // A page sends a dozen statements at once, and each has these futures: on the stack they fill that of a
            // thread.
            let request = Box::pin(ask(Arc::clone(&self.endpoint(in_use).connection)));
            if self.addresses.endpoints.len() == 1 {
                return request.await;
            }
            let error = tokio::select! {
                answer = request => match answer {
                    Err(error) if error.is_lost_connection() => error,
                    answer => return answer,
                },
                () = Box::pin(self.gone(in_use)) => StoreError::silent(),
            };
            tried += 1;
            if tried > self.addresses.endpoints.len() || !Box::pin(self.leave(in_use)).await {
                return Err(error);
            }
        }
    }

    pub fn in_use(&self) -> InUse {
        self.addresses.in_use()
    }

    /// Waits until another address is in use.
    pub async fn changed(&self, from: InUse) {
        self.addresses.changed(from).await;
    }

    pub fn address(&self) -> &StoreAddress {
        &self.endpoint(self.in_use()).address
    }

    /// Records the served state, if `turn` is still the current one.
    pub fn show(&self, turn: u64, shown: ServedState) -> bool {
        self.addresses.show(turn, shown)
    }

    /// The states of the addresses that are not in use.
    pub async fn statuses(&self) -> Vec<(StoreAddress, EndpointStatus)> {
        let (shown, in_use) = (self.addresses.shown(), self.in_use().index);
        let others = self.addresses.endpoints.iter().enumerate().filter(|(index, _)| *index != in_use);
        let looks = others.map(|(_, endpoint)| async { (endpoint.address.clone(), probe(endpoint, &shown).await) });
        futures_util::future::join_all(looks).await
    }

    fn endpoint(&self, in_use: InUse) -> &Endpoint {
        &self.addresses.endpoints[in_use.index]
    }

    /// Waits until another address is in use, or this one does not answer at all.
    async fn gone(&self, in_use: InUse) {
        tokio::select! {
            () = self.changed(in_use) => {}
            () = self.silence(in_use) => {}
        }
    }

    async fn silence(&self, in_use: InUse) {
        let Some(ping) = &self.ping else { return std::future::pending().await };
        let url = format!("{}/ping", self.endpoint(in_use).address.url.trim_end_matches('/'));
        loop {
            tokio::time::sleep(PATIENCE).await;
            match ping.get(&url).send().await {
                Ok(answer) if !answer.status().is_server_error() => {}
                _ => return,
            }
        }
    }

    /// Looks for another address; whether one is in use now. Those who come meanwhile wait for what is found.
    async fn leave(&self, in_use: InUse) -> bool {
        let _looking = self.addresses.looking.lock().await;
        if self.in_use() != in_use {
            return true;
        }
        let endpoints = &self.addresses.endpoints;
        self.endpoint(in_use).leave_alone_for(AWAY_PAUSE);
        for step in 1..endpoints.len() {
            let index = (in_use.index + step) % endpoints.len();
            let endpoint = &endpoints[index];
            if !endpoint.may_be_tried() {
                continue;
            }
            let shown = self.addresses.shown();
            let status = probe(endpoint, &shown).await;
            if status == EndpointStatus::Whole && self.addresses.turn_to(index, &shown) {
                let (from, to) = (self.endpoint(in_use).address.host(), endpoint.address.host());
                tracing::warn!(from, to, "ClickHouse does not answer: switched to another address");
                return true;
            }
            tracing::debug!(host = endpoint.address.host(), ?status, "another ClickHouse address cannot be used");
            endpoint.leave_alone_for(if let EndpointStatus::Behind(_) = status { LAG_PAUSE } else { AWAY_PAUSE });
        }
        false
    }
}

/// The state of an address.
async fn probe(endpoint: &Endpoint, shown: &ServedState) -> EndpointStatus {
    let lag = within(PROBE_TIMEOUT, lag(&endpoint.connection, shown)).await.and_then(|lag| lag);
    match lag {
        Ok(lag) if lag == Lag::default() => EndpointStatus::Whole,
        Ok(lag) => EndpointStatus::Behind(lag),
        Err(error) if error.is_lost_connection() || error.is_unreachable() => EndpointStatus::Silent,
        Err(_) => EndpointStatus::Refuses,
    }
}

async fn lag(connection: &Connection, shown: &ServedState) -> Result<Lag, StoreError> {
    let committed = match all(connection, &committed_ranges()).await {
        // Nothing is there yet.
        Err(StoreError::Refused { code: UNKNOWN_TABLE | UNKNOWN_DATABASE, .. }) => {
            return Ok(shown.lag(&Arc::default(), 0));
        }
        committed => committed_of(&committed?),
    };
    let sequence = match shown.sequence {
        Some(_) => {
            let newest = Statement::<SequenceRow>::page("SELECT max(sequence) AS sequence FROM ingest_heads");
            all(connection, &newest).await?.iter().flat_map(Batch::rows).map(|row| row.sequence).max()
        }
        None => None,
    };
    Ok(shown.lag(&committed, sequence.unwrap_or(0)))
}

async fn all<R: Columns>(connection: &Connection, statement: &Statement<R>) -> Result<Vec<Batch<R>>, StoreError> {
    let mut rows = connection.send(statement, None).await?;
    let mut batches = Vec::new();
    while let Some(batch) = rows.next().await? {
        batches.push(batch);
    }
    Ok(batches)
}
