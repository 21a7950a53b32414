//! Gauges of the bounded queues of a load's stages. The last queue that stays full belongs to the stage that limits the
//! load.

/// A bounded queue between two stages of a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PipelineQueue {
    /// Blocks that are requested from a node, or are there and wait for one before them.
    Fetch,
    /// Blocks that are decoded and checked, or wait for one before them.
    Check,
    /// Batches that are written, or wait for the one that is.
    Write,
}

/// One item of a queue, which leaves it when this is dropped.
#[derive(Debug)]
#[must_use = "the item leaves the queue with this"]
pub struct QueuedItem(PipelineQueue);

impl PipelineQueue {
    const fn name(self) -> &'static str {
        match self {
            Self::Fetch => "fetch",
            Self::Check => "check",
            Self::Write => "write",
        }
    }

    /// Sets the gauge of how many items the queue takes.
    pub fn show_capacity(self, capacity: usize) {
        metrics::gauge!("trawl_ingest_queue_capacity", "of" => self.name()).set(capacity as f64);
    }

    /// Counts one item more, until what is returned is dropped.
    pub fn enter(self) -> QueuedItem {
        self.add(1.0);
        QueuedItem(self)
    }

    fn add(self, items: f64) {
        metrics::gauge!("trawl_ingest_queue_length", "of" => self.name()).increment(items);
    }
}

impl Drop for QueuedItem {
    fn drop(&mut self) {
        self.0.add(-1.0);
    }
}
