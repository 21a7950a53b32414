//! Leases of runs of ingest, which give the right to write, as rows of `ingest_leases`.

use crate::schema::columns::columns;
use crate::statement::Statement;
use crate::store::{Reader, StoreError, Writer};

columns! {
    /// A lease that was claimed and not released.
    pub struct LiveLease / LiveLeaseView {
        /// Name of the lease, which begins with that of its run.
        lease: String,
        /// Name of its holder's machine.
        host: String,
        /// The boot and process namespace in which its holder's process id is valid.
        process_namespace: String,
        /// The holder's process id and start time.
        process: String,
        /// Milliseconds since the last event of its holder, by ClickHouse's clock.
        silent_ms: u64,
        /// Milliseconds since another run fenced it, if one did.
        fenced_ms: Option<u64>,
    }
}

/// The holder of a lease, or a run that claims it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claimant {
    /// Name of the machine, for people.
    pub host: String,
    /// Boot and process namespace of the machine: process ids can be compared within it.
    pub process_namespace: String,
    /// Process id and start time.
    pub process: String,
}

/// Something that happens to a lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeaseEvent {
    /// A run claims it.
    Claimed,
    /// Its holder still works.
    Alive,
    /// Its holder released it.
    Released,
    /// Another run took it over, because its holder is gone.
    Fenced,
}

impl LeaseEvent {
    fn as_str(self) -> &'static str {
        match self {
            Self::Claimed => "claimed",
            Self::Alive => "alive",
            Self::Released => "released",
            Self::Fenced => "fenced",
        }
    }
}

impl Writer {
    /// Records an event; when this returns every later read sees it.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement.
    pub async fn record_lease(&self, lease: &str, event: LeaseEvent, by: &Claimant) -> Result<(), StoreError> {
        let parameters = [
            ("lease", lease.into()),
            ("event", event.as_str().into()),
            ("host", by.host.as_str().into()),
            ("process_namespace", by.process_namespace.as_str().into()),
            ("process", by.process.as_str().into()),
        ];
        self.execute_promptly(include_str!("../../../../../sql/queries/record_lease.sql"), &parameters).await
    }
}

impl Reader {
    /// All leases that were not released, by name; of the fenced ones, the latest.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement, or the result has unexpected columns.
    pub async fn live_leases(&self) -> Result<Vec<LiveLease>, StoreError> {
        let statement = Statement::<LiveLease>::page(include_str!("../../../../../sql/queries/live_leases.sql"));
        self.rows(&statement).await
    }
}
