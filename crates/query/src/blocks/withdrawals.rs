//! Plans for withdrawal reads.

use std::cmp::Ordering;

use crate::select::{Select, participant, settled_blocks, up_to};
use crate::walk::Walk;
use trawl_core::newest::Predicate;
use trawl_core::primitives::{Address, BlockNumber, BlockRange, U256};
use trawl_core::readable::Span;
use trawl_core::schema::WithdrawalRow;
use trawl_core::schema::columns::columns;
use trawl_core::statement::Statement;

/// Withdrawals to `address` in `blocks`, from the highest index down, below `before`.
#[must_use]
pub fn of_address(address: &Address, blocks: &Span, before: Option<u64>, limit: u64) -> Statement<WithdrawalRow> {
    let select = Select::default()
        .condition("address = toFixedString(unhex({address:String}), 20)", Predicate::among("address", &[address]))
        .with("address", address)
        .blocks("block_number", blocks);
    below(select, before).page("withdrawals", "withdrawal_index DESC", limit)
}

/// Withdrawals to `address` in `blocks`, from either end.
#[must_use]
pub fn to_account(address: &Address, blocks: &Span, walk: Walk) -> Statement<WithdrawalRow> {
    let order = format!("withdrawal_index {}", walk.order.word());
    participant(address, None).blocks("block_number", blocks).page("withdrawals", &order, walk.limit)
}

/// Withdrawals of one block, from the highest index down, below `before`.
#[must_use]
pub fn of_block(block: &Span, before: Option<u64>, limit: u64) -> Statement<WithdrawalRow> {
    below(Select::default().blocks("block_number", block), before).page(
        "withdrawals_by_block",
        "withdrawal_index DESC",
        limit,
    )
}

/// All withdrawals in `blocks`, from the highest index down, below `before` (block, index): the index alone is no bound
/// of the key.
#[must_use]
pub fn of_all(blocks: &Span, before: Option<(BlockNumber, u64)>, limit: u64) -> Statement<WithdrawalRow> {
    let blocks = before.map_or_else(|| blocks.clone(), |(block, _)| up_to(blocks, block));
    let select = Select::default().blocks("block_number", &blocks);
    let order = "block_number DESC, withdrawal_index DESC";
    below(select, before.map(|(_, index)| index)).page("withdrawals_by_block", order, limit)
}

/// The same below an index whose block is not known: the indexes of newer blocks are read and passed over.
#[must_use]
pub fn below_index(blocks: &Span, index: u64, limit: u64) -> Statement<WithdrawalRow> {
    let select = below(Select::default().blocks("block_number", blocks), Some(index));
    select.page("withdrawals_by_block", "block_number DESC, withdrawal_index DESC", limit)
}

columns! {
    /// The amount of a withdrawal.
    pub struct WithdrawalAmount / WithdrawalAmountView {
        /// Height of its block.
        block_number: u64,
        /// Wei, though the beacon chain counts in gwei.
        amount: U256,
    }
}

/// The amounts of the withdrawals in `blocks`, in the order of blocks.
#[must_use]
pub fn amounts(blocks: &Span, limit: u64) -> Statement<WithdrawalAmount> {
    Select::default().blocks("block_number", blocks).page("withdrawals_by_block", "block_number", limit)
}

columns! {
    /// What some withdrawals add up to.
    pub struct WithdrawalSums / WithdrawalSumsView {
        /// Number of withdrawals.
        withdrawals: u64,
        /// Wei of all of them.
        amount: U256,
    }
}

/// What the withdrawals of the settled blocks of some ranges add up to.
#[must_use]
pub fn sums(ranges: &[BlockRange]) -> Statement<WithdrawalSums> {
    let sql = format!(
        "SELECT
    count() AS withdrawals,
    sum(paid.amount) AS amount
FROM withdrawals_by_block AS paid
WHERE {}",
        settled_blocks("block_number", ranges).join("\n  AND ")
    );
    let mut statement = Select::default().blocks("block_number", &ranges.to_vec().into()).statement(sql);
    statement.is_settled = true;
    statement
}

/// All withdrawals of one block in their order; a block has at most 16 on Ethereum.
#[must_use]
pub fn in_block(block: &Span) -> Statement<WithdrawalRow> {
    Select::default().blocks("block_number", block).page("withdrawals_by_block", "withdrawal_index", 1_000_000)
}

fn below(select: Select, before: Option<u64>) -> Select {
    match before {
        Some(before) => {
            let below =
                Predicate::Position { columns: vec!["withdrawal_index"], is: Ordering::Less, than: vec![before] };
            select.condition("withdrawal_index < {before:UInt64}", below).with("before", before)
        }
        None => select,
    }
}
