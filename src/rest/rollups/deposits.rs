//! Lists of transactions that a rollup got from its L1.

use std::collections::HashMap;

use axum::extract::{MatchedPath, State};
use axum::response::Response;
use trawl_chains::{DepositList, DepositSource, FirstTransaction, L1Origin, NewestForm};

use crate::app::App;
use crate::error::Problem;
use crate::http::parameters::{NoParameters, Parameters, query_parameters};
use crate::http::query::PAGE_SIZE;
use crate::http::whole_body::json;
use crate::middleware::request_head::RequestHead;
use crate::rest::cursor::{Cursor, TransactionCursor};
use crate::rest::list::ListRow;
use crate::rest::page::Page;
use trawl_core::primitives::BlockNumber;
use trawl_core::schema::TransactionRow;
use trawl_core::statement::Statement;
use trawl_core::store::Head;
use trawl_json::list::write_page;
use trawl_json::rollups::deposits::write_rest_deposit;
use trawl_json::{Array, JsonWriter};
use trawl_query::transactions::positions::{TransactionPositions, transactions};
use trawl_query::transactions::{of_types, of_types_beyond_first};
use trawl_query::walk::{Order, Walk};

/// Transactions that a main page shows.
const NEWEST: u64 = 6;

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
    let list = list_at(&app, &head, path.as_str())?;
    let walk = Walk { order: Order::NewestFirst, beyond, limit: size + 1 };
    let batches = app.rows_of(&head, &statement(list, &head, walk)).await?;
    let page = Page::cut(&batches, size);
    let items = DepositItems::load(&app, &head, list, &page).await?;
    let next = TransactionRow::next(&page).map(|cursor| cursor.writer(page.count));
    Ok(json(write_page(|array| items.write(array), next)))
}

/// The newest transactions from L1, as the main page of a chain of the family shows them.
pub(in crate::rest) async fn newest(
    State(app): State<App>,
    path: MatchedPath,
    head: RequestHead,
    _: Parameters<NoParameters>,
) -> Result<Response, Problem> {
    let head = head.get()?;
    let (list, form) = newest_at(&app, &head, path.as_str())?;
    let batches = app.rows_of(&head, &statement(list, &head, Walk::newest(NEWEST))).await?;
    let page = Page::cut(&batches, NEWEST);
    let items = DepositItems::load(&app, &head, list, &page).await?;
    let mut writer = JsonWriter::new();
    match form {
        NewestForm::Array => writer.array(|array| items.write(array)),
        NewestForm::Items => writer.object(|page| page.key("items").array(|array| items.write(array))),
    }
    Ok(json(writer.into_bytes()))
}

/// The list of the chain's family whose newest members are at `path`, and the form of the answer.
fn newest_at(app: &App, head: &Head, path: &str) -> Result<(&'static DepositList, NewestForm), Problem> {
    let list = app.family(head).and_then(|family| family.deposits);
    let at = |list: &'static DepositList| {
        list.newest.as_ref().filter(|newest| newest.path == path).map(|newest| (list, newest.form))
    };
    list.and_then(at).ok_or(Problem::UnknownAction)
}

/// The list of the chain's family, if that is at `path`.
fn list_at(app: &App, head: &Head, path: &str) -> Result<&'static DepositList, Problem> {
    let list = app.family(head).and_then(|family| family.deposits).filter(|list| list.path == path);
    list.ok_or(Problem::UnknownAction)
}

fn statement(list: &DepositList, head: &Head, walk: Walk) -> Statement<TransactionRow> {
    let plan = match list.first {
        FirstTransaction::Protocol => of_types_beyond_first,
        FirstTransaction::User => of_types,
    };
    plan(list.types, &head.blocks.span(), walk)
}

/// Transactions of a page, with the L1 blocks that their blocks follow.
struct DepositItems<'p> {
    list: &'static DepositList,
    page: &'p Page<'p, TransactionRow>,
    origins: HashMap<BlockNumber, L1Origin>,
}

impl<'p> DepositItems<'p> {
    async fn load(
        app: &App,
        head: &Head,
        list: &'static DepositList,
        page: &'p Page<'p, TransactionRow>,
    ) -> Result<Self, Problem> {
        Ok(Self { list, page, origins: origins(app, head, list, page).await? })
    }

    fn write(&self, items: &mut Array<'_>) {
        self.page.rows(|batch, row| {
            let view = batch.view();
            let origin = self.origins.get(&view.block_number[row]).copied();
            write_rest_deposit(items.item(), self.list, &view, row, origin);
        });
    }
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
