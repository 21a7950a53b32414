//! A claim to a lease: made, and given back if another one stands against it.

use std::time::Duration;

use trawl_core::store::{Claimant, LeaseEvent, LiveLease, Reader, StoreError, Writer};

use super::claimant::{Process, process};
use super::scope::{LeaseScope, ScopeRelation};
use crate::write::retry::retry_transient;

/// How long a holder may write after a heartbeat.
pub(super) const WRITE_WINDOW: Duration = Duration::from_secs(20);
/// How long a holder elsewhere may be silent before its lease is taken away.
const TAKEOVER_DELAY: Duration = Duration::from_secs(60);

/// A claim to a lease.
pub(super) struct Claim<'a> {
    /// The name of the lease.
    pub name: String,
    /// What it is of.
    pub scope: &'a LeaseScope,
    /// Who claims it.
    pub claimant: &'a Claimant,
}

/// What became of a claim.
pub(super) enum ClaimOutcome {
    /// The lease is held.
    Held,
    /// Another run may write the same.
    HeldBy(LiveLease),
    /// Slices of another chain are being loaded.
    OtherChain { ours: String, theirs: String },
}

impl Claim<'_> {
    /// Claims, and gives back if the holder of another lease may write. Before, leases of
    /// holders that are gone are taken away.
    pub(super) async fn make(&self, reader: &Reader, writer: &Writer) -> Result<ClaimOutcome, StoreError> {
        let mut others = retry_transient(|| reader.live_leases()).await?;
        for gone in others.iter_mut().filter(|lease| lease.fenced_ms.is_none() && is_gone(lease, self.claimant)) {
            tracing::info!(host = gone.host, "an earlier run ended without releasing its lease");
            retry_transient(|| writer.record_lease(&gone.lease, LeaseEvent::Fenced, self.claimant)).await?;
            gone.fenced_ms = Some(0);
        }
        if let Some(rival) = self.rival(others) {
            return Ok(rival);
        }
        retry_transient(|| writer.record_lease(&self.name, LeaseEvent::Claimed, self.claimant)).await?;
        let others = retry_transient(|| reader.live_leases()).await?;
        let Some(rival) = self.rival(others) else { return Ok(ClaimOutcome::Held) };
        retry_transient(|| writer.record_lease(&self.name, LeaseEvent::Released, self.claimant)).await?;
        Ok(rival)
    }

    /// The first of other leases that stands against this one.
    fn rival(&self, leases: Vec<LiveLease>) -> Option<ClaimOutcome> {
        let others = leases.into_iter().filter(|lease| lease.lease != self.name && may_write(lease, self.claimant));
        others.into_iter().find_map(|lease| {
            let theirs = LeaseScope::of_lease(&lease.lease);
            match (self.scope.relation_to(&theirs), self.scope, theirs) {
                (ScopeRelation::Apart, ..) => None,
                (
                    ScopeRelation::OtherChain,
                    LeaseScope::Blocks { chain, .. },
                    LeaseScope::Blocks { chain: theirs, .. },
                ) => Some(ClaimOutcome::OtherChain { ours: chain.clone(), theirs }),
                _ => Some(ClaimOutcome::HeldBy(lease)),
            }
        })
    }
}

fn is_gone(lease: &LiveLease, us: &Claimant) -> bool {
    if lease.process_namespace == us.process_namespace {
        // In our own namespace, a process that cannot be found has ended, and one that can may go on any time.
        return process(&lease.process) == Process::Ended;
    }
    u128::from(lease.silent_ms) > TAKEOVER_DELAY.as_millis()
}

/// Whether its holder may write. One that lost its lease writes on until its last heartbeat is too old, which another
/// run cannot shorten: every run that comes in the meantime waits, whichever took the lease away.
fn may_write(lease: &LiveLease, us: &Claimant) -> bool {
    let has_ended = || lease.process_namespace == us.process_namespace && process(&lease.process) == Process::Ended;
    lease.fenced_ms.is_none_or(|since| u128::from(since) <= WRITE_WINDOW.as_millis() && !has_ended())
}
