//! Plans for what was proven of blocks.

use crate::select::{Select, settled_blocks};
use trawl_core::primitives::BlockRange;
use trawl_core::readable::Span;
use trawl_core::schema::VerdictRow;
use trawl_core::schema::columns::columns;
use trawl_core::statement::{Statement, Workload};

columns! {
    /// How many blocks have a verdict.
    pub struct VerdictCount / VerdictCountView {
        /// The verdict, as `block_verdicts` has it.
        verdict: String,
        /// Blocks of which it is the newest.
        blocks: u64,
    }
}

columns! {
    /// The verdict of a block.
    pub struct BlockVerdict / BlockVerdictView {
        /// Height of the block.
        block_number: u64,
        /// What was decided.
        verdict: String,
    }
}

/// The newest verdict of the block that `block`, a span of one, has.
#[must_use]
pub fn of_block(block: &Span) -> Statement<VerdictRow> {
    Select::default().blocks("block_number", block).page("block_verdicts", "block_number DESC, decided_at DESC", 1)
}

/// How many settled blocks of a range have each verdict: of several for a block the newest counts.
#[must_use]
pub fn counts(range: BlockRange) -> Statement<VerdictCount> {
    let sql = format!(
        "SELECT newest AS verdict, count() AS blocks
FROM
(
  SELECT argMax(toString(verdict), decided_at) AS newest
  FROM block_verdicts
  WHERE {}
  GROUP BY block_number
)
GROUP BY newest
ORDER BY newest",
        settled_blocks("block_number", &[range]).join("\n    AND ")
    );
    let mut statement: Statement<VerdictCount> =
        Select::default().blocks("block_number", &vec![range].into()).statement(sql);
    statement.settings = &[("optimize_aggregation_in_order", "1"), ("max_threads", "1")];
    statement.workload = Workload::Scan;
    statement.is_settled = true;
    statement
}

/// The verdicts of the blocks of `newest`, none of which is settled.
#[must_use]
pub fn of_newest(newest: &Span) -> Statement<BlockVerdict> {
    Select::default().blocks("block_number", newest).page("block_verdicts", "block_number, decided_at", MAX_NEWEST)
}

/// Newest blocks of a read, at most.
pub const MAX_NEWEST: u64 = 1_000_000;
