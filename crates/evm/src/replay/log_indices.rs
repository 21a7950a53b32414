//! The indices of logs in the receipts of a block, for traces that show logs.

use alloy_rpc_types_trace::geth::CallFrame;
use revm_inspectors::tracing::types::CallTraceNode;

/// The logs that a run leaves, of all that it wrote.
pub(super) struct LogIndices {
    /// Ascending, in the order in which they were written.
    left: Vec<u64>,
    /// The number of logs in the block before those of the run.
    first: u64,
}

impl LogIndices {
    /// The logs of `nodes` but those that were undone: of calls that failed, and of calls within these.
    pub(super) fn new(nodes: &[CallTraceNode], first: u64) -> Self {
        let mut is_undone = Vec::with_capacity(nodes.len());
        let mut left = Vec::new();
        // Parents are before their children.
        for node in nodes {
            let undone = node.trace.is_error() || node.parent.is_some_and(|parent| is_undone[parent]);
            is_undone.push(undone);
            if !undone {
                left.extend(node.logs.iter().map(|log| log.index));
            }
        }
        left.sort_unstable();
        Self { left, first }
    }

    /// Gives the logs of `frame`, and of the calls within it, the indices that receipts have, and drops those that were
    /// undone.
    pub(super) fn write_into(&self, frame: &mut CallFrame) {
        let mut frames = vec![frame];
        while let Some(CallFrame { logs, calls, .. }) = frames.pop() {
            logs.retain_mut(|log| {
                let rank = log.index.and_then(|index| self.left.binary_search(&index).ok());
                log.index = rank.map(|rank| self.first + rank as u64);
                rank.is_some()
            });
            frames.extend(calls);
        }
    }
}

/// Places the logs of a frame that is shown without its calls: `position` counts the calls shown before a log.
pub(super) fn place_without_calls(frame: &mut CallFrame) {
    for log in &mut frame.logs {
        log.position = Some(0);
    }
}
