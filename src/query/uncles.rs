//! Plans for reads of uncle headers.

use super::select::Select;
use crate::primitives::{BlockNumber, Span};
use crate::schema::UncleRow;
use crate::statement::Statement;

/// Uncles referenced from `nephews`, from the highest down, strictly below the height `before`.
#[must_use]
pub fn newest(nephews: &Span, before: BlockNumber, limit: u64) -> Statement<UncleRow> {
    let select = Select::default()
        .condition("block_number < {before:UInt64}")
        .with("before", before)
        .blocks("nephew_block_number", nephews);
    select.page("uncles", "block_number DESC, hash DESC", limit)
}

/// The uncles at one height.
#[must_use]
pub fn at(nephews: &Span, number: BlockNumber) -> Statement<UncleRow> {
    Select::default()
        .blocks("nephew_block_number", nephews)
        .condition("block_number = {number:UInt64}")
        .with("number", number)
        .page("uncles", "hash DESC", 1_000)
}
