//! `/api/v2/advanced-filters`: transactions, call frames and token transfers in one list, newest first
//! (docs/reference/http-contract.md#advanced-filters).

use std::collections::{BTreeMap, BTreeSet, HashMap};

use alloy_primitives::Selector;
use axum::extract::State;
use axum::response::Response;

use super::cursor::Cursor;
use crate::app::App;
use crate::enrich::labels::LabelQuery;
use crate::enrich::selectors::TransactionKey;
use crate::error::Problem;
use crate::http::parameters::{Parameters, query_parameters};
use crate::http::query::{Kind, PAGE_SIZE, ParameterGroup};
use crate::http::whole_body::json;
use crate::middleware::request_head::RequestHead;
use crate::read::tokens::held_tokens::shown_tokens;
use trawl_core::primitives::{Address, BlockNumber, U256};
use trawl_core::store::Head;
use trawl_json::advanced_filters::{Movement, MovementFacts, Search, write_filtered_page, write_movement};
use trawl_query::account::transfers::TransactionGas;
use trawl_query::transactions::TransactionSelector;

pub(crate) mod export;
mod filter;
pub(crate) mod methods;
mod position;
mod request;
mod source;

pub(super) use export::csv;
use filter::Filter;
pub(super) use methods::methods;
use position::MovementCursor;
use request::FilterRequest;
use source::{ROWS_PER_READ, Sources};

/// What rows are to match.
const FILTER: ParameterGroup = &[
    ("transaction_types", Kind::Text),
    ("methods", Kind::Text),
    ("methods_names", Kind::Text),
    ("age_from", Kind::Text),
    ("age_to", Kind::Text),
    ("age", Kind::Name(&["1h", "24h", "7d", "1m", "3m", "6m", "null", ""])),
    ("from_address_hashes_to_include", Kind::Text),
    ("from_address_hashes_to_exclude", Kind::Text),
    ("to_address_hashes_to_include", Kind::Text),
    ("to_address_hashes_to_exclude", Kind::Text),
    ("address_relation", Kind::Name(&["or", "and", "null", ""])),
    ("amount_from", Kind::Text),
    ("amount_to", Kind::Text),
    ("token_contract_address_hashes_to_include", Kind::Text),
    ("token_contract_address_hashes_to_exclude", Kind::Text),
    ("token_contract_symbols_to_include", Kind::Text),
    ("token_contract_symbols_to_exclude", Kind::Text),
];

query_parameters! {
    pub(crate) AdvancedFiltersParameters: [FILTER, MovementCursor::PARAMETERS, PAGE_SIZE];
}

/// Most rows that a request examines: a page of a filter that few rows match ends there.
const MAX_EXAMINED: u64 = 5_000;

/// The rows that a filter allows.
pub(super) async fn list(
    State(app): State<App>,
    head: RequestHead,
    query: Parameters<AdvancedFiltersParameters>,
) -> Result<Response, Problem> {
    let request = FilterRequest::read(&query)?;
    let (head, size, filter) = (head.get()?, query.page_size(), &request.filter);
    let rows_per_read = if filter.passes_over() { ROWS_PER_READ } else { size + 1 };
    let sources = request.sources(&app, &head, rows_per_read).await?;
    let page = Page::read(&app, &head, filter, sources, size).await?;
    let next = page.next.map(|cursor| cursor.writer(page.rows.len() as u64));
    let facts = Facts::load(&app, &head, &page.rows).await?;
    let searched = filter.tokens.include.iter().chain(&filter.tokens.exclude);
    let searched: BTreeSet<Address> = searched.copied().collect();
    let tokens = shown_tokens(&app, &head, searched.iter().copied()).await?;
    let methods = named(&filter.methods, query.text("methods"), query.text("methods_names"));
    let search = Search { methods: &methods, tokens: (&searched, &tokens) };
    let write = |list: &mut trawl_json::Array<'_>| facts.write(&page.rows, list);
    Ok(json(write_filtered_page(write, next, &search)))
}

/// A page of the list.
struct Page {
    rows: Vec<Movement>,
    next: Option<MovementCursor>,
}

impl Page {
    async fn read(app: &App, head: &Head, filter: &Filter, mut sources: Sources, size: u64) -> Result<Self, Problem> {
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        let (mut rows, mut examined, mut last) = (Vec::new(), 0, None);
        loop {
            let mut candidates = Vec::new();
            let mut ended = false;
            while candidates.len() <= size && examined < MAX_EXAMINED && !ended {
                match sources.next(app, head).await? {
                    Some(row) => {
                        examined += 1;
                        last = Some(MovementCursor(row.key()));
                        candidates.extend(Some(row).filter(|row| filter.allows(row)));
                    }
                    None => ended = true,
                }
            }
            rows.extend(checked(app, head, filter, candidates).await?);
            if rows.len() > size {
                rows.truncate(size);
                let next = rows.last().map(|row| MovementCursor(row.key()));
                return Ok(Self { rows, next });
            }
            if ended || examined >= MAX_EXAMINED {
                return Ok(Self { rows, next: last.filter(|_| !ended) });
            }
        }
    }
}

/// The rows whose method and amount match.
async fn checked(app: &App, head: &Head, filter: &Filter, mut rows: Vec<Movement>) -> Result<Vec<Movement>, Problem> {
    if !filter.methods.is_empty() {
        let calls = app.selectors().calls(app.reader(), positions(&rows), head).await?;
        rows.retain(|row| selector(&calls, row).is_some_and(|selector| filter.methods.contains(&selector)));
    }
    if filter.has_amounts() {
        let tokens = shown_tokens(app, head, rows.iter().filter_map(|row| row.token().copied())).await?;
        let decimals = |row: &Movement| tokens.metadata.get(row.token()?)?.decimals;
        rows.retain(|row| filter.allows_amount(row, decimals(row)));
    }
    Ok(rows)
}

/// The selector of the function that the transaction of a row calls: none of a plain transfer, or of a creation.
fn selector(calls: &HashMap<TransactionKey, TransactionSelector>, row: &Movement) -> Option<Selector> {
    let call = calls.get(&(row.block_number, row.transaction_index))?;
    call.to_address.filter(|_| !row.is_plain_transfer())?;
    Selector::try_from(call.selector.get(..4)?).ok()
}

/// What a transaction paid for gas, in wei, if that is known.
fn fee(row: &TransactionGas) -> Option<U256> {
    let is_known = |column: &str| row.has_receipt == 1 && row.lacking.iter().all(|lacking| lacking != column);
    row.fee().total().filter(|_| is_known("gas_used") && is_known("effective_gas_price"))
}

/// The positions of the transactions of some rows.
fn positions<'r>(rows: impl IntoIterator<Item = &'r Movement>) -> BTreeSet<(BlockNumber, u32)> {
    rows.into_iter().map(|row| (row.block_number, row.transaction_index)).collect()
}

/// What is shown beside the rows of a page.
struct Facts {
    of_transactions: HashMap<(BlockNumber, u32), MovementFacts>,
    addresses: trawl_json::addresses::address::Addresses,
    tokens: trawl_json::tokens::transfers::Tokens,
}

impl Facts {
    async fn load(app: &App, head: &Head, rows: &[Movement]) -> Result<Self, Problem> {
        let positions = positions(rows);
        let gas = trawl_query::account::transfers::gas(&positions, &head.blocks.span());
        let (calls, gas) = tokio::try_join!(
            async { Ok::<_, Problem>(app.selectors().calls(app.reader(), positions.clone(), head).await?) },
            app.values_of(head, &gas)
        )?;
        let (mut shown, mut label_query) = (BTreeSet::new(), LabelQuery::default());
        for row in rows {
            shown.extend([Some(row.from), row.to, row.created, row.token().copied()].into_iter().flatten());
            label_query.tokens.extend(row.token());
        }
        calls.values().for_each(|call| label_query.call(call.to_address, &call.selector));
        let (addresses, tokens, vocabulary) = app.address_info(shown, label_query, head).await?;
        let mut of_transactions: HashMap<(BlockNumber, u32), MovementFacts> = HashMap::new();
        let plain: BTreeSet<_> = self::positions(rows.iter().filter(|row| row.is_plain_transfer()));
        for (at, call) in calls.iter().filter(|(at, _)| !plain.contains(at)) {
            let method = vocabulary.method(call.to_address.as_ref(), at.0, &call.selector);
            of_transactions.entry(*at).or_default().method = method;
        }
        for row in gas {
            of_transactions.entry((row.block_number, row.transaction_index)).or_default().fee = fee(&row);
        }
        Ok(Self { of_transactions, addresses, tokens })
    }

    fn write(&self, rows: &[Movement], list: &mut trawl_json::Array<'_>) {
        let unknown = MovementFacts::default();
        for row in rows {
            let facts = self.of_transactions.get(&(row.block_number, row.transaction_index)).unwrap_or(&unknown);
            write_movement(list.item(), row, facts, &self.addresses, &self.tokens);
        }
    }
}

/// The selectors of a search with the names that the client gave them, in the order of both lists.
fn named(methods: &BTreeSet<Selector>, given: Option<&str>, names: Option<&str>) -> BTreeMap<String, Option<String>> {
    let names: Vec<&str> = names.unwrap_or_default().split(',').collect();
    let position = |method: &str| given.unwrap_or_default().split(',').position(|one| one.eq_ignore_ascii_case(method));
    let name =
        |method: &str| names.get(position(method)?).filter(|name| !name.is_empty()).map(|name| (*name).to_owned());
    methods.iter().map(|method| (method.to_string(), name(&method.to_string()))).collect()
}
