//! One run at a time writes a database: a lease that is claimed, kept alive, and taken from holders that are gone.
//!
//! Leases are rows of `ingest_leases`. A run that wants one adds a claim and then looks: if another lease lives, the claim
//! is given back. Of two that claim at once at least one sees the other, so never do both go on.
//!
//! A holder whose process has ended is known at once in its own place (boot and process namespace), and there a living
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

use crate::write::retry::retry_transient;

mod claimant;
mod clock;

use claimant::{Process, here, process};
use clock::Moment;

/// How often a holder shows that it lives.
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(8);
/// The same after one that ClickHouse did not take: writes wait for the next.
const HEARTBEAT_RETRY: Duration = Duration::from_secs(1);
/// How long a holder may write after a heartbeat.
const WRITE_WINDOW: Duration = Duration::from_secs(20);
/// How long a holder elsewhere may be silent before its lease is taken away.
const TAKEOVER_DELAY: Duration = Duration::from_secs(60);
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
    claimant: Claimant,
    hold: watch::Receiver<Hold>,
    heartbeat: JoinHandle<()>,
}

#[derive(Debug, Clone)]
enum Hold {
    /// No other run takes the lease before this moment.
    Until { end: Moment, trouble: Option<Trouble> },
    /// Another run took it.
    Lost,
}

/// Why the last heartbeat was not taken.
type Trouble = Arc<StoreError>;

/// Lets writes through while the lease is held.
#[derive(Clone)]
pub struct LeaseGuard(watch::Receiver<Hold>);

impl LeaseGuard {
    /// Writes while the lease is surely held. Fails if another run has taken it, or if ClickHouse does not take signs of
    /// life any more; that ends a statement too that is never answered, as a DELETE on a full disk is not.
    pub async fn write<T>(&self, statement: impl Future<Output = Result<T, StoreError>>) -> Result<T, StoreError> {
        let mut hold = self.0.clone();
        let sure = hold.wait_for(|hold| match hold {
            Hold::Until { end, .. } => Moment::now() < *end,
            Hold::Lost => true,
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
        match &*self.0.borrow() {
            Hold::Until { trouble, .. } => trouble.clone(),
            Hold::Lost => Some(Arc::new(StoreError::LeaseLost)),
        }
    }

    /// Returns once nothing may be written any more, with the reason.
    async fn given_up(&self) -> StoreError {
        let mut hold = self.0.clone();
        loop {
            let (end, trouble) = match &*hold.borrow_and_update() {
                Hold::Lost => return StoreError::LeaseLost,
                Hold::Until { end, trouble } => (*end + HEARTBEAT_GRACE, trouble.clone()),
            };
            tokio::select! {
                Ok(()) = hold.changed() => {}
                () = tokio::time::sleep(end.remaining()) => return trouble.map_or(StoreError::LeaseLost, StoreError::NoSignOfLife),
            }
        }
    }
}

impl Lease {
    /// Waits until no other run may write, then holds the lease. `None` if `stop` becomes true before.
    pub async fn acquire(
        reader: &Reader,
        writer: &Writer,
        stop: &mut watch::Receiver<bool>,
    ) -> Result<Option<Self>, StoreError> {
        let claimant = here();
        let mut announced = None;
        let mut attempt = 0_u64;
        loop {
            attempt += 1;
            let name = format!("{}/{attempt}", writer.run());
            let claimed_at = Moment::now();
            match claim(reader, writer, &name, &claimant).await? {
                None => return Ok(Some(Self::start(reader, writer, name, claimant, claimed_at))),
                Some(holder) => {
                    if announced.as_ref() != Some(&holder.lease) {
                        let (host, process) = (&holder.host, holder.process.split(':').next());
                        match holder.fenced_ms {
                            None => tracing::warn!(
                                host,
                                process,
                                "another run of trawl-ingest is writing to this database; waiting for its end"
                            ),
                            Some(_) => tracing::info!(
                                host,
                                process,
                                "another run of trawl-ingest lost its lease; waiting until it surely knows"
                            ),
                        }
                        announced = Some(holder.lease);
                    }
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

    fn start(reader: &Reader, writer: &Writer, name: String, claimant: Claimant, since: Moment) -> Self {
        let (sender, hold) = watch::channel(Hold::Until { end: since + WRITE_WINDOW, trouble: None });
        let beat = keep_alive(reader.clone(), writer.clone(), name.clone(), claimant.clone(), sender);
        Self { writer: writer.clone(), name, claimant, hold, heartbeat: tokio::spawn(beat) }
    }

    /// For those who write under this lease.
    #[must_use]
    pub fn guard(&self) -> LeaseGuard {
        LeaseGuard(self.hold.clone())
    }

    /// Gives the lease back, so that the next run need not find out that its holder is gone.
    pub async fn release(self) {
        self.heartbeat.abort();
        let released = self.writer.record_lease(&self.name, LeaseEvent::Released, &self.claimant);
        let released =
            tokio::time::timeout(STATEMENT_TIMEOUT, released).await.unwrap_or_else(|_| Err(StoreError::silent()));
        if let Err(error) = released {
            tracing::debug!(%error, "the lease was not given back; it ends with this process");
        }
    }
}

/// Claims, and gives back if the holder of another lease may write. Leases of holders that are gone are taken away first.
async fn claim(
    reader: &Reader,
    writer: &Writer,
    name: &str,
    claimant: &Claimant,
) -> Result<Option<LiveLease>, StoreError> {
    let mut others = retry_transient(|| reader.live_leases()).await?;
    for gone in others.iter_mut().filter(|lease| lease.fenced_ms.is_none() && is_gone(lease, claimant)) {
        tracing::info!(host = gone.host, "an earlier run ended without giving back its lease");
        retry_transient(|| writer.record_lease(&gone.lease, LeaseEvent::Fenced, claimant)).await?;
        gone.fenced_ms = Some(0);
    }
    if let Some(holder) = others.into_iter().find(|lease| may_write(lease, claimant)) {
        return Ok(Some(holder));
    }
    retry_transient(|| writer.record_lease(name, LeaseEvent::Claimed, claimant)).await?;
    let others = retry_transient(|| reader.live_leases()).await?;
    let rival = others.into_iter().find(|lease| lease.lease != name && may_write(lease, claimant));
    if rival.is_some() {
        retry_transient(|| writer.record_lease(name, LeaseEvent::Released, claimant)).await?;
    }
    Ok(rival)
}

fn is_gone(lease: &LiveLease, us: &Claimant) -> bool {
    if lease.place == us.place {
        // Its place is ours, so a process that cannot be found has ended, and one that can may go on any time.
        return process(&lease.process) == Process::Ended;
    }
    u128::from(lease.silent_ms) > TAKEOVER_DELAY.as_millis()
}

/// Whether its holder may write. One that lost its lease writes on until its last heartbeat is too old, which another
/// run cannot shorten: every run that comes in the meantime waits, whichever took the lease away.
fn may_write(lease: &LiveLease, us: &Claimant) -> bool {
    let has_ended = || lease.place == us.place && process(&lease.process) == Process::Ended;
    lease.fenced_ms.is_none_or(|since| u128::from(since) <= WRITE_WINDOW.as_millis() && !has_ended())
}

/// Shows heartbeats until the lease is lost or this task is ended.
async fn keep_alive(reader: Reader, writer: Writer, name: String, claimant: Claimant, hold: watch::Sender<Hold>) {
    let mut pause = HEARTBEAT_INTERVAL;
    loop {
        tokio::time::sleep(pause).await;
        let before = Moment::now();
        match tokio::time::timeout(STATEMENT_TIMEOUT, show(&reader, &writer, &name, &claimant)).await {
            Ok(Ok(true)) => {
                hold.send_replace(Hold::Until { end: before + WRITE_WINDOW, trouble: None });
                pause = HEARTBEAT_INTERVAL;
                continue;
            }
            Ok(Ok(false)) => {
                hold.send_replace(Hold::Lost);
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
fn note(hold: &watch::Sender<Hold>, error: StoreError) {
    hold.send_modify(|hold| {
        if let Hold::Until { trouble, .. } = hold {
            if trouble.is_none() {
                tracing::warn!(error = %trawl_core::error_chain(&error), "ClickHouse did not take a heartbeat; writes wait until it does");
            }
            *trouble = Some(Arc::new(error));
        }
    });
}
