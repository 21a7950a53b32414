//! What a node's follower has committed, as its requests show it.

use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::Value;

use super::Model;

/// What a follower has done, as far as its requests show it.
#[derive(Debug, Default)]
pub struct FollowerProgress {
    /// The height of the newest receipts it took.
    taken: AtomicU64,
    /// The same when it last asked for the newest block, which it does once what it took is committed.
    done: AtomicU64,
}

impl FollowerProgress {
    /// Takes note of a request.
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
