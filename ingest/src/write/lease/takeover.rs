//! Takes over leases whose holders are gone, according to an operator.
//!
//! They may still be alive. So they are notified like holders that were silent for too long, and the right to write is
//! granted no sooner: after 20 seconds, when even a holder that missed the notice has stopped writing, or as soon as
//! its process has ended.

use trawl_core::store::{Claimant, LeaseEvent, Reader, StoreError, Writer};

use super::claimant::{Process, process};
use super::scope::{LeaseScope, ScopeRelation};
use crate::write::retry::retry_transient;

/// The outcome for the leases that are in the way.
pub(super) enum TakeoverOutcome {
    /// Their holders may write no more.
    Fenced,
    /// The process of one is stopped: it may be about to send rows, and looks at its lease after that.
    HolderStopped {
        /// Its process id.
        process: String,
    },
}

/// Takes over all leases that overlap `scope` and are held now, but none that is claimed later.
pub(super) async fn take_over(
    reader: &Reader,
    writer: &Writer,
    scope: &LeaseScope,
    us: &Claimant,
) -> Result<TakeoverOutcome, StoreError> {
    let leases = retry_transient(|| reader.live_leases()).await?;
    let held = leases.iter().filter(|lease| {
        lease.fenced_ms.is_none()
            && scope.relation_to(&LeaseScope::of_lease(&lease.lease)) == ScopeRelation::Overlapping
    });
    for lease in held {
        let id = lease.process.split(':').next().unwrap_or_default();
        if lease.process_namespace == us.process_namespace && process(&lease.process) == Process::Stopped {
            return Ok(TakeoverOutcome::HolderStopped { process: id.into() });
        }
        tracing::warn!(
            host = lease.host,
            process = id,
            "taking over the lease of another run, which may no longer write"
        );
        retry_transient(|| writer.record_lease(&lease.lease, LeaseEvent::Fenced, us)).await?;
    }
    Ok(TakeoverOutcome::Fenced)
}
