//! Transactions of one address, at the positions that `transactions_by_address` has.

use super::{Part, ScanSpec};
use crate::transactions::of_address;
use crate::walk::{Order, Walk};
use trawl_core::primitives::{Address, Direction, TransactionPosition};
use trawl_core::readable::Span;
use trawl_core::schema::{ScannedTransaction, ScannedTransactionView};
use trawl_core::statement::Statement;

/// The transactions that an address takes part in, on one side or any.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddressTransactionScan {
    /// Sender, recipient or created contract.
    pub address: Address,
    /// The side of the address.
    pub direction: Option<Direction>,
}

impl ScanSpec for AddressTransactionScan {
    type Row = ScannedTransaction;
    type Position = TransactionPosition;
    const PART: Part = Part::Blocks;

    fn table(&self) -> &'static str {
        "transactions_by_address"
    }

    /// Of two tables: the database holds the positions of a page, so it is read page by page.
    fn statement(&self, blocks: &Span, after: Option<TransactionPosition>, limit: u64) -> Statement<Self::Row> {
        let walk = Walk { order: Order::OldestFirst, beyond: after, limit };
        let mut statement = of_address(&self.address, self.direction, blocks, walk);
        statement.is_one_range = false;
        statement
    }

    fn position(transactions: &ScannedTransactionView<'_>, row: usize) -> TransactionPosition {
        TransactionPosition {
            block_number: transactions.block_number[row],
            transaction_index: transactions.transaction_index[row].into(),
        }
    }

    fn passes_over(&self) -> bool {
        false
    }

    fn lists(&self) -> Vec<&[Address]> {
        vec![std::slice::from_ref(&self.address)]
    }
}
