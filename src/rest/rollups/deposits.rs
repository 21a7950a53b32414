//! Lists of transactions that a rollup got from its L1.

use std::collections::HashMap;

use axum::extract::{MatchedPath, State};
use axum::response::Response;
use trawl_chains::{DepositList, DepositSource, FirstTransaction, L1Origin};

use crate::app::App;
use crate::error::Problem;
use crate::http::parameters::{Parameters, query_parameters};
use crate::http::query::PAGE_SIZE;
use crate::http::whole_body::json;
use crate::middleware::request_head::RequestHead;
use crate::rest::cursor::{Cursor, TransactionCursor};
use crate::rest::list::ListRow;
use crate::rest::page::Page;
use trawl_core::primitives::BlockNumber;
use trawl_core::schema::TransactionRow;
use trawl_core::store::Head;
use trawl_json::list::write_page;
use trawl_json::rollups::deposits::write_rest_deposit;
use trawl_query::transactions::positions::{TransactionPositions, transactions};
use trawl_query::transactions::{of_types, of_types_beyond_first};
use trawl_query::walk::{Order, Walk};

query_parameters! {
    pub(crate) DepositsParameters: [TransactionCursor::PARAMETERS, PAGE_SIZE];
}

/// The transactions from L1 of the chain's family, newest first; on chains of other families there is no such list
/// (docs/reference/http-contract.md#transactions-from-l1).
pub(in crate::rest) async fn list(
    State(app): State<App>,
    path: MatchedPath,
    head: RequestHead,
    query: Parameters<DepositsParameters>,
) -> Result<Response, Problem> {
    let beyond = TransactionCursor::read(&query)?.map(|cursor| cursor.0);
    let (head, size) = (head.get()?, query.page_size());
    let family = app.family(&head);
    let list = family.and_then(|family| family.deposits).filter(|list| list.path == path.as_str());
    let list = list.ok_or(Problem::UnknownAction)?;
    let plan = match list.first {
        FirstTransaction::Protocol => of_types_beyond_first,
        FirstTransaction::User => of_types,
    };
    let walk = Walk { order: Order::NewestFirst, beyond, limit: size + 1 };
    let batches = app.rows_of(&head, &plan(list.types, &head.blocks.span(), walk)).await?;
    let page = Page::cut(&batches, size);
    let origins = origins(&app, &head, list, &page).await?;
    let next = TransactionRow::next(&page).map(|cursor| cursor.writer(page.count));
    let items = write_page(
        |items| {
            page.rows(|batch, row| {
                let view = batch.view();
                let origin = origins.get(&view.block_number[row]).copied();
                write_rest_deposit(items.item(), list, &view, row, origin);
            });
        },
        next,
    );
    Ok(json(items))
}

/// The L1 blocks of the blocks of a page, where the list shows them: the first transactions of blocks say them.
async fn origins(
    app: &App,
    head: &Head,
    list: &DepositList,
    page: &Page<'_, TransactionRow>,
) -> Result<HashMap<BlockNumber, L1Origin>, Problem> {
    let mut firsts = TransactionPositions::new();
    if list.members.iter().any(|member| member.source == DepositSource::L1BlockNumber) {
        firsts.extend(page.items().into_iter().map(|(batch, row)| (batch.view().block_number[row], 0)));
    }
    let mut found = HashMap::new();
    if firsts.is_empty() {
        return Ok(found);
    }
    for batch in app.reader().all(&transactions(&firsts, &head.blocks.span())).await? {
        let view = batch.view();
        found.extend((0..batch.len()).filter_map(|row| {
            let origin = L1Origin::read(view.input.value(row))?;
            Some((view.block_number[row], origin))
        }));
    }
    Ok(found)
}
