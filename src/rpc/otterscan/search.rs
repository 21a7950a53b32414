//! `ots_searchTransactionsBefore` and `ots_searchTransactionsAfter`: the transactions that an address takes part in, in
//! whole blocks.

use futures_util::future::try_join_all;

use super::bounds::{Bounds, searched};
use super::params;
use crate::app::App;
use crate::error::Problem;
use crate::http::values::invalid;
use crate::read::completeness::require_table;
use crate::read::transactions::at::TransactionsAt;
use crate::read::transactions::outcomes::failures;
use crate::rpc::protocol::answer::Answer;
use crate::rpc::protocol::context::Context;
use trawl_core::primitives::{Address, BlockNumber, BlockRange};
use trawl_core::schema::OptionalTable;
use trawl_core::store::Head;
use trawl_json::otterscan::write_timed_receipt;
use trawl_json::transactions::write_transaction;
use trawl_query::transactions::participation::{End, ParticipationQuery};
use trawl_query::transactions::positions::TransactionPositions;

/// Most transactions that a client may request. Those of the last block of a page come in addition.
const MAX_PAGE: u64 = 100;
/// More transactions than a block can hold.
const WHOLE_BLOCK: u64 = 1_000_000;

/// The request of a client.
struct Request {
    address: Address,
    /// The block that bounds the search and is not part of it; `None` at the end of the chain.
    block: Option<BlockNumber>,
    size: u64,
}

impl Request {
    fn read(call: Context<'_>) -> Result<Self, Problem> {
        let [address, block, size] = call.exactly()?;
        let (address, block) = (params::address(address)?, params::block(block)?);
        let size = params::count(size, "page size")?;
        if !(1..=MAX_PAGE).contains(&size) {
            return Err(invalid(&format!("Invalid page size: 1 to {MAX_PAGE}")));
        }
        // 0 and names of blocks that are not there yet stand for no bound.
        let block = block.number(call.head()?).filter(|block| *block > 0);
        Ok(Self { address, block, size })
    }
}

/// A page of positions.
#[derive(Debug, Default)]
struct Page {
    positions: TransactionPositions,
    /// Whether others follow, or may follow.
    more: bool,
}

/// Which ends of the list a page has.
struct PageEnds {
    /// Whether it has the newest transaction.
    is_first: bool,
    /// Whether it has the oldest one.
    is_last: bool,
}

/// Transactions in blocks below one, from the newest down.
pub(in crate::rpc) async fn before(call: Context<'_>) -> Result<Answer, Problem> {
    let request = Request::read(call)?;
    let newest = call.head()?.number().unwrap_or_default();
    let last = request.block.map_or(newest, |block| newest.min(block - 1));
    let page = page(call, &request, BlockRange::new(0, last), End::Newest).await?;
    let ends = PageEnds { is_first: request.block.is_none(), is_last: !page.more };
    write(call, &page, ends).await
}

/// Transactions in blocks above one, the nearest of them; from the newest down too.
pub(in crate::rpc) async fn after(call: Context<'_>) -> Result<Answer, Problem> {
    let request = Request::read(call)?;
    let newest = call.head()?.number().unwrap_or_default();
    let first = request.block.map_or(0, |block| block.saturating_add(1));
    let page = page(call, &request, BlockRange::new(first, newest), End::Oldest).await?;
    let ends = PageEnds { is_first: !page.more, is_last: request.block.is_none() };
    write(call, &page, ends).await
}

/// The first positions from one end, up to the end of a block.
async fn page(call: Context<'_>, request: &Request, range: Option<BlockRange>, from: End) -> Result<Page, Problem> {
    let (app, head) = (call.app, call.head()?);
    require_table(head, OptionalTable::TransactionsByAddress)?;
    let Some(range) = range else { return Ok(Page::default()) };
    let bounds = Bounds::of(head, range, from, app.options().gaps)?;
    let find = |searched: ParticipationQuery, limit| find(app, &request.address, from, searched, limit);
    let mut positions = find(bounds.searched(head), request.size).await?;
    if (positions.len() as u64) < request.size {
        return match bounds.missing {
            None => Ok(Page { positions, more: false }),
            Some(problem) => Err(problem),
        };
    }
    let edge = if from == End::Newest { positions.first() } else { positions.last() };
    let Some(&(block, _)) = edge else { return Ok(Page::default()) };
    let of_block = find(searched(head, BlockRange::single(block)), WHOLE_BLOCK);
    let beyond = find(bounds.searched_beyond(block, from, head), 1);
    let (of_block, beyond) = tokio::try_join!(of_block, beyond)?;
    positions.extend(of_block);
    Ok(Page { positions, more: !beyond.is_empty() || bounds.missing.is_some() })
}

/// The first positions from one end.
async fn find(
    app: &App,
    address: &Address,
    from: End,
    searched: ParticipationQuery,
    limit: u64,
) -> Result<TransactionPositions, Problem> {
    let statements = trawl_query::transactions::participation::positions(address, from, &searched, limit);
    let lists = try_join_all(statements.iter().map(|statement| app.reader().rows(statement))).await?;
    let all: TransactionPositions =
        lists.into_iter().flatten().map(|position| (position.block_number, position.transaction_index)).collect();
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    Ok(match from {
        End::Newest => all.into_iter().rev().take(limit).collect(),
        End::Oldest => all.into_iter().take(limit).collect(),
    })
}

/// The answer: transactions and receipts from the newest down.
async fn write(call: Context<'_>, page: &Page, ends: PageEnds) -> Result<Answer, Problem> {
    let head: &Head = call.head()?;
    let found = TransactionsAt::load(call.app, head, &page.positions).await?;
    let failures = failures(call.app, head, found.batches()).await?;
    found.rows().try_for_each(|(batch, row)| failures.require(&batch.view(), row))?;
    Ok(Answer::of(|writer| {
        writer.object(|answer| {
            answer.key("txs").array(|list| {
                for (batch, row) in found.rows().rev() {
                    write_transaction(list.item(), &batch.view(), row);
                }
            });
            answer.key("receipts").array(|list| {
                for (batch, row) in found.rows().rev() {
                    let (view, logs) = (batch.view(), found.logs(batch, row));
                    write_timed_receipt(list.item(), &view, row, (&logs, failures.of(&view, row)));
                }
            });
            answer.key("firstPage").bool(ends.is_first);
            answer.key("lastPage").bool(ends.is_last);
        });
    }))
}
