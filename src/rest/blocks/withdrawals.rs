//! A page of withdrawals: of a block, of an address, or of all.

use axum::response::Response;

use crate::app::App;
use crate::error::Problem;
use crate::http::query::Query;
use crate::http::whole_body::json;
use crate::rest::cursor::{Cursor, WithdrawalCursor};
use crate::rest::page::Page;
use trawl_core::primitives::Address;
use trawl_core::schema::{Column, WithdrawalRow};
use trawl_core::statement::Statement;
use trawl_core::store::Head;
use trawl_json::blocks::withdrawals::{Scope, write_rest_withdrawal};
use trawl_json::list::write_page;
use trawl_json::{Array, Object};

/// A page of withdrawals from the highest index down; `statement` reads at most so many below a given index.
///
/// # Errors
///
/// When the cursor is wrong, or the store fails.
pub(in crate::rest) async fn withdrawals_page(
    app: &App,
    head: &Head,
    query: &Query,
    scope: Scope,
    statement: impl FnOnce(Option<u64>, u64) -> Statement<WithdrawalRow>,
) -> Result<Response, Problem> {
    let before = WithdrawalCursor::read(query)?.map(|cursor| cursor.index);
    let size = query.page_size();
    let batches = app.rows_of(head, &statement(before, size + 1)).await?;
    let page = Page::cut(&batches, size);
    let last = page.more.then(|| page.last(|batch, row| batch.view().withdrawal_index[row])).flatten();
    let next = last.map(|index| WithdrawalCursor { index }.writer(page.count));
    write(app, head, &page, scope, next).await
}

/// A page that was read.
pub(in crate::rest) async fn write(
    app: &App,
    head: &Head,
    page: &Page<'_, WithdrawalRow>,
    scope: Scope,
    next: Option<impl FnOnce(&mut Object<'_>)>,
) -> Result<Response, Problem> {
    let mut receivers = Vec::new();
    page.rows(|batch, row| receivers.push(Address::get(&batch.view().address, row)));
    let facts = app.addresses(receivers, head).await?;
    let items = |items: &mut Array<'_>| {
        page.rows(|batch, row| write_rest_withdrawal(items.item(), &batch.view(), row, scope, &facts));
    };
    Ok(json(write_page(items, next)))
}
