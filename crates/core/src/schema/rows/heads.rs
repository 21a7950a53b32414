//! `ingest_heads`.

use crate::primitives::Timestamp;
use crate::schema::columns::table;
use crate::schema::lists::{PackedBlock, Segment};

table! {
    /// The readable rows of the hot tables, valid until the next head.
    pub struct HeadRow / HeadView / HeadBuilder in "ingest_heads" {
        /// Grows by at least one from row to row.
        sequence: u64,
        /// The readable rows, ascending.
        segments: Vec<Segment>,
        /// The newest readable block.
        head_block: u64,
        /// The block the node calls safe.
        safe_block: Option<u64>,
        /// The block the node calls finalized.
        finalized_block: Option<u64>,
        /// The newest block the node showed.
        node_block: u64,
        /// The hot tables have the rows of all segments up to this block.
        tables_through: Option<u64>,
        /// Chain the blocks belong to.
        chain_id: Option<u64>,
        /// The blocks that are new with this head, unless they are too large and rows of `hot_rows`.
        blocks: Vec<PackedBlock>,
        /// The run of trawl-ingest that wrote it.
        run: String,
        /// Time of the write.
        written_at: Timestamp,
    }
}
