//! Internal transactions: the rows of their lists by address, in chain order.

use super::{Part, Participants, ScanSpec, Sides, ranges_of, rows_after};
use crate::select::Select;
use crate::transactions::internal::{listed, listed_columns};
use trawl_core::primitives::{Address, FramePosition};
use trawl_core::readable::Span;
use trawl_core::schema::{ScannedInternalTransaction, ScannedInternalTransactionView};
use trawl_core::statement::Statement;

/// Call frames by participant, without the outermost calls of transactions and without rewards.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct InternalTransactionScan {
    /// Callers and creators, callees and created contracts.
    pub participants: Participants,
}

const SIDES: Sides = Sides { from: &["from_address"], to: &["to_address", "created_contract"] };
const KEY: &[&str] = &["block_number", "transaction_index", "frame_index"];

impl ScanSpec for InternalTransactionScan {
    type Row = ScannedInternalTransaction;
    type Position = FramePosition;
    const PART: Part = Part::Traces;

    fn table(&self) -> &'static str {
        match self.participants.key() {
            Some((Some(_), _)) => "internal_transactions_by_direction",
            Some((None, _)) => "internal_transactions_by_address",
            None => "internal_transactions",
        }
    }

    fn statement(&self, blocks: &Span, after: Option<FramePosition>, limit: u64) -> Statement<Self::Row> {
        let key = self.participants.key();
        let select = match key {
            Some((side, addresses)) => ranges_of(Select::default(), addresses, side, &SIDES),
            None => listed(),
        };
        let select = rows_after(select, KEY, blocks, after);
        let select = self.participants.conditions(select, &SIDES, key.map(|(side, _)| side));
        let order = KEY.join(", ");
        match key {
            Some(_) => select.page(self.table(), &order, limit),
            None => {
                let select = select.instead("gas_limit", "execution_gas_limit");
                select.page_of(&listed_columns(), self.table(), &order, limit)
            }
        }
    }

    fn position(frames: &ScannedInternalTransactionView<'_>, row: usize) -> FramePosition {
        FramePosition {
            block_number: frames.block_number[row],
            transaction_index: frames.transaction_index[row].into(),
            frame_index: frames.frame_index[row].into(),
        }
    }

    fn passes_over(&self) -> bool {
        !self.participants.is_empty() && self.participants.key().is_none()
    }

    fn lists(&self) -> Vec<&[Address]> {
        self.participants.lists()
    }
}
