//! Transactions by sender and recipient. No table orders them by address: a range of blocks is read, first the columns
//! of the filter (PREWHERE).

use super::{Part, Participants, ScanSpec, Sides, rows_after};
use crate::select::Select;
use trawl_core::primitives::{Address, TransactionPosition};
use trawl_core::readable::Span;
use trawl_core::schema::{ScannedTransaction, ScannedTransactionView};
use trawl_core::statement::Statement;

/// Transactions by sender and recipient; a contract that a transaction creates counts as a recipient.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TransactionScan {
    /// Senders, recipients and created contracts.
    pub participants: Participants,
}

const SIDES: Sides = Sides { from: &["from_address"], to: &["to_address", "contract_address"] };
const KEY: &[&str] = &["block_number", "transaction_index"];

impl ScanSpec for TransactionScan {
    type Row = ScannedTransaction;
    type Position = TransactionPosition;
    const PART: Part = Part::Blocks;

    fn table(&self) -> &'static str {
        "transactions"
    }

    fn statement(&self, blocks: &Span, after: Option<TransactionPosition>, limit: u64) -> Statement<Self::Row> {
        let select = rows_after(Select::default(), KEY, blocks, after);
        let select = self.participants.conditions(select, &SIDES, None);
        select.page(self.table(), &KEY.join(", "), limit)
    }

    fn position(transactions: &ScannedTransactionView<'_>, row: usize) -> TransactionPosition {
        TransactionPosition {
            block_number: transactions.block_number[row],
            transaction_index: transactions.transaction_index[row].into(),
        }
    }

    fn passes_over(&self) -> bool {
        !self.participants.is_empty()
    }

    fn lists(&self) -> Vec<&[Address]> {
        self.participants.lists()
    }
}
