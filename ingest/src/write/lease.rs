//! One run at a time writes a block: a lease that is claimed, kept alive, and taken from holders that are gone.
//!
//! Leases are rows of `ingest_leases`. A run that wants one adds a claim and then looks: if another lease lives that is
//! not apart from it, the claim is given back. Of two that claim at once at least one sees the other, so never do both
//! go on. Nearly all leases are of the whole database; those of the slices of a load are of some blocks, and lie beside
//! each other.
//!
//! A holder whose process has ended is known at once under the same boot and process namespace, and there a living
//! process is waited for, however long it is silent. Elsewhere a lease ends with a minute of silence, or rather 20
//! seconds after it was taken away for that: its holder writes only while its last heartbeat is younger than that, and
//! that heartbeat may have arrived between the look and the taking, as when ClickHouse was away from both.
//!
//! Heartbeats are writes, so they also show when ClickHouse takes none: it is away, its disk is full, it hangs. Then
//! writes wait, and after a few minutes they end with the reason.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinHandle;
use trawl_core::store::{Claimant, LeaseEvent, LiveLease, Reader, StoreError, Writer};

use super::figures::show_lease;

mod apart;
mod claim;
mod claimant;
mod clock;
mod scope;
mod takeover;

pub(super) use apart::runs_apart;
use claim::{Claim, ClaimOutcome, WRITE_WINDOW};
use claimant::here;
use clock::Moment;
pub use scope::LeaseScope;
use takeover::{TakeoverOutcome, take_over};

/// How often a holder shows that it lives.
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(8);
/// The same after one that ClickHouse did not take: writes wait for the next.
const HEARTBEAT_RETRY: Duration = Duration::from_secs(1);
/// How long a write waits for a late heartbeat, as while ClickHouse restarts or an operator makes room on its disk.
const HEARTBEAT_GRACE: Duration = Duration::from_secs(150);
/// How long a heartbeat, or giving the lease back, may take before ClickHouse counts as silent.
const STATEMENT_TIMEOUT: Duration = Duration::from_secs(15);
/// Between two looks at a lease of another run.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// The right to write. Given back by [`Lease::release`]; a process that ends without it loses it by ending.
pub struct Lease {
    writer: Writer,
    name: String,
    scope: Arc<LeaseScope>,
    claimant: Claimant,
    hold: watch::Receiver<LeaseHold>,
    heartbeat: JoinHandle<()>,
}

#[derive(Debug, Clone)]
enum LeaseHold {
    /// No other run takes the lease before this moment.
    Until { end: Moment, trouble: Option<Trouble> },
    /// Another run took it.
    Lost,
}

/// Why the last heartbeat was not taken.
type Trouble = Arc<StoreError>;

/// What to do while another run holds a lease that is not apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContentionPolicy {
    /// Wait for its end.
    Wait,
    /// Leave what is to be done to it.
    Leave,
    /// Take its lease away, and wait until it surely knows.
    TakeOver,
}

/// Why no lease was got.
#[derive(Debug, thiserror::Error)]
pub enum LeaseError {
    /// ClickHouse does not take the claim.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Blocks of another chain are being loaded.
    #[error(
        "blocks of `{theirs}` are being loaded into this database, and these are of `{ours}`: use another \
         --clickhouse-database"
    )]
    OtherChain {
        /// The chain of the slice, and its family.
        ours: String,
        /// That of the slice beside it.
        theirs: String,
    },
    /// A holder whose lease is to be taken over stands still, and would write what it has in hand once it goes on.
    #[error(
        "process {process} of this machine holds the lease and is stopped, so it would write what it has in hand when \
         it goes on: end it (kill -KILL {process}) or let it go on (kill -CONT {process}), and run this again"
    )]
    HolderStopped {
        /// Its process id.
        process: String,
    },
}

/// Lets writes through while the lease is held.
#[derive(Clone)]
pub struct LeaseGuard {
    hold: watch::Receiver<LeaseHold>,
    scope: Arc<LeaseScope>,
}

impl LeaseGuard {
    /// What may be written.
    #[must_use]
    pub fn scope(&self) -> &LeaseScope {
        &self.scope
    }

    /// Writes while the lease is surely held. Fails if another run has taken it, or if ClickHouse does not take signs
    /// of life any more; that ends a statement too that is never answered, as a DELETE on a full disk is not.
    pub async fn write<T>(&self, statement: impl Future<Output = Result<T, StoreError>>) -> Result<T, StoreError> {
        let mut hold = self.hold.clone();
        let sure = hold.wait_for(|hold| match hold {
            LeaseHold::Until { end, .. } => Moment::now() < *end,
            LeaseHold::Lost => true,
        });
        let guarded = async {
            // The heartbeat has ended: this lease was given back.
            if sure.await.is_err() {
                return Err(StoreError::LeaseLost);
            }
            statement.await
        };
        tokio::select! {
            biased;
            error = self.given_up() => Err(error),
            written = guarded => written,
        }
    }

    /// Why the last heartbeat was not taken, if it was not.
    #[must_use]
    pub fn trouble(&self) -> Option<Arc<StoreError>> {
        match &*self.hold.borrow() {
            LeaseHold::Until { trouble, .. } => trouble.clone(),
            LeaseHold::Lost => Some(Arc::new(StoreError::LeaseLost)),
        }
    }

    /// Returns once nothing may be written any more, with the reason.
    async fn given_up(&self) -> StoreError {
        let mut hold = self.hold.clone();
        loop {
            let (end, trouble) = match &*hold.borrow_and_update() {
                LeaseHold::Lost => return StoreError::LeaseLost,
                LeaseHold::Until { end, trouble } => (*end + HEARTBEAT_GRACE, trouble.clone()),
            };
            tokio::select! {
                Ok(()) = hold.changed() => {}
                () = tokio::time::sleep(end.remaining()) => return trouble.map_or(StoreError::LeaseLost, StoreError::NoSignOfLife),
            }
        }
    }
}

impl Lease {
    /// Holds a lease of `scope`, once no other run may write what is in it. `None` if `stop` becomes true before, or if
    /// that is left to another run.
    pub async fn acquire(
        reader: &Reader,
        writer: &Writer,
        scope: &LeaseScope,
        contention: ContentionPolicy,
        stop: &mut watch::Receiver<bool>,
    ) -> Result<Option<Self>, LeaseError> {
        let claimant = here();
        if contention == ContentionPolicy::TakeOver {
            match take_over(reader, writer, scope, &claimant).await? {
                TakeoverOutcome::Fenced => {}
                TakeoverOutcome::HolderStopped { process } => return Err(LeaseError::HolderStopped { process }),
            }
        }
        let mut seen = None;
        let mut attempt = 0_u64;
        loop {
            attempt += 1;
            let claim = Claim { name: scope.lease_name(writer.run(), attempt), scope, claimant: &claimant };
            let claimed_at = Moment::now();
            match claim.make(reader, writer).await? {
                ClaimOutcome::Held => {
                    let (name, scope) = (claim.name, Arc::new(scope.clone()));
                    return Ok(Some(Self::start(reader, writer, name, scope, claimant, claimed_at)));
                }
                ClaimOutcome::OtherChain { ours, theirs } => return Err(LeaseError::OtherChain { ours, theirs }),
                ClaimOutcome::HeldBy(holder) if contention.leaves_to(&holder, seen.as_deref()) => return Ok(None),
                ClaimOutcome::HeldBy(holder) => {
                    if contention != ContentionPolicy::Leave && seen.as_ref() != Some(&holder.lease) {
                        announce(&holder);
                    }
                    seen = Some(holder.lease);
                }
            }
            // Two that claim at the same moment both give back; a pause of random length parts them.
            let pause = POLL_INTERVAL.mul_f64(0.5 + fastrand::f64());
            tokio::select! {
                _ = stop.wait_for(|stop| *stop) => return Ok(None),
                () = tokio::time::sleep(pause) => {}
            }
        }
    }

    fn start(
        reader: &Reader,
        writer: &Writer,
        name: String,
        scope: Arc<LeaseScope>,
        claimant: Claimant,
        since: Moment,
    ) -> Self {
        let (sender, hold) = watch::channel(LeaseHold::Until { end: since + WRITE_WINDOW, trouble: None });
        show_lease(true);
        let beat = keep_alive(reader.clone(), writer.clone(), name.clone(), claimant.clone(), sender);
        Self { writer: writer.clone(), name, scope, claimant, hold, heartbeat: tokio::spawn(beat) }
    }

    /// For those who write under this lease.
    #[must_use]
    pub fn guard(&self) -> LeaseGuard {
        LeaseGuard { hold: self.hold.clone(), scope: Arc::clone(&self.scope) }
    }

    /// Gives the lease back, so that the next run need not find out that its holder is gone.
    pub async fn release(self) {
        self.heartbeat.abort();
        show_lease(false);
        let released = self.writer.record_lease(&self.name, LeaseEvent::Released, &self.claimant);
        let released =
            tokio::time::timeout(STATEMENT_TIMEOUT, released).await.unwrap_or_else(|_| Err(StoreError::silent()));
        if let Err(error) = released {
            tracing::debug!(%error, "the lease was not released; it ends with this process");
        }
    }
}

impl ContentionPolicy {
    /// Whether the holder may be one that goes on: who claims at the same moment gives its claim back at once.
    fn leaves_to(self, holder: &LiveLease, seen: Option<&str>) -> bool {
        let is_slice = matches!(LeaseScope::of_lease(&holder.lease), LeaseScope::Blocks { .. });
        self == Self::Leave && (is_slice || seen == Some(&holder.lease))
    }
}

/// Says who is waited for.
fn announce(holder: &LiveLease) {
    let (host, process) = (&holder.host, holder.process.split(':').next());
    match holder.fenced_ms {
        None => tracing::warn!(
            host,
            process,
            "another run of trawl-ingest is writing to this database; waiting for its end"
        ),
        Some(_) => {
            tracing::info!(
                host,
                process,
                "another run of trawl-ingest lost its lease; waiting until it can no longer write"
            );
        }
    }
}

/// Shows heartbeats until the lease is lost or this task is ended.
async fn keep_alive(reader: Reader, writer: Writer, name: String, claimant: Claimant, hold: watch::Sender<LeaseHold>) {
    let mut pause = HEARTBEAT_INTERVAL;
    loop {
        tokio::time::sleep(pause).await;
        let before = Moment::now();
        match tokio::time::timeout(STATEMENT_TIMEOUT, show(&reader, &writer, &name, &claimant)).await {
            Ok(Ok(true)) => {
                hold.send_replace(LeaseHold::Until { end: before + WRITE_WINDOW, trouble: None });
                pause = HEARTBEAT_INTERVAL;
                continue;
            }
            Ok(Ok(false)) => {
                show_lease(false);
                hold.send_replace(LeaseHold::Lost);
                return;
            }
            Ok(Err(error)) => note(&hold, error),
            Err(_) => note(&hold, StoreError::silent()),
        }
        pause = HEARTBEAT_RETRY;
    }
}

/// Shows a heartbeat; false if the lease was taken away.
async fn show(reader: &Reader, writer: &Writer, name: &str, claimant: &Claimant) -> Result<bool, StoreError> {
    writer.record_lease(name, LeaseEvent::Alive, claimant).await?;
    Ok(reader.live_leases().await?.iter().any(|lease| lease.lease == name && lease.fenced_ms.is_none()))
}

/// Keeps the reason for those who wait, and logs it once.
fn note(hold: &watch::Sender<LeaseHold>, error: StoreError) {
    hold.send_modify(|hold| {
        if let LeaseHold::Until { trouble, .. } = hold {
            if trouble.is_none() {
                tracing::warn!(error = %trawl_core::error_chain(&error), "ClickHouse did not accept a heartbeat; \
                                                                          writes wait until it does");
            }
            *trouble = Some(Arc::new(error));
        }
    });
}
