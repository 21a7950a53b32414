//! Plans for the transactions of an address by value or fee: its range of `transactions_by_address`, which has both, is
//! read whole and only the requested number of rows is held. Of a block all amounts are read.

use crate::account::unsettled_of;
use crate::select::{Select, settled_blocks};
use crate::walk::SortOrder;
use trawl_core::primitives::{Address, BlockRange, Direction, TransactionPosition, U256};
use trawl_core::readable::Span;
use trawl_core::schema::columns::columns;
use trawl_core::statement::{Parameter, SUM_SETTINGS, Statement, Workload};

columns! {
    /// The position of a transaction, and its sort key.
    pub struct SortedKey / SortedKeyView {
        /// Height of its block.
        block_number: u64,
        /// Position in the block.
        transaction_index: u32,
        /// Wei sent or wei paid, as [`SortedBy`] says.
        amount: U256,
    }
}

columns! {
    /// The length of the list of an address.
    pub struct SortedSize / SortedSizeView {
        /// Rows, at most one more than are sorted.
        found: u64,
        /// Rows without a receipt, whose fee is unknown.
        without_fee: u64,
        /// The lowest block with such a row; 0 without one.
        block_number: u64,
    }
}

/// Most rows of an address that are sorted: a page of them takes about a second.
pub const MAX_SORTED: u64 = 5_000_000;

/// The sort key of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SortedBy {
    /// Wei sent to the recipient or to the created contract.
    Value,
    /// Wei paid for gas.
    Fee,
}

/// A list of an address, sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SortedList {
    /// Its side; any without one.
    pub direction: Option<Direction>,
    /// The amount that transactions are sorted by.
    pub by: SortedBy,
    /// The end that comes first; of equal amounts the newest with the largest, the oldest with the smallest.
    pub sorting: SortOrder,
}

/// A position in such a list.
pub type SortedPosition = (U256, TransactionPosition);

impl SortedList {
    fn sides(&self) -> Parameter {
        Parameter::Numbers(match self.direction {
            None => vec![1, 2, 3],
            Some(Direction::From) => vec![1, 3],
            Some(Direction::To) => vec![2, 3],
        })
    }
}

/// How many rows of settled blocks there are to sort.
#[must_use]
pub fn size(address: &Address, sorted: &SortedList, settled: &[BlockRange]) -> Statement<SortedSize> {
    let sql = format!(
        "SELECT count() AS found, countIf(is_unknown) AS without_fee, minIf(height, is_unknown) AS block_number
FROM
(
  SELECT block_number AS height, fee IS NULL AS is_unknown
  FROM transactions_by_address
  WHERE address = toFixedString(unhex({{address:String}}), 20)
    AND has({{sides:Array(UInt64)}}, sides)
    AND {}
  LIMIT {{limit:UInt64}}
)",
        settled_blocks("block_number", settled).join("\n    AND ")
    );
    statement(address, sorted, settled, sql, MAX_SORTED + 1)
}

/// The first settled transactions of the list beyond a position. A row may be stored twice: rows of a position, which
/// are next to each other, are grouped as they are read.
#[must_use]
pub fn positions(
    address: &Address,
    sorted: &SortedList,
    settled: &[BlockRange],
    beyond: Option<&SortedPosition>,
    limit: u64,
) -> Statement<SortedKey> {
    let column = match sorted.by {
        SortedBy::Value => "value",
        SortedBy::Fee => "ifNull(fee, toUInt256(0))",
    };
    let (word, operator) = (sorted.sorting.word(), sorted.sorting.operator());
    let after = beyond.map_or_else(String::new, |_| {
        format!(
            "\nWHERE (amount, block_number, transaction_index) {operator} (toUInt256({{beyond_amount:String}}), {{beyond_block:UInt64}}, {{beyond_transaction:UInt64}})"
        )
    });
    let sql = format!(
        "SELECT block_number, transaction_index, amount
FROM
(
  SELECT block_number, transaction_index, any({column}) AS amount
  FROM transactions_by_address
  WHERE address = toFixedString(unhex({{address:String}}), 20)
    AND has({{sides:Array(UInt64)}}, sides)
    AND {}
  GROUP BY address, block_number, transaction_index
){after}
ORDER BY amount{word}, block_number{word}, transaction_index{word}
LIMIT {{limit:UInt64}}",
        settled_blocks("block_number", settled).join("\n    AND ")
    );
    let statement = statement(address, sorted, settled, sql, limit);
    match beyond {
        Some((amount, position)) => statement
            .with("beyond_amount", amount.to_string().as_str())
            .with("beyond_block", position.block_number)
            .with("beyond_transaction", position.transaction_index),
        None => statement,
    }
}

fn statement<R>(
    address: &Address,
    sorted: &SortedList,
    settled: &[BlockRange],
    sql: String,
    limit: u64,
) -> Statement<R> {
    let select = Select::default().blocks("block_number", &settled.to_vec().into());
    let select = select.with("address", address).with("sides", sorted.sides()).with("limit", limit);
    let mut statement: Statement<R> = select.statement(sql);
    statement.settings = SUM_SETTINGS;
    statement.workload = Workload::Scan;
    statement.is_in_tables = !settled.is_empty();
    statement.is_settled = true;
    statement
}

columns! {
    /// Value and fees of a transaction.
    pub struct NewestAmount / NewestAmountView {
        /// Height of its block.
        block_number: u64,
        /// Position in the block.
        transaction_index: u32,
        /// Wei sent to the recipient or to the created contract.
        value: U256,
        /// Whether the outcome is known.
        has_receipt: u8,
        /// Gas it used.
        gas_used: u64,
        /// Wei for each gas.
        effective_gas_price: U256,
        /// Wei paid for data on L1; none where the chain has no such fee.
        l1_fee: Option<U256>,
        /// Wei that the operator of a rollup took; none where the chain has no such fee.
        operator_fee: Option<U256>,
    }
}

/// The transactions of the list in blocks that are not settled, in the order of the chain.
#[must_use]
pub fn newest(address: &Address, sorted: &SortedList, blocks: &Span, limit: u64) -> Statement<NewestAmount> {
    unsettled_of(address, sorted.direction, blocks).page(
        "transactions",
        "block_number DESC, transaction_index DESC",
        limit,
    )
}

/// Value and fees of all transactions of one block, the last first.
#[must_use]
pub fn of_block(block: &Span, limit: u64) -> Statement<NewestAmount> {
    let select = Select::default().blocks("block_number", block);
    select.page("transactions", "block_number DESC, transaction_index DESC", limit)
}
