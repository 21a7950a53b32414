//! Plans for reads of token transfers.

use std::cmp::Ordering;

use crate::select::{Select, participant, up_to};
use trawl_core::newest::Predicate;
use trawl_core::primitives::{Address, Direction, TransferPosition};
use trawl_core::readable::Span;
use trawl_core::schema::columns::columns;
use trawl_core::schema::{BlockTokenTransferRow, Columns as _, TokenTransferRow};
use trawl_core::statement::Statement;

columns! {
    /// The standard of a transfer.
    pub struct TransferStandard / TransferStandardView {
        /// Position of its log in the block.
        log_index: u32,
        /// Position in the batch of the log.
        batch_index: u32,
        /// `ERC-20`, `ERC-721` or `ERC-1155`.
        token_type: String,
    }
}

/// A filter for the transfers of an address.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TransferFilter {
    /// The side of the address; any if absent.
    pub direction: Option<Direction>,
    /// Only transfers of this token.
    pub token: Option<Address>,
    /// Only these standards, as the tables write them; all if empty.
    pub types: Vec<&'static str>,
}

/// Transfers in `blocks` that an address takes part in, from the highest position down, below `before`.
///
/// Each combination of filters is one range of a key. Two filters are checked row by row: standards always, and the
/// token together with a direction.
#[must_use]
pub fn of_address(
    address: &Address,
    filter: &TransferFilter,
    blocks: &Span,
    before: Option<TransferPosition>,
    limit: u64,
) -> Statement<TokenTransferRow> {
    let mut select = participant(address, filter.direction);
    let table = match (filter.direction, filter.token) {
        (None, None) => "token_transfers",
        (None, Some(_)) => "token_transfers_by_token",
        (Some(_), _) => "token_transfers_by_direction",
    };
    if let Some(token) = &filter.token {
        let test = Predicate::among("token_address", &[token]);
        select =
            select.condition("token_address = toFixedString(unhex({token:String}), 20)", test).with("token", token);
    }
    if !filter.types.is_empty() {
        let types: Vec<String> = filter.types.iter().map(|name| (*name).to_owned()).collect();
        let test = Predicate::among("token_type", &filter.types);
        select = select.condition("token_type IN {types:Array(String)}", test).with("types", types);
    }
    below(select, blocks, before).page(table, NEWEST_FIRST, limit)
}

const NEWEST_FIRST: &str = "block_number DESC, log_index DESC, batch_index DESC";

fn below(select: Select, blocks: &Span, before: Option<TransferPosition>) -> Select {
    let Some(before) = before else { return select.blocks("block_number", blocks) };
    select
        .blocks("block_number", &up_to(blocks, before.block_number))
        .condition(
            "(block_number, log_index, batch_index) < ({before_block:UInt64}, {before_log:UInt64}, {before_batch:UInt64})",
            Predicate::Position {
                columns: vec!["block_number", "log_index", "batch_index"],
                is: Ordering::Less,
                than: vec![before.block_number, before.log_index, before.batch_index],
            },
        )
        .with("before_block", before.block_number)
        .with("before_log", before.log_index)
        .with("before_batch", before.batch_index)
}

/// All transfers in `blocks`, from the highest position down, below `before`. The rows are those of the sender's side.
#[must_use]
pub fn of_all(blocks: &Span, before: Option<TransferPosition>, limit: u64) -> Statement<TokenTransferRow> {
    let select = below(Select::default(), blocks, before);
    select.page_of(&senders_columns(), "token_transfers_by_block", NEWEST_FIRST, limit)
}

/// The same of some standards alone, as the tables write them; of all if empty.
#[must_use]
pub fn of_standards(
    types: &[&'static str],
    blocks: &Span,
    before: Option<TransferPosition>,
    limit: u64,
) -> Statement<TokenTransferRow> {
    if types.is_empty() {
        return of_all(blocks, before, limit);
    }
    let names: Vec<String> = types.iter().map(|name| (*name).to_owned()).collect();
    below(Select::default(), blocks, before)
        .condition("token_type IN {types:Array(String)}", Predicate::among("token_type", types))
        .with("types", names)
        .page_of(&senders_columns(), "token_transfers_by_block", NEWEST_FIRST, limit)
}

/// The columns of the sender's side in the table that has each transfer once.
pub(crate) fn senders_columns() -> String {
    let spelt = |name: &&'static str| if *name == "address" { "from_address AS address" } else { *name };
    TokenTransferRow::names().iter().map(spelt).collect::<Vec<_>>().join(", ")
}

/// The standards of the transfers in a `block`, in order.
#[must_use]
pub fn standards_in(block: &Span, limit: u64) -> Statement<TransferStandard> {
    let select = Select::default().blocks("block_number", block);
    select.page("token_transfers_by_block", "log_index, batch_index", limit)
}

/// The transfers of a transaction of a `block`, in order.
#[must_use]
pub fn of_transaction(block: &Span, transaction_index: u32, limit: u64) -> Statement<BlockTokenTransferRow> {
    Select::default()
        .blocks("block_number", block)
        .condition(
            "transaction_index = {transaction_index:UInt32}",
            Predicate::equals("transaction_index", transaction_index.into()),
        )
        .with("transaction_index", u64::from(transaction_index))
        .page("token_transfers_by_block", "log_index, batch_index", limit)
}

/// The transfers of a transaction of a `block` after a position (log, position in its batch), in order; `types` are
/// standards as the tables write them, all if empty. The rows are those of the sender's side.
#[must_use]
pub fn of_transaction_after(
    block: &Span,
    transaction_index: u32,
    types: &[&'static str],
    after: Option<(u64, u64)>,
    limit: u64,
) -> Statement<TokenTransferRow> {
    let mut select = Select::default()
        .blocks("block_number", block)
        .condition(
            "transaction_index = {transaction_index:UInt32}",
            Predicate::equals("transaction_index", transaction_index.into()),
        )
        .with("transaction_index", u64::from(transaction_index));
    if !types.is_empty() {
        let names: Vec<String> = types.iter().map(|name| (*name).to_owned()).collect();
        select = select
            .condition("token_type IN {types:Array(String)}", Predicate::among("token_type", types))
            .with("types", names);
    }
    if let Some((log, batch)) = after {
        let at_least = Predicate::AtLeast { column: "log_index", number: log };
        let position = Predicate::Position {
            columns: vec!["log_index", "batch_index"],
            is: Ordering::Greater,
            than: vec![log, batch],
        };
        select = select
            .condition("log_index >= {after_log:UInt64}", at_least)
            .condition("(log_index, batch_index) > ({after_log:UInt64}, {after_batch:UInt64})", position)
            .with("after_log", log)
            .with("after_batch", batch);
    }
    select.page_of(&senders_columns(), "token_transfers_by_block", "log_index, batch_index", limit)
}
