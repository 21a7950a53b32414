//! Traces of `trace_filter`: all call frames, including the outermost ones of transactions, and rewards.

use super::{Part, Participants, ScanSpec, Sides, rows_after};
use crate::select::Select;
use trawl_core::newest::Predicate;
use trawl_core::primitives::{Address, FramePosition};
use trawl_core::readable::Span;
use trawl_core::schema::{InternalTransactionRow, InternalTransactionView};
use trawl_core::statement::Statement;

/// Traces by caller and callee.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TraceScan {
    /// Callers, creators and destroyed contracts; callees, created contracts and beneficiaries.
    pub participants: Participants,
}

const SIDES: Sides = Sides { from: &["from_address"], to: &["to_address", "created_contract"] };
const KEY: &[&str] = &["block_number", "transaction_index", "frame_index"];

impl ScanSpec for TraceScan {
    type Row = InternalTransactionRow;
    type Position = FramePosition;
    const PART: Part = Part::Traces;

    fn table(&self) -> &'static str {
        "internal_transactions"
    }

    fn statement(&self, blocks: &Span, after: Option<FramePosition>, limit: u64) -> Statement<Self::Row> {
        let select = rows_after(Select::default(), KEY, blocks, after);
        let select = self.participants.conditions(select, &SIDES, None);
        // A reward has no caller, whatever its column holds.
        let select = if self.participants.from.is_empty() {
            select
        } else {
            select.condition("frame_type != 'reward'", Predicate::IsNot { column: "frame_type", value: "reward" })
        };
        select.page(self.table(), &KEY.join(", "), limit)
    }

    fn position(frames: &InternalTransactionView<'_>, row: usize) -> FramePosition {
        FramePosition {
            block_number: frames.block_number[row],
            transaction_index: frames.transaction_index[row].into(),
            frame_index: frames.frame_index[row].into(),
        }
    }

    fn passes_over(&self) -> bool {
        !self.participants.is_empty()
    }

    fn lists(&self) -> Vec<&[Address]> {
        self.participants.lists()
    }
}
