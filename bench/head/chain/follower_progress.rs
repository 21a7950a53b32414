//! What the follower of a node has committed, according to its requests.

use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::Value;

use super::Model;

/// Progress of a follower, as far as its requests show it.
#[derive(Debug, Default)]
pub struct FollowerProgress {
    /// The height of the newest receipts it took.
    taken: AtomicU64,
    /// The same when it last requested the newest block, which it does once that height is committed.
    done: AtomicU64,
}

impl FollowerProgress {
    /// Records a request.
    pub fn note(&self, method: &str, named: &Value, model: &Model) {
        let tip = model.at(model.tip()).number;
        if method == "eth_getBlockReceipts" && named.as_str() == Some(&format!("{tip:#x}")) {
            self.taken.store(tip, Ordering::Relaxed);
        } else if named == "latest" {
            self.done.store(self.taken.load(Ordering::Relaxed), Ordering::Relaxed);
        }
    }

    /// The newest block that the follower has committed.
    pub fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }
}
