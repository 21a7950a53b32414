//! Whether a row has all columns that an answer needs: values that the source did not have are refused, not made up.

use crate::error::Problem;
use crate::options::Gaps;
use crate::read::transactions::receipt_trie::given_header;
use trawl_chains::Family;
use trawl_core::primitives::{BlockNumber, BlockRange};
use trawl_core::readable::Readable;
use trawl_core::schema::{BlockPart, BlockRow, BlockView, Columns, OptionalTable, TransactionView};
use trawl_core::store::Head;

/// Columns of `blocks` that a JSON-RPC block does not show.
const NOT_IN_RPC_BLOCKS: [&str; 5] =
    ["burnt_fees", "blob_transactions_count", "logs_count", "transaction_fees", "priority_fees"];

/// Columns of `blocks` that a header of ten fields has nothing for, as on Celo before Gingerbread.
const NOT_IN_SHORT_HEADERS: [&str; 11] = [
    "sha3_uncles",
    "difficulty",
    "gas_limit",
    "mix_hash",
    "nonce",
    "base_fee_per_gas",
    "withdrawals_root",
    "blob_gas_used",
    "excess_blob_gas",
    "parent_beacon_block_root",
    "requests_hash",
];

/// Columns of `transactions` that a JSON-RPC transaction does not show: its outcome.
const OUTCOME_COLUMNS: [&str; 11] = [
    "status",
    "post_state_root",
    "gas_used",
    "cumulative_gas_used",
    "effective_gas_price",
    "contract_address",
    "blob_gas_used",
    "blob_gas_price",
    "raw_receipt",
    "l1_fee",
    "operator_fee",
];

/// Columns of `transactions` that a receipt shows besides the outcome.
const OTHER_RECEIPT_COLUMNS: [&str; 3] = ["from_address", "to_address", "transaction_type"];

/// Refuses a block whose `part` is not readable.
///
/// # Errors
///
/// [`Problem::PartMissing`] with the part and the block.
pub(crate) fn require_part(head: &Head, part: BlockPart, block: BlockNumber) -> Result<(), Problem> {
    if head.part(part).contains(block) { Ok(()) } else { Err(Problem::PartMissing { part, block }) }
}

/// Refuses what only an optional table answers, where that is left out.
///
/// # Errors
///
/// [`Problem::LeftOut`] with the table.
pub(crate) fn require_table(head: &Head, table: OptionalTable) -> Result<(), Problem> {
    if head.tables.has(table) { Ok(()) } else { Err(Problem::LeftOut(table)) }
}

/// Whether a block has all columns of a JSON-RPC block: `lacking` names those that its source did not have.
pub(crate) fn is_rpc_block(lacking: &[String]) -> bool {
    lacking.iter().all(|column| NOT_IN_RPC_BLOCKS.contains(&column.as_str()))
}

/// Refuses a block without all columns of a JSON-RPC block.
///
/// # Errors
///
/// [`Problem::ColumnsMissing`] with the names of the missing columns.
pub(crate) fn require_block(blocks: &BlockView<'_>, row: usize) -> Result<(), Problem> {
    let missing_columns = blocks.lacking.items::<String>(row);
    refuse(missing_columns.filter(|column| !NOT_IN_RPC_BLOCKS.contains(column)), || {
        format!("block {}", blocks.block_number[row])
    })
}

/// Refuses a block without some columns.
///
/// # Errors
///
/// [`Problem::ColumnsMissing`] with the names of those that are missing.
pub(crate) fn require_block_columns(blocks: &BlockView<'_>, row: usize, needed: &[&str]) -> Result<(), Problem> {
    let missing_columns = blocks.lacking.items::<String>(row);
    refuse(missing_columns.filter(|column| needed.contains(column)), || format!("block {}", blocks.block_number[row]))
}

/// The same of a block that is only shown: what its header never had is left out, and not refused. `family`: the rules
/// of its chain.
///
/// # Errors
///
/// [`Problem::ColumnsMissing`] with the names of the missing columns.
pub(crate) fn require_shown_block(blocks: &BlockView<'_>, row: usize, family: Option<&Family>) -> Result<(), Problem> {
    require_block(blocks, row).or_else(|problem| {
        let is_shown = |column: &str| !NOT_IN_RPC_BLOCKS.contains(&column);
        let mut shown = blocks.lacking.items::<String>(row).filter(|column| is_shown(column));
        let may_be_short = shown.all(|column| NOT_IN_SHORT_HEADERS.contains(&column));
        let is_short = may_be_short && family.is_some_and(|family| is_short(&BlockRow::row(blocks, row), family));
        if is_short { Ok(()) } else { Err(problem) }
    })
}

/// Whether the hash of a block is that of ten fields. A longer header whose source left out the others has another one.
fn is_short(block: &BlockRow, family: &Family) -> bool {
    given_header(block).is_ok_and(|header| family.header.short_hash(&header) == Some(block.hash))
}

/// Refuses a transaction without all columns of a JSON-RPC transaction.
///
/// # Errors
///
/// [`Problem::ColumnsMissing`] with the names of the missing columns.
pub(crate) fn require_transaction(transactions: &TransactionView<'_>, row: usize) -> Result<(), Problem> {
    let missing_columns = transactions.lacking.items::<String>(row);
    refuse(missing_columns.filter(|column| !OUTCOME_COLUMNS.contains(column)), || transaction(transactions, row))
}

/// Refuses a transaction without a receipt, or without all of its columns.
///
/// # Errors
///
/// [`Problem::PartMissing`] without a receipt; [`Problem::ColumnsMissing`] with the names of the missing columns.
pub(crate) fn require_receipt(transactions: &TransactionView<'_>, row: usize) -> Result<(), Problem> {
    if transactions.has_receipt[row] == 0 {
        return Err(Problem::PartMissing { part: BlockPart::Receipts, block: transactions.block_number[row] });
    }
    let missing_columns: Vec<&str> = transactions.lacking.items::<String>(row).collect();
    // A node's receipt may be without what was paid on L1, and is shown as the node gives it. A file lacks more.
    if missing_columns == ["l1_fee"] {
        return Ok(());
    }
    let is_shown = |column: &&str| OUTCOME_COLUMNS.contains(column) || OTHER_RECEIPT_COLUMNS.contains(column);
    refuse(missing_columns.into_iter().filter(is_shown), || transaction(transactions, row))
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

/// The blocks from `first` up to the head of which a part is not readable: what is not found may be there. None where
/// the options allow gaps.
pub(crate) fn gaps_from(head: &Head, part: &Readable, first: BlockNumber, gaps: Gaps) -> Vec<BlockRange> {
    let newest = head.number().filter(|_| gaps == Gaps::Refuse);
    let all = newest.and_then(|newest| BlockRange::new(first, newest));
    all.map(|all| part.missing(all)).unwrap_or_default()
}

/// Whether a part of every block up to the head is readable; that of the genesis is empty.
pub(crate) fn is_complete(head: &Head, part: &Readable) -> bool {
    let Some(number) = head.number() else { return false };
    BlockRange::new(1, number).is_none_or(|whole| part.missing(whole).is_empty())
}
