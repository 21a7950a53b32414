//! `/api/v2/addresses/{address}/transactions?sort=value` and `sort=fee`, and those of a block.

use std::collections::BTreeMap;

use axum::response::Response;

use super::items::{Row, TransactionItems};
use crate::app::App;
use crate::error::Problem;
use crate::http::query::{Kind, ParameterGroup, Query};
use crate::http::whole_body::json;
use crate::read::completeness::require_table;
use crate::rest::cursor::missing;
use crate::rest::list::ListItems;
use crate::rest::list::sort_order;
use trawl_core::primitives::{Address, BlockNumber, Direction, TransactionFee, TransactionPosition, U256};
use trawl_core::schema::{BlockPart, OptionalTable};
use trawl_core::store::{Batch, Head};
use trawl_json::Object;
use trawl_json::list::write_page;
use trawl_query::transactions::positions::TransactionPositions;
use trawl_query::transactions::sorted::{
    MAX_SORTED, NewestAmount, SortedBy, SortedList, SortedPosition, newest, of_block, positions, size,
};
use trawl_query::walk::SortOrder;

pub(crate) const PARAMETERS: ParameterGroup = &[
    ("sort", Kind::Name(&["block_number", "value", "fee"])),
    ("order", Kind::Name(&["asc", "desc"])),
    ("value", Kind::Amount),
    ("fee", Kind::Amount),
];

/// What a list is sorted by, if not by position.
pub(in crate::rest) fn sorted_list(query: &Query, direction: Option<Direction>) -> Option<SortedList> {
    let by = match query.name("sort") {
        Some("value") => SortedBy::Value,
        Some("fee") => SortedBy::Fee,
        _ => return None,
    };
    let sorting = sort_order(query);
    Some(SortedList { direction, by, sorting })
}

/// Most transactions of a block that are sorted.
const MAX_PER_BLOCK: u64 = 100_000;
/// Most transactions of the newest blocks that are sorted with those of settled ones.
const MAX_NEWEST: u64 = 10_000;

/// A page of the transactions of an address, by what they sent or paid (docs/reference/http-contract.md#transactions).
///
/// # Errors
///
/// 422 for an address with more transactions than are sorted; [`Problem::PartMissing`] where fees are not known; when
/// the store fails.
pub(in crate::rest) async fn page(
    app: &App,
    head: &Head,
    address: &Address,
    query: &Query,
    sorted: SortedList,
) -> Result<Response, Problem> {
    let beyond = position(query, sorted.by)?;
    let count = query.page_size();
    require_table(head, OptionalTable::TransactionsByAddress)?;
    require_sortable(app, head, address, sorted).await?;
    let blocks = head.blocks.span();
    let settled = positions(address, &sorted, &blocks.settled, beyond.as_ref(), count + 1);
    let newest = newest(address, &sorted, &blocks, MAX_NEWEST);
    let newest = async { Ok(app.reader().rows(&newest).await?) };
    let (settled, newest) = tokio::try_join!(app.rows_of(head, &settled), newest)?;
    if newest.len() as u64 >= MAX_NEWEST {
        return Err(too_many("an address", MAX_NEWEST));
    }
    let mut found: Vec<SortedPosition> = settled
        .iter()
        .flat_map(Batch::rows)
        .map(|row| (row.amount, position_of(row.block_number, row.transaction_index)))
        .collect();
    found.extend(sorted_positions(&newest, sorted.by)?);
    sort(&mut found, sorted.sorting, beyond.as_ref());
    answer(app, head, found, query, sorted.by).await
}

/// A page of the transactions of a block, by what they sent or paid.
///
/// # Errors
///
/// 422 for a block with more transactions than are sorted; [`Problem::PartMissing`] where fees are not known; when the
/// store fails.
pub(in crate::rest) async fn page_of_block(
    app: &App,
    head: &Head,
    block: BlockNumber,
    query: &Query,
    sorted: SortedList,
) -> Result<Response, Problem> {
    let beyond = position(query, sorted.by)?;
    let amounts = app.reader().rows(&of_block(&head.blocks.at(block), MAX_PER_BLOCK)).await?;
    if amounts.len() as u64 >= MAX_PER_BLOCK {
        return Err(too_many("a block", MAX_PER_BLOCK));
    }
    let mut found = sorted_positions(&amounts, sorted.by)?;
    sort(&mut found, sorted.sorting, beyond.as_ref());
    answer(app, head, found, query, sorted.by).await
}

fn position_of(block_number: BlockNumber, index: u32) -> TransactionPosition {
    TransactionPosition { block_number, transaction_index: index.into() }
}

/// Positions of transactions with their amounts.
fn sorted_positions(rows: &[NewestAmount], by: SortedBy) -> Result<Vec<SortedPosition>, Problem> {
    rows.iter().map(|row| Ok((amount(row, by)?, position_of(row.block_number, row.transaction_index)))).collect()
}

/// The first of the positions as a page.
async fn answer(
    app: &App,
    head: &Head,
    mut found: Vec<SortedPosition>,
    query: &Query,
    by: SortedBy,
) -> Result<Response, Problem> {
    let count = query.page_size();
    let has_more = found.len() as u64 > count;
    found.truncate(usize::try_from(count).unwrap_or(usize::MAX));
    let next = found.last().copied().filter(|_| has_more);
    let batches = rows(app, head, &found).await?;
    let mut items = TransactionItems::load(app, head, in_order(&batches, &found)?).await?;
    if let Some(kind) = query.name("type") {
        items.retain(kind);
    }
    let next = next.map(|last| move |next: &mut Object<'_>| write_cursor(next, by, &last, count));
    Ok(json(write_page(|list| items.write(list), next)))
}

/// The position of the cursor: amount, block and position.
fn position(query: &Query, by: SortedBy) -> Result<Option<SortedPosition>, Problem> {
    let name = name(by);
    query.require_all(&["block_number", "index"])?;
    let position = query.height("block_number").map(|block_number| TransactionPosition {
        block_number,
        transaction_index: query.height("index").unwrap_or_default(),
    });
    match (query.amount(name), position) {
        (Some(amount), Some(position)) => Ok(Some((amount, position))),
        (None, None) => Ok(None),
        (None, Some(_)) => Err(missing(name)),
        (Some(_), None) => Err(missing("block_number")),
    }
}

fn name(by: SortedBy) -> &'static str {
    match by {
        SortedBy::Value => "value",
        SortedBy::Fee => "fee",
    }
}

fn write_cursor(next: &mut Object<'_>, by: SortedBy, (amount, position): &SortedPosition, count: u64) {
    next.key("block_number").number(position.block_number);
    if by == SortedBy::Fee {
        next.key("fee").decimal_256(*amount);
    }
    next.key("index").number(position.transaction_index);
    next.key("items_count").number(count);
    if by == SortedBy::Value {
        next.key("value").decimal_256(*amount);
    }
}

fn too_many(of: &str, most: u64) -> Problem {
    let detail = format!("Sorting by value or fee is supported for {of} with at most {most} transactions");
    Problem::invalid_parameter("sort", detail)
}

/// Requires that the settled transactions of the address can be sorted.
async fn require_sortable(app: &App, head: &Head, address: &Address, sorted: SortedList) -> Result<(), Problem> {
    let found = app.values_of(head, &size(address, &sorted, &head.blocks.span().settled)).await?;
    let Some(found) = found.into_iter().next() else { return Ok(()) };
    if found.found > MAX_SORTED {
        return Err(too_many("an address", MAX_SORTED));
    }
    if sorted.by == SortedBy::Fee && found.without_fee > 0 {
        return Err(Problem::PartMissing { part: BlockPart::Receipts, block: found.block_number });
    }
    Ok(())
}

/// What the list is sorted by, of one of the newest transactions.
fn amount(row: &NewestAmount, by: SortedBy) -> Result<U256, Problem> {
    match by {
        SortedBy::Value => Ok(row.value),
        SortedBy::Fee if row.has_receipt == 1 => {
            let fee = TransactionFee {
                gas_used: row.gas_used,
                gas_price: row.effective_gas_price,
                l1_fee: row.l1_fee,
                operator_fee: row.operator_fee,
            };
            Ok(fee.total().unwrap_or(U256::MAX))
        }
        SortedBy::Fee => Err(Problem::PartMissing { part: BlockPart::Receipts, block: row.block_number }),
    }
}

/// Puts positions in the order of the list, those beyond one.
fn sort(found: &mut Vec<SortedPosition>, sorting: SortOrder, beyond: Option<&SortedPosition>) {
    let key = |(amount, position): &SortedPosition| (*amount, position.block_number, position.transaction_index);
    found.sort_unstable_by_key(key);
    found.dedup_by_key(|position| key(position));
    match sorting {
        SortOrder::LargestFirst => {
            found.reverse();
            found.retain(|position| beyond.is_none_or(|beyond| key(position) < key(beyond)));
        }
        SortOrder::SmallestFirst => found.retain(|position| beyond.is_none_or(|beyond| key(position) > key(beyond))),
    }
}

type Transactions = Vec<Batch<trawl_core::schema::TransactionRow>>;

/// The transactions at some positions.
async fn rows(app: &App, head: &Head, found: &[SortedPosition]) -> Result<Transactions, Problem> {
    let index = |position: &TransactionPosition| u32::try_from(position.transaction_index).unwrap_or(u32::MAX);
    let positions: TransactionPositions =
        found.iter().map(|(_, position)| (position.block_number, index(position))).collect();
    if positions.is_empty() {
        return Ok(Vec::new());
    }
    Ok(app.reader().all(&trawl_query::transactions::positions::transactions(&positions, &head.blocks.span())).await?)
}

/// Rows in the order of the positions.
///
/// # Errors
///
/// [`Problem::Reorganised`] if one of them is not there any more.
fn in_order<'b>(batches: &'b Transactions, found: &[SortedPosition]) -> Result<Vec<Row<'b>>, Problem> {
    let rows = batches.iter().flat_map(|batch| (0..batch.len()).map(move |row| (batch, row)));
    let position = |(batch, row): &Row<'_>| {
        let view = batch.view();
        (view.block_number[*row], u64::from(view.transaction_index[*row]))
    };
    let by_position: BTreeMap<(u64, u64), Row<'b>> = rows.map(|row| (position(&row), row)).collect();
    let row =
        |(_, position): &SortedPosition| by_position.get(&(position.block_number, position.transaction_index)).copied();
    found.iter().map(|position| row(position).ok_or(Problem::Reorganised)).collect()
}
