//! How much of the chain is loaded (docs/reference/rest.md#blocks-transactions-addresses).

use crate::JsonWriter;

/// Loaded parts of the chain up to the head, each as a share of 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IndexingStatus {
    /// Share of the blocks that are loaded.
    pub blocks: f64,
    /// Call frames; none if none are loaded.
    pub traces: Option<f64>,
}

impl IndexingStatus {
    /// The status as JSON text.
    #[must_use]
    pub fn write(self) -> Vec<u8> {
        let is_whole = |share: f64| share >= 1.0;
        let mut writer = JsonWriter::new();
        writer.object(|status| {
            status.key("finished_indexing").bool(is_whole(self.blocks) && self.traces.is_none_or(is_whole));
            status.key("finished_indexing_blocks").bool(is_whole(self.blocks));
            status.key("indexed_blocks_ratio").float(self.blocks);
            status.key("indexed_internal_transactions_ratio").option(self.traces, JsonWriter::float);
        });
        writer.into_bytes()
    }
}
