//! `/api/v2/proxy/account-abstraction/operations`: operations, the newest first.

use axum::extract::State;
use axum::response::Response;

use super::page_token::{self, PAGE};
use crate::app::App;
use crate::cache::cache_control::CachePolicy;
use crate::error::Problem;
use crate::http::parameters::{Parameters, query_parameters};
use crate::http::query::{Kind, Query};
use crate::http::whole_body::json;
use crate::middleware::request_head::RequestHead;
use crate::read::completeness::require_part;
use crate::read::user_operations::{entry_points, events, handled};
use crate::rest::page::empty_page;
use trawl_core::primitives::user_operation::OPERATION;
use trawl_core::primitives::{BlockRange, LogPosition};
use trawl_core::readable::Span;
use trawl_core::schema::{BlockPart, LogRow};
use trawl_core::store::Head;
use trawl_json::list::write_page;
use trawl_json::transactions::user_operations::HandledOperation;
use trawl_query::user_operations::{EventKey, EventPage};

query_parameters! {
    pub(crate) OperationsParameters: [
        &[
            ("sender", Kind::Address),
            ("paymaster", Kind::Address),
            ("entry_point", Kind::Address),
            ("transaction_hash", Kind::Hash),
            ("block_number", Kind::Height),
        ],
        PAGE,
    ];
}

/// Operations that were handled (docs/reference/http-contract.md#user-operations).
pub(super) async fn operations(
    State(app): State<App>,
    head: RequestHead,
    query: Parameters<OperationsParameters>,
) -> Result<Response, Problem> {
    let (before, size) = (page_token::before(&query)?, page_token::size(&query));
    let head = head.get()?;
    let entry_points = entry_points(&app, query.address("entry_point"));
    let Some(scope) = Scope::of(&app, &head, &query).await? else { return Ok(empty_page()) };
    if entry_points.is_empty() {
        return Ok(empty_page());
    }
    let sender = query.address("sender").map(EventKey::Sender);
    let keys = sender.into_iter().chain(query.address("paymaster").map(EventKey::Paymaster)).collect();
    let page = EventPage {
        entry_points,
        event: OPERATION,
        keys,
        transaction_index: scope.transaction_index,
        blocks: &scope.blocks,
        before,
        limit: size + 1,
    };
    let logs: Vec<LogRow> = events(&app, &head, page).await?;
    let shown = &logs[..logs.len().min(usize::try_from(size).unwrap_or(usize::MAX))];
    let last = shown.last().filter(|_| shown.len() < logs.len());
    let last = last.map(|log| LogPosition { block_number: log.block_number, log_index: log.log_index.into() });
    let items: Vec<HandledOperation> = shown.iter().filter_map(|log| handled(&app, log)).collect();
    let addresses = items.iter().flat_map(|item| [item.event.sender, item.entry_point.address]);
    let addresses = app.addresses(addresses, &head).await?;
    let policy = CachePolicy::of_page(&head, &head.receipts, before.map(|before| before.block_number));
    let next = last.map(|last| move |next: &mut trawl_json::Object<'_>| page_token::write(next, last, size));
    Ok(policy.mark(json(write_page(|list| items.iter().for_each(|item| item.write(list.item(), &addresses)), next))))
}

/// The blocks of a request, and in them a single transaction.
struct Scope {
    blocks: Span,
    transaction_index: Option<u32>,
}

impl Scope {
    /// `None` where there is nothing to list.
    async fn of(app: &App, head: &Head, query: &Query) -> Result<Option<Self>, Problem> {
        let mut blocks = match query.height("block_number") {
            Some(number) => head.receipts.at(number),
            None => head.receipts.span(),
        };
        let mut transaction_index = None;
        if let Some(hash) = query.hash("transaction_hash") {
            let Some((batch, row)) = app.transaction(&hash, head).await? else { return Ok(None) };
            let (block, index) = (batch.view().block_number[row], batch.view().transaction_index[row]);
            require_part(head, BlockPart::Receipts, block)?;
            blocks = blocks.within(BlockRange::single(block));
            transaction_index = Some(index);
        }
        Ok((!blocks.is_empty()).then_some(Self { blocks, transaction_index }))
    }
}
