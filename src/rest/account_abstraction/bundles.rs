//! `/api/v2/proxy/account-abstraction/bundles`: bundles, the newest first.

use std::collections::HashMap;

use axum::extract::State;
use axum::response::Response;

use super::page_token::{self, PAGE};
use crate::app::App;
use crate::cache::cache_control::CachePolicy;
use crate::error::Problem;
use crate::http::parameters::{Parameters, query_parameters};
use crate::http::query::Kind;
use crate::http::whole_body::json;
use crate::middleware::request_head::RequestHead;
use crate::read::user_operations::{BundleKey, BundleRead, entry_points, events};
use crate::rest::page::empty_page;
use trawl_core::primitives::LogPosition;
use trawl_core::primitives::user_operation::{BEFORE_EXECUTION, beneficiary};
use trawl_core::schema::LogRow;
use trawl_json::list::write_page;
use trawl_json::transactions::user_operations::Bundle;
use trawl_query::user_operations::EventPage;

query_parameters! {
    pub(crate) BundlesParameters: [&[("entry_point", Kind::Address)], PAGE];
}

/// Bundles that were handled (docs/reference/http-contract.md#user-operations).
pub(super) async fn bundles(
    State(app): State<App>,
    head: RequestHead,
    query: Parameters<BundlesParameters>,
) -> Result<Response, Problem> {
    let (before, size) = (page_token::before(&query)?, page_token::size(&query));
    let head = head.get()?;
    let entry_points = entry_points(&app, query.address("entry_point"));
    if entry_points.is_empty() {
        return Ok(empty_page());
    }
    let page = EventPage {
        entry_points,
        event: BEFORE_EXECUTION,
        keys: Vec::new(),
        transaction_index: None,
        blocks: &head.receipts.span(),
        before,
        limit: size + 1,
    };
    let logs: Vec<LogRow> = events(&app, &head, page).await?;
    let shown = &logs[..logs.len().min(usize::try_from(size).unwrap_or(usize::MAX))];
    let positions = shown.iter().map(|log| (log.block_number, log.transaction_index)).collect();
    let read = if shown.is_empty() { HashMap::new() } else { BundleRead::load(&app, &head, &positions).await? };
    let items: Vec<Bundle> = shown.iter().filter_map(|log| bundle(&app, log, &read)).collect();
    let addresses = app.addresses(items.iter().filter_map(|item| item.bundler), &head).await?;
    let last = shown.last().filter(|_| shown.len() < logs.len());
    let last = last.map(|log| LogPosition { block_number: log.block_number, log_index: log.log_index.into() });
    let policy = CachePolicy::of_page(&head, &head.receipts, before.map(|before| before.block_number));
    let next = last.map(|last| move |next: &mut trawl_json::Object<'_>| page_token::write(next, last, size));
    Ok(policy.mark(json(write_page(|list| items.iter().for_each(|item| item.write(list.item(), &addresses)), next))))
}

/// The bundle that begins with a log.
fn bundle(app: &App, log: &LogRow, read: &HashMap<BundleKey, BundleRead>) -> Option<Bundle> {
    let (block_number, transaction_index) = (log.block_number, log.transaction_index);
    let read = read.get(&BundleKey { block_number, transaction_index, entry_point: log.address })?;
    let index = read.bundles.iter().position(|(first, _)| *first == log.log_index)?;
    let version = app.options().entry_points.version(&log.address)?;
    let input = read.inputs.as_ref().and_then(|inputs| inputs.get(index));
    Some(Bundle {
        transaction_hash: log.transaction_hash,
        bundler: input.and_then(|input| beneficiary(version, input)),
        block_number,
        bundle_index: u32::try_from(index).unwrap_or(u32::MAX),
        timestamp: log.block_timestamp,
        operations: read.bundles[index].1,
    })
}
