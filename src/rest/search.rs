//! `/api/v2/search…`: blocks, transactions, user operations and addresses that match a typed text.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use axum::extract::State;
use axum::response::Response;

use super::cursor::{Cursor, TermCursor};
use super::page::Page;
use crate::app::App;
use crate::enrich::labels::LabelQuery;
use crate::error::Problem;
use crate::http::parameters::{Parameters, query_parameters};
use crate::http::query::{Kind, PAGE_SIZE, ParameterGroup, Query, fixed_hex};
use crate::http::whole_body::json;
use crate::middleware::request_head::RequestHead;
use trawl_core::primitives::domain_name::DomainName;
use trawl_core::primitives::{Address, B256, Timestamp};
use trawl_core::schema::{Column, OptionalTable};
use trawl_core::store::{Batch, Head};
use trawl_json::addresses::address::Addresses;
use trawl_json::list::write_page;
use trawl_json::search::SearchResult;
use trawl_json::tokens::transfers::Tokens;
use trawl_json::{Array, JsonWriter};
use trawl_query::search::{SearchTerm, beginning_with, normalized, terms};

const TEXT: ParameterGroup = &[("q", Kind::Text)];
query_parameters! {
    pub(crate) SearchParameters: [TEXT, TermCursor::PARAMETERS, PAGE_SIZE];
}
query_parameters! {
    pub(crate) QuickSearchParameters: [TEXT];
}

/// Names that a quick search examines.
const QUICK_NAMES: u64 = 100;
/// Items of a quick search.
const QUICK_ITEMS: usize = 50;

/// What the text names, then the names that begin with it in their order (docs/reference/http-contract.md#search).
pub(super) async fn search(
    State(app): State<App>,
    head: RequestHead,
    query: Parameters<SearchParameters>,
) -> Result<Response, Problem> {
    let after = TermCursor::read(&query)?;
    let (head, size) = (head.get()?, query.page_size());
    let text = typed(&query);
    let mut found = if after.is_none() { named_exactly(&app, &head, &text).await? } else { Vec::new() };
    let position = after.as_ref().map(|cursor| (cursor.term.as_str(), &cursor.address));
    let names = read_terms(&app, &text, position, size + 1).await?;
    let page = Page::cut(&names, size);
    let known = SearchedNames::load(&app, &head, page.items(), &found).await?;
    found.extend(known.named(&text, page.items()));
    let last = page.more.then(|| page.last(term)).flatten();
    let next = last.map(|(term, address)| TermCursor { term, address }.writer(page.count));
    Ok(json(write_page(|items| found.iter().for_each(|one| known.write(one, items)), next)))
}

/// The best results of a search: full matches before prefixes, then tokens with more holders.
pub(super) async fn quick(
    State(app): State<App>,
    head: RequestHead,
    query: Parameters<QuickSearchParameters>,
) -> Result<Response, Problem> {
    let (head, text) = (head.get()?, typed(&query));
    let mut found = named_exactly(&app, &head, &text).await?;
    let names = read_terms(&app, &text, None, QUICK_NAMES).await?;
    let page = Page::cut(&names, QUICK_NAMES);
    let known = SearchedNames::load(&app, &head, page.items(), &found).await?;
    let mut named = known.named(&text, page.items());
    named.sort_by_key(|one| known.rank(&text, one));
    found.extend(named);
    let mut writer = JsonWriter::new();
    writer.array(|items| {
        found.iter().take(QUICK_ITEMS).for_each(|one| known.write(one, items));
    });
    Ok(json(writer.into_bytes()))
}

/// The page that a search box opens without a list: that of an exact match.
pub(super) async fn check_redirect(
    State(app): State<App>,
    head: RequestHead,
    query: Parameters<QuickSearchParameters>,
) -> Result<Response, Problem> {
    let found = named_exactly(&app, &*head.get()?, &typed(&query)).await?;
    Ok(json(SearchResult::write_redirect(found.first())))
}

/// The text, normalized as terms are.
pub(super) fn typed(query: &Query) -> String {
    normalized(query.text("q").unwrap_or_default())
}

/// The block, the transaction or the address that the text is the number, the hash or the digits of.
async fn named_exactly(app: &App, head: &Head, text: &str) -> Result<Vec<SearchResult>, Problem> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    // Hashes and addresses are copied without their prefix too.
    let digits = if is_number { text.to_owned() } else { format!("0x{}", text.strip_prefix("0x").unwrap_or(text)) };
    if let Some(hash) = fixed_hex::<B256>(&digits) {
        return with_hash(app, head, &hash).await;
    }
    if let Some(address) = fixed_hex::<Address>(&digits) {
        return Ok(vec![SearchResult::Address(address)]);
    }
    match text.parse() {
        Ok(number) if is_number => {
            let block = app.block_at(number, head).await?;
            let found = block.map(|batch| {
                let view = batch.view();
                SearchResult::Block {
                    number,
                    hash: B256::from(*view.hash.bytes(0)),
                    timestamp: Timestamp::get(&view.timestamp, 0),
                    kind: "block",
                }
            });
            Ok(found.into_iter().collect())
        }
        _ => named(app, head, text).await,
    }
}

/// The address that a name of the name service has in the state after the head.
async fn named(app: &App, head: &Head, text: &str) -> Result<Vec<SearchResult>, Problem> {
    let Some(name) = DomainName::new(text) else { return Ok(Vec::new()) };
    let address = app.named_address(head, &name).await?;
    let found = address.map(|address| SearchResult::Domain { address, name: name.as_str().to_owned() });
    Ok(found.into_iter().collect())
}

/// The transaction with a hash, or the block, also one that another replaced, or else the user operation.
async fn with_hash(app: &App, head: &Head, hash: &B256) -> Result<Vec<SearchResult>, Problem> {
    let reorged = trawl_query::blocks::reorged::by_hash(hash);
    let (transaction, block, reorged) =
        tokio::try_join!(app.transaction(hash, head), app.block_with_hash(hash, head), async {
            Ok(app.reader().rows(&reorged).await?)
        })?;
    if let Some((batch, row)) = transaction {
        let timestamp = Timestamp::get(&batch.view().block_timestamp, row);
        return Ok(vec![SearchResult::Transaction { hash: *hash, timestamp }]);
    }
    if let Some(number) = block {
        let text = number.to_string();
        return Box::pin(named_exactly(app, head, &text)).await;
    }
    let Some(number) = reorged.first().map(|block| block.block_number) else {
        return Ok(operation(app, head, hash).await?.into_iter().collect());
    };
    let blocks = app.reader().rows(&trawl_query::blocks::reorged::at(&head.blocks.span(), number)).await?;
    let found = blocks.into_iter().find(|block| block.hash == *hash);
    let found =
        found.map(|block| SearchResult::Block { number, hash: *hash, timestamp: block.timestamp, kind: "reorg" });
    Ok(found.into_iter().collect())
}

/// The user operation with a hash, where logs are ordered by topic: without that order it is not searched for.
async fn operation(app: &App, head: &Head, hash: &B256) -> Result<Option<SearchResult>, Problem> {
    // A word that begins like this is an address or a number, which as a topic may have any number of logs.
    let is_address = hash.starts_with(&[0; 12]);
    if is_address || !head.tables.has(OptionalTable::LogTopics) {
        return Ok(None);
    }
    let handled = app.handled_operation(head, *hash).await?;
    Ok(handled.map(|found| SearchResult::Operation { hash: *hash, timestamp: found.timestamp }))
}

/// The terms that begin with the text; none without a text.
async fn read_terms(
    app: &App,
    text: &str,
    after: Option<(&str, &Address)>,
    limit: u64,
) -> Result<Vec<Batch<SearchTerm>>, Problem> {
    if text.is_empty() {
        return Ok(Vec::new());
    }
    Ok(app.reader().all(&beginning_with(text, after, limit)).await?)
}

fn term(batch: &Batch<SearchTerm>, row: usize) -> (String, Address) {
    let view = batch.view();
    (String::from_utf8_lossy(view.term.value(row)).into_owned(), Address::get(&view.address, row))
}

/// What is known of the addresses that were found.
struct SearchedNames {
    addresses: Addresses,
    tokens: Tokens,
}

impl SearchedNames {
    async fn load(
        app: &App,
        head: &Head,
        rows: Vec<(&Batch<SearchTerm>, usize)>,
        found: &[SearchResult],
    ) -> Result<Self, Problem> {
        let exact = found.iter().filter_map(|one| match one {
            SearchResult::Address(address) | SearchResult::Domain { address, .. } => Some(*address),
            _ => None,
        });
        let shown: BTreeSet<Address> = rows.into_iter().map(|(batch, row)| term(batch, row).1).chain(exact).collect();
        let mut label_query = LabelQuery::default();
        label_query.tokens.clone_from(&shown);
        let (addresses, tokens, _) = app.address_info(shown, label_query, head).await?;
        Ok(Self { addresses, tokens })
    }

    fn write(&self, found: &SearchResult, items: &mut Array<'_>) {
        found.write(items.item(), &self.addresses, &self.tokens);
    }

    /// All current names of the address.
    fn names(&self, address: &Address) -> impl Iterator<Item = &str> {
        let token = self.tokens.metadata.get(address);
        let of_token = token.into_iter().flat_map(|token| [token.name.as_deref(), token.symbol.as_deref()]).flatten();
        of_token.chain(self.addresses.labelled_names(address))
    }

    /// The first in order of the terms of an address that begin with `text`, and the name that it belongs to.
    fn first_term(&self, text: &str, address: &Address) -> Option<(String, String)> {
        let of_name = |name: &str| -> Vec<(String, String)> {
            terms(name).into_iter().map(|term| (term, name.to_owned())).collect()
        };
        self.names(address).flat_map(of_name).filter(|(term, _)| term.starts_with(text)).min()
    }

    /// The addresses of rows with the names that match: each at the first of its terms only, so that an address with
    /// several matching names is listed once, and none by a replaced name.
    fn named(&self, text: &str, rows: Vec<(&Batch<SearchTerm>, usize)>) -> Vec<SearchResult> {
        let current = |(batch, row): (&Batch<SearchTerm>, usize)| {
            let (found, address) = term(batch, row);
            let (_, name) = self.first_term(text, &address).filter(|(first, _)| *first == found)?;
            Some(SearchResult::Named { address, name })
        };
        rows.into_iter().filter_map(current).collect()
    }

    /// The position in a quick search: lower is better.
    fn rank(&self, text: &str, found: &SearchResult) -> (bool, Reverse<Option<u64>>) {
        let SearchResult::Named { address, .. } = found else { return (false, Reverse(None)) };
        let is_complete = self.names(address).any(|name| terms(name).first().is_some_and(|term| term == text));
        (!is_complete, Reverse(self.tokens.holders(address)))
    }
}
