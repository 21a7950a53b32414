//! The read of the newest blocks, which are in memory, beside that of tables.

use trawl_core::newest::{Merge, OrderColumn, Predicate};
use trawl_core::readable::Span;
use trawl_core::schema::hot::{HOT_TABLES, hot_name};

/// The columns of an ORDER BY.
pub(super) fn columns_of(order: &str) -> Vec<OrderColumn> {
    let column = |text: &str| match text.split_once(' ') {
        Some((name, word)) => OrderColumn { name: name.to_owned(), is_descending: word == "DESC" },
        None => OrderColumn { name: text.to_owned(), is_descending: false },
    };
    order.split(", ").map(column).collect()
}

/// Columns whose values never fall from block to block.
const CHAIN_ORDER: [&str; 2] = ["block_number", "withdrawal_index"];

/// How rows in memory follow those of the tables.
pub(super) fn merge(span: &Span, blocks_column: Option<&str>, order: &[OrderColumn]) -> Merge {
    let tables = Span { newest: Default::default(), ..span.clone() };
    let is_above = span.newest.ranges().first().map(|range| range.first()) > tables.highest();
    let is_one_block = tables.is_empty() && span.lowest() == span.highest();
    let along_chain =
        |first: &&OrderColumn| CHAIN_ORDER.contains(&first.name.as_str()) && blocks_column == Some("block_number");
    match order.first().filter(along_chain) {
        _ if is_one_block => Merge::After,
        Some(first) if is_above => {
            if first.is_descending {
                Merge::Before
            } else {
                Merge::After
            }
        }
        _ => Merge::Sorted,
    }
}

/// The table in memory that has the rows of a table, and which of its rows these are.
pub(super) fn in_memory(table: &str) -> (&'static str, Option<Predicate>) {
    match table {
        "token_transfers_by_block" => ("token_transfers_by_direction", Some(Predicate::is("direction", "from"))),
        "token_transfers" | "token_transfers_by_token" => {
            ("token_transfers_by_direction", Some(Predicate::OncePerAddress))
        }
        "internal_transactions_by_address" => ("internal_transactions_by_direction", Some(Predicate::OncePerAddress)),
        other => {
            let hot = HOT_TABLES.iter().find(|hot| hot.name() == hot_name(other));
            (hot.map_or("", |hot| hot.settled), None)
        }
    }
}
