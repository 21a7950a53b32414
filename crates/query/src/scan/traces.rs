//! Traces of `trace_filter`: all call frames, including the outermost ones of transactions, and rewards.

use super::{Part, Participants, ScanSpec, Sides, rows_after};
use crate::select::{Select, SetCondition};
use trawl_core::newest::Predicate;
use trawl_core::primitives::{Address, FramePosition};
use trawl_core::readable::Span;
use trawl_core::schema::{InternalTransactionRow, InternalTransactionView};
use trawl_core::statement::Statement;

/// How the lists of both sides are joined where both are given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum JoinMode {
    /// A trace matches both lists.
    #[default]
    Intersection,
    /// A trace matches one of them at least.
    Union,
}

/// Traces by caller and callee.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TraceScan {
    /// Callers, creators and destroyed contracts; callees, created contracts and beneficiaries.
    pub participants: Participants,
    /// How the lists of callers and callees are joined.
    pub mode: JoinMode,
}

const SIDES: Sides = Sides { from: &["from_address"], to: &["to_address", "created_contract"] };
const KEY: &[&str] = &["block_number", "transaction_index", "frame_index"];
const HAS_SENDER: &str = "frame_type != 'reward'";

/// A reward has no caller, whatever its column holds.
fn has_sender() -> Predicate {
    Predicate::IsNot { column: "frame_type", value: "reward" }
}

impl TraceScan {
    fn conditions(&self, select: Select) -> Select {
        let Participants { from, to, .. } = &self.participants;
        if self.mode == JoinMode::Union && !from.is_empty() && !to.is_empty() {
            let senders = SetCondition::among(SIDES.from.to_vec(), "from_addresses", from);
            let recipients = SetCondition::among(SIDES.to.to_vec(), "to_addresses", to);
            return select.set_condition(senders.and(HAS_SENDER, has_sender()).or(recipients));
        }
        let select = self.participants.conditions(select, &SIDES, None);
        if from.is_empty() { select } else { select.condition(HAS_SENDER, has_sender()) }
    }
}

impl ScanSpec for TraceScan {
    type Row = InternalTransactionRow;
    type Position = FramePosition;
    const PART: Part = Part::Traces;

    fn table(&self) -> &'static str {
        "internal_transactions"
    }

    fn statement(&self, blocks: &Span, after: Option<FramePosition>, limit: u64) -> Statement<Self::Row> {
        let select = self.conditions(rows_after(Select::default(), KEY, blocks, after));
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

#[cfg(test)]
mod tests {
    use super::*;
    use trawl_core::primitives::BlockRange;

    #[test]
    fn a_union_keeps_rows_of_either_side_and_a_reward_by_its_author() {
        let (from, to) = (vec![Address::repeat_byte(1)], vec![Address::repeat_byte(2)]);
        let participants = Participants { from, to, ..Participants::default() };
        let blocks = vec![BlockRange::new(1, 4).expect("ordered")].into();
        let sql = TraceScan { participants, mode: JoinMode::Union }.statement(&blocks, None, 10).sql;
        let is_in = |column, name| format!("{column} IN {{{name}:Array(FixedString(20))}}");
        let condition = format!(
            "AND (({} AND frame_type != 'reward') OR ({} OR {}))\n",
            is_in("from_address", "from_addresses"),
            is_in("to_address", "to_addresses"),
            is_in("created_contract", "to_addresses")
        );
        assert!(sql.contains(&condition), "{sql}");
    }
}
