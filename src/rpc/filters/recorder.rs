//! The task that records which blocks leave the chain, for filters.

use trawl_core::served_chain::for_same_chain;

use super::store::FilterStore;
use crate::rpc::service::Rpc;

impl Rpc {
    /// Starts a task that follows the head and records the blocks that each step removes. It runs until the head is no
    /// longer followed.
    pub fn record_orphans(&self) {
        let rpc = self.clone();
        tokio::spawn(for_same_chain(async move {
            let recorder = OrphanRecorder(rpc.filters());
            let mut watch = rpc.app().head_watch();
            let mut before = None;
            while let Some(head) = watch.changed().await {
                match before.replace(head.clone()) {
                    Some(before) => recorder.0.record_orphans(rpc.app(), &before, &head).await,
                    None => recorder.0.forget_orphans(head.view),
                }
            }
        }));
    }
}

/// The writer of the record. When it ends, also by a panic, no filter waits for it: those whose blocks leave the chain
/// are gone then.
struct OrphanRecorder<'r>(&'r FilterStore);

impl Drop for OrphanRecorder<'_> {
    fn drop(&mut self) {
        self.0.forget_orphans(u64::MAX);
    }
}
