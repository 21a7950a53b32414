//! A page of a list: the rows of a statement with what is shown beside them, and the cursor of the next page.

use axum::response::Response;
use futures_util::future::BoxFuture;

use super::cursor::Cursor;
use super::page::Page;
use crate::app::App;
use crate::error::Problem;
use crate::http::query::Query;
use crate::http::whole_body::json;
use trawl_core::schema::Columns;
use trawl_core::statement::Statement;
use trawl_core::store::{Batch, Head};
use trawl_json::Array;
use trawl_json::list::write_page;
use trawl_query::walk::SortOrder;

/// Rows of which every list shows the same.
pub(super) trait ListRow: Columns + Send + Sync + 'static {
    /// Some of them, with what is shown beside them.
    type Items<'b>: ListItems<'b, Self>;
    /// Where a page ends.
    type Cursor: Cursor;

    /// The cursor after the last row of a page, if there are more.
    fn next(page: &Page<'_, Self>) -> Option<Self::Cursor>;
}

/// Rows with what is shown beside them. Their futures are boxed: the compiler does not see that one of a trait with a
/// lifetime can be sent (rust-lang/rust#100013).
pub(super) trait ListItems<'b, R>: Sized + Send {
    /// Reads what is shown beside `rows`.
    ///
    /// # Errors
    ///
    /// When the store fails.
    fn load<'a>(app: &'a App, head: &'a Head, rows: Vec<(&'b Batch<R>, usize)>) -> BoxFuture<'a, Result<Self, Problem>>
    where
        'b: 'a;

    /// Writes them in order.
    fn write(&self, items: &mut Array<'_>);
}

/// A page of `size` rows of `statement`, which reads one more.
///
/// # Errors
///
/// When the store fails.
pub(super) async fn list_page<R: ListRow>(
    app: &App,
    head: &Head,
    statement: &Statement<R>,
    size: u64,
) -> Result<Response, Problem> {
    page_of(app, head, &app.rows_of(head, statement).await?, size).await
}

/// The same of rows that were read.
///
/// # Errors
///
/// When the store fails.
pub(super) async fn page_of<R: ListRow>(
    app: &App,
    head: &Head,
    batches: &[Batch<R>],
    size: u64,
) -> Result<Response, Problem> {
    let page = Page::cut(batches, size);
    let items = R::Items::load(app, head, page.items()).await?;
    let next = R::next(&page).map(|cursor| cursor.writer(page.count));
    Ok(json(write_page(|list| items.write(list), next)))
}

/// Which end of a list by amounts comes first: the largest, unless the query says otherwise.
pub(super) fn sort_order(query: &Query) -> SortOrder {
    if query.name("order") == Some("asc") { SortOrder::SmallestFirst } else { SortOrder::LargestFirst }
}
