//! `/api/v2/addresses/{address}/…`.

use std::collections::BTreeSet;

use axum::extract::{Path, RawQuery, State};
use axum::response::Response;

use super::params::{Declared, Kind, Query, address};
use super::{Page, json, withdrawals_page};
use crate::app::App;
use crate::cache::cache_control::CachePolicy;
use crate::enrich::labels::LabelQuery;
use crate::error::Problem;
use trawl_core::primitives::{Address, Direction, FramePosition, TransferPosition};
use trawl_core::schema::{Column, TokenTransferRow};
use trawl_json::internal_transactions::{shown, write_internal_transaction};
use trawl_json::list::write_page;
use trawl_json::token_transfers::write_token_transfer;
use trawl_json::withdrawals::Scope;
use trawl_json::{Array, Object};
use trawl_query::token_transfers::TransferFilter;

pub(crate) const WITHDRAWALS: Declared = &[("index", Kind::Integer), ("items_count", Kind::Count)];

/// The withdrawals to one address. One that no block mentions has an empty list
/// (docs/reference/http-contract.md#hashes-in-paths).
pub(super) async fn withdrawals(
    State(app): State<App>,
    Path(hash): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Response, Problem> {
    let address = address(&hash)?;
    let query = Query::read(query.as_deref().unwrap_or(""), WITHDRAWALS)?;
    let head = app.head()?;
    let size = query.page_size();
    let blocks = head.withdrawals.span();
    let statement = |before| trawl_query::withdrawals::of_address(&address, &blocks, before, size + 1);
    withdrawals_page((&app, &head), &query, size, Scope::Address, statement).await
}

const DIRECTION: Kind = Kind::Word(&["to", "from"]);

fn direction(query: &Query) -> Option<Direction> {
    query.word("filter").map(|word| if word == "to" { Direction::To } else { Direction::From })
}

/// A cursor number; nothing lies below a negative one, as nothing lies below 0.
fn place(query: &Query, name: &str) -> Option<u64> {
    query.integer(name).map(|number| number.try_into().unwrap_or(0))
}

pub(crate) const INTERNAL_TRANSACTIONS: Declared = &[
    ("filter", DIRECTION),
    ("block_number", Kind::Height),
    ("transaction_index", Kind::Integer),
    ("index", Kind::Integer),
    ("items_count", Kind::Count),
];

/// The call frames an address takes part in, newest first (docs/reference/http-contract.md#internal-transactions).
pub(super) async fn internal_transactions(
    State(app): State<App>,
    Path(hash): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Response, Problem> {
    let address = address(&hash)?;
    let query = Query::read(query.as_deref().unwrap_or(""), INTERNAL_TRANSACTIONS)?;
    query.require_all(&["block_number", "transaction_index", "index"])?;
    let before = place(&query, "block_number").map(|block_number| FramePosition {
        block_number,
        transaction_index: place(&query, "transaction_index").unwrap_or(0),
        frame_index: place(&query, "index").unwrap_or(0),
    });
    let (head, size) = (app.head()?, query.page_size());
    let blocks = head.traces.span();
    let statement =
        trawl_query::internal_transactions::of_address(&address, direction(&query), &blocks, before, size + 1);
    let batches = app.reader().all(&statement).await?;
    let page = Page::cut(&batches, size);
    let mut addresses = Vec::new();
    page.rows(|batch, row| addresses.extend(shown(&batch.view(), row)));
    let known = app.addresses(addresses, &head).await?;
    let last = page.more.then(|| {
        page.last(|batch, row| {
            let view = batch.view();
            (view.block_number[row], view.transaction_index[row], view.frame_index[row])
        })
    });
    let count = page.count;
    let next = last.flatten().map(|(block_number, transaction_index, index)| {
        move |next: &mut Object<'_>| {
            next.key("block_number").number(block_number);
            next.key("index").number(index.into());
            next.key("items_count").number(count);
            next.key("transaction_index").number(transaction_index.into());
        }
    });
    let items = |items: &mut Array<'_>| {
        page.rows(|batch, row| write_internal_transaction(items.item(), &batch.view(), row, &known));
    };
    let lasting = CachePolicy::of_page(&head, &head.traces, query.height("block_number"));
    Ok(lasting.mark(json(write_page(items, next))))
}

pub(crate) const TOKEN_TRANSFERS: Declared = &[
    ("type", Kind::Standards),
    ("filter", DIRECTION),
    ("token", Kind::Address),
    ("block_number", Kind::Height),
    ("index", Kind::Integer),
    ("items_count", Kind::Count),
    ("batch_log_index", Kind::Integer),
    ("batch_block_hash", Kind::Hash),
    ("batch_transaction_hash", Kind::Hash),
    ("index_in_batch", Kind::Integer),
];

/// The token transfers an address takes part in, newest first (docs/reference/http-contract.md#token-transfers).
pub(super) async fn token_transfers(
    State(app): State<App>,
    Path(hash): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Response, Problem> {
    let address = address(&hash)?;
    let query = Query::read(query.as_deref().unwrap_or(""), TOKEN_TRANSFERS)?;
    query.require_all(&["block_number", "index"])?;
    let before = place(&query, "block_number").map(|block_number| TransferPosition {
        block_number,
        log_index: place(&query, "index").unwrap_or(0),
        // Behind a whole log, unless the page ended inside one.
        batch_index: place(&query, "index_in_batch").unwrap_or(0),
    });
    let filter =
        TransferFilter { direction: direction(&query), token: query.address("token"), types: query.standards("type") };
    let (head, size) = (app.head()?, query.page_size());
    let blocks = head.receipts.span();
    let statement = trawl_query::token_transfers::of_address(&address, &filter, &blocks, before, size + 1);
    let batches = app.reader().all(&statement).await?;
    let page = Page::cut(&batches, size);
    let (mut addresses, mut places, mut wanted) = (BTreeSet::new(), BTreeSet::new(), LabelQuery::default());
    page.rows(|batch, row| {
        let view = batch.view();
        places.insert((view.block_number[row], view.transaction_index[row]));
        let columns = [&view.from_address, &view.to_address, &view.token_address];
        addresses.extend(columns.map(|column| Address::get(column, row)));
        wanted.tokens.insert(Address::get(&view.token_address, row));
    });
    let (calls, ()) = tokio::try_join!(
        async { Ok(app.selectors().calls(app.reader(), places, &head).await?) },
        app.prefetch(&addresses, &wanted.tokens, &head)
    )?;
    calls.values().for_each(|call| wanted.call(call.to_address, &call.selector));
    let (known, tokens, words) = app.address_info(addresses, wanted, &head).await?;
    let items = |items: &mut Array<'_>| {
        page.rows(|batch, row| {
            let view = batch.view();
            let at = (view.block_number[row], view.transaction_index[row]);
            let method = calls.get(&at).and_then(|call| words.method(call.to_address.as_ref(), at.0, &call.selector));
            write_token_transfer(items.item(), &view, row, method.as_deref(), (&known, &tokens));
        });
    };
    let lasting = CachePolicy::of_page(&head, &head.receipts, query.height("block_number"));
    Ok(lasting.mark(json(write_page(items, transfer_cursor(&page)))))
}

/// The place of the last transfer. Where a page ends inside a batch, the place within it too, in the words clients of
/// this API family send back.
fn transfer_cursor(page: &Page<'_, TokenTransferRow>) -> Option<impl FnOnce(&mut Object<'_>) + use<>> {
    let place = |batch: &trawl_core::store::Batch<TokenTransferRow>, row: usize| {
        let view = batch.view();
        (view.block_number[row], view.log_index[row])
    };
    let behind = page.behind(place)?;
    let (last, batch) = page.last(|batch, row| {
        let view = batch.view();
        let hashes = [view.block_hash.bytes(row), view.transaction_hash.bytes(row)].map(|hash| *hash);
        (place(batch, row), (view.batch_index[row], hashes))
    })?;
    let is_cut = behind == last;
    Some(move |next: &mut Object<'_>| {
        next.key("block_number").number(last.0);
        next.key("index").number(last.1.into());
        if is_cut {
            let (index_in_batch, [block_hash, transaction_hash]) = batch;
            next.key("batch_log_index").number(last.1.into());
            next.key("batch_block_hash").hex(&block_hash);
            next.key("batch_transaction_hash").hex(&transaction_hash);
            next.key("index_in_batch").number(index_in_batch.into());
        }
    })
}
