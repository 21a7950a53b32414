//! Which runs write beside the holder of a lease.

use trawl_core::store::{Reader, StoreError};

use super::scope::{LeaseScope, ScopeRelation, run_of_lease};
use crate::write::retry::retry_transient;

/// The runs whose leases lie beside one of `scope`: what they write concerns its holder as little as what it writes
/// concerns them. Nothing lies beside the whole database.
pub(crate) async fn runs_apart(reader: &Reader, scope: &LeaseScope) -> Result<Vec<String>, StoreError> {
    if *scope == LeaseScope::Database {
        return Ok(Vec::new());
    }
    let leases = retry_transient(|| reader.live_leases()).await?;
    let apart =
        leases.iter().filter(|lease| scope.relation_to(&LeaseScope::of_lease(&lease.lease)) == ScopeRelation::Apart);
    Ok(apart.map(|lease| run_of_lease(&lease.lease).to_owned()).collect())
}
