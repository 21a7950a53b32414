//! Plans for reads of uncle headers.

use std::cmp::Ordering;

use crate::select::Select;
use trawl_core::newest::Predicate;
use trawl_core::primitives::{B256, BlockNumber};
use trawl_core::readable::Span;
use trawl_core::schema::UncleRow;
use trawl_core::statement::Statement;

/// Uncles referenced from `nephews`, from the highest down, strictly below the height `before`.
#[must_use]
pub fn newest(nephews: &Span, before: BlockNumber, limit: u64) -> Statement<UncleRow> {
    let select = Select::default()
        .condition(
            "block_number < {before:UInt64}",
            Predicate::Position { columns: vec!["block_number"], is: Ordering::Less, than: vec![before] },
        )
        .with("before", before)
        .blocks("nephew_block_number", nephews);
    select.page("uncles", "block_number DESC, hash DESC", limit)
}

/// The uncles at one height.
#[must_use]
pub fn at(nephews: &Span, number: BlockNumber) -> Statement<UncleRow> {
    Select::default()
        .blocks("nephew_block_number", nephews)
        .condition("block_number = {number:UInt64}", Predicate::equals("block_number", number))
        .with("number", number)
        .page("uncles", "hash DESC", 1_000)
}

/// The uncle with a hash. No order has them by hash: the hashes of all are read, 32 bytes each of one block in sixteen
/// of Ethereum before the merge.
#[must_use]
pub fn by_hash(hash: &B256, nephews: &Span) -> Statement<UncleRow> {
    Select::default()
        .condition("hash = toFixedString(unhex({hash:String}), 32)", Predicate::among("hash", &[hash]))
        .with("hash", hash)
        .blocks("nephew_block_number", nephews)
        .page("uncles", "block_number", 1)
}

/// How far below its nephew an uncle may be: seven blocks on Ethereum (yellow paper, section 11.1); some more
/// elsewhere.
const DEEPEST: u64 = 32;

/// The uncle with a hash that the block of `nephew`, a span of one, at the height `number` names.
#[must_use]
pub fn of_nephew(nephew: &Span, number: BlockNumber, hash: &B256) -> Statement<UncleRow> {
    Select::default()
        .condition(
            "block_number BETWEEN {lowest:UInt64} AND {number:UInt64}",
            Predicate::AllOf(vec![
                Predicate::AtLeast { column: "block_number", number: number.saturating_sub(DEEPEST) },
                Predicate::Position {
                    columns: vec!["block_number"],
                    is: Ordering::Less,
                    than: vec![number.saturating_add(1)],
                },
            ]),
        )
        .with("lowest", number.saturating_sub(DEEPEST))
        .with("number", number)
        .condition("hash = toFixedString(unhex({hash:String}), 32)", Predicate::among("hash", &[hash]))
        .with("hash", hash)
        .blocks("nephew_block_number", nephew)
        .page("uncles", "block_number", 1)
}
