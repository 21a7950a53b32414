//! Whether a row has all that an answer needs: what a source did not have is refused, not made up.

use crate::error::Problem;
use trawl_core::schema::{BlockView, TransactionView};

/// Columns of `blocks` that a JSON-RPC block does not show.
const NOT_OF_A_BLOCK: [&str; 4] = ["blob_transactions_count", "logs_count", "transaction_fees", "priority_fees"];

/// Columns of `transactions` that a JSON-RPC transaction does not show: its outcome.
const OUTCOME: [&str; 9] = [
    "status",
    "post_state_root",
    "gas_used",
    "cumulative_gas_used",
    "effective_gas_price",
    "contract_address",
    "blob_gas_used",
    "blob_gas_price",
    "raw_receipt",
];

/// Columns of `transactions` that a receipt shows besides the outcome.
const ALSO_OF_A_RECEIPT: [&str; 3] = ["from_address", "to_address", "transaction_type"];

/// Refuses a block of which a JSON-RPC block could not be written whole.
pub(crate) fn require_block(blocks: &BlockView<'_>, row: usize) -> Result<(), Problem> {
    let lacking = blocks.lacking.items::<String>(row);
    refuse(lacking.filter(|column| !NOT_OF_A_BLOCK.contains(column)), || format!("block {}", blocks.block_number[row]))
}

/// Refuses a transaction of which a JSON-RPC transaction could not be written whole.
pub(crate) fn require_transaction(transactions: &TransactionView<'_>, row: usize) -> Result<(), Problem> {
    let lacking = transactions.lacking.items::<String>(row);
    refuse(lacking.filter(|column| !OUTCOME.contains(column)), || transaction(transactions, row))
}

/// Refuses a transaction of which a receipt could not be written whole.
pub(crate) fn require_receipt(transactions: &TransactionView<'_>, row: usize) -> Result<(), Problem> {
    let lacking = transactions.lacking.items::<String>(row);
    let is_shown = |column: &&str| OUTCOME.contains(column) || ALSO_OF_A_RECEIPT.contains(column);
    refuse(lacking.filter(is_shown), || transaction(transactions, row))
}

fn transaction(transactions: &TransactionView<'_>, row: usize) -> String {
    format!("transaction {} of block {}", transactions.transaction_index[row], transactions.block_number[row])
}

fn refuse<'a>(columns: impl Iterator<Item = &'a str>, what: impl FnOnce() -> String) -> Result<(), Problem> {
    let columns: Vec<String> = columns.map(Into::into).collect();
    if columns.is_empty() {
        return Ok(());
    }
    Err(Problem::ColumnsMissing { what: what(), columns })
}
