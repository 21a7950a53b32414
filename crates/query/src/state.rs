//! Plans for state: many accounts or slots at a time, after each block of a few.

pub mod accounts;
pub mod complete;
pub mod headers;
pub mod slots;

use super::select::hot_blocks;
use trawl_core::newest::Predicate;
use trawl_core::primitives::{B256, BlockNumber, Bytes};
use trawl_core::readable::Span;
use trawl_core::schema::columns::columns;
use trawl_core::schema::hot::hot_name;
use trawl_core::statement::{Statement, Workload};

/// The blocks after which state is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateBlocks {
    /// All blocks from genesis to the last one after which state is read, in tables.
    pub history: Span,
    /// The first block after which state is read: changes up to it count as one, the last of them.
    pub first: BlockNumber,
}

columns! {
    /// The bytes of a code.
    pub struct CodeBytes / CodeBytesView {
        /// Keccak-256 of the code.
        code_hash: B256,
        /// Bytes of the deployed code.
        code: Bytes,
    }
}

columns! {
    /// The hash of a block.
    pub struct BlockHash / BlockHashView {
        /// Height of the block.
        block_number: u64,
        /// Keccak-256 of the header.
        hash: B256,
    }
}

const ACCOUNTS: &str = "address IN {addresses:Array(FixedString(20))}";

/// Bytecodes by their hashes, from any settled block, and from any block of the hot tables if some of `blocks` are read
/// there.
#[must_use]
pub fn codes(hashes: &[B256], blocks: &Span) -> Statement<CodeBytes> {
    let settled = include_str!("../../../sql/queries/codes_by_hash.sql");
    let sql = if blocks.hot.is_empty() {
        settled.to_owned()
    } else {
        format!(
            "SELECT code_hash, code\nFROM (\n({settled})\nUNION ALL\n({})\n)\nLIMIT 1 BY code_hash",
            settled.replace("FROM codes", "FROM hot_codes")
        )
    };
    Statement::page(sql).on_behalf_of(Workload::Call).with("hashes", hashes)
}

/// Bytecodes by their hashes, from blocks in memory.
#[must_use]
pub fn newest_codes(hashes: &[B256], blocks: &Span) -> Statement<CodeBytes> {
    let newest = Span { newest: blocks.newest.clone(), ..Span::default() };
    let select = super::select::Select::default().blocks("block_number", &newest);
    select.condition("1", Predicate::among("code_hash", hashes)).page("codes", "code_hash", u64::MAX)
}

/// The hashes of the blocks of `span`, ascending.
#[must_use]
pub fn block_hashes(span: &Span) -> Statement<BlockHash> {
    super::select::Select::default()
        .blocks("block_number", span)
        .page("blocks", "block_number", 256)
        .on_behalf_of(Workload::Call)
}

/// The rows of a history that satisfy `condition`, from block `since` (SQL) to the last block of `state`, from both of
/// its tables.
fn history(table: &str, columns: &[&str], condition: &str, since: &str, state: &Span) -> String {
    let columns = columns.join(", ");
    let mut parts = Vec::new();
    if !state.settled.is_empty() {
        parts.push(format!(
            "    SELECT {columns}, block_number
    FROM {table}
    WHERE {condition}
      AND block_number BETWEEN {since} AND {{last:UInt64}}"
        ));
    }
    if !state.hot.is_empty() {
        parts.push(format!(
            "    SELECT {columns}, block_number
    FROM {}
    WHERE {condition}
      AND {}",
            hot_name(table),
            hot_blocks("block_number").join("\n      AND ")
        ));
    }
    format!("(\n{}\n)", parts.join("\n    UNION ALL\n"))
}

/// Values for the bounds that [`history`] writes.
fn bind<R>(mut statement: Statement<R>, state: &Span) -> Statement<R> {
    let last = |range: &trawl_core::primitives::BlockRange| -> BlockNumber { range.last() };
    if let Some(last) = state.settled.last().map(last) {
        statement = statement.with("last", last);
    }
    if let (Some(lowest), Some(highest)) = (state.hot.first(), state.hot.last()) {
        statement = statement
            .with("hot_first", lowest.blocks.first())
            .with("hot_last", highest.blocks.last())
            .with("generations", state.hot.as_slice());
    }
    statement
}

/// Values for the bounds that [`history`] and the grouping by blocks write.
fn bind_blocks<R>(statement: Statement<R>, blocks: &StateBlocks) -> Statement<R> {
    bind(statement.on_behalf_of(Workload::Call).with("first", blocks.first), &blocks.history)
}
