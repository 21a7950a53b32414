//! How long until there is a block.

use crate::JsonWriter;
use trawl_core::primitives::BlockNumber;

/// How long until there is a block.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BlockCountdown {
    /// The newest block.
    pub current: BlockNumber,
    /// The block that is waited for.
    pub block: BlockNumber,
    /// Blocks from one to the other.
    pub remaining: u64,
    /// Milliseconds from block to block; `None` where they are not known.
    pub block_time: Option<f64>,
}

impl BlockCountdown {
    /// The countdown as JSON text.
    #[must_use]
    pub fn write(&self) -> Vec<u8> {
        let seconds = self.block_time.map(|millis| self.remaining as f64 * millis / 1_000.0);
        let mut writer = JsonWriter::new();
        writer.object(|item| {
            item.key("current_block_number").decimal(self.current);
            item.key("countdown_block_number").decimal(self.block);
            item.key("remaining_blocks_count").decimal(self.remaining);
            item.key("estimated_time_in_seconds")
                .option(seconds, |writer, seconds| writer.string(&format!("{seconds:.1}")));
        });
        writer.into_bytes()
    }
}
