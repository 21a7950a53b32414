//! `/api/v2/tokens`: all tokens, by number of holders.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use axum::extract::State;
use axum::response::Response;

use crate::app::App;
use crate::enrich::labels::LabelQuery;
use crate::error::Problem;
use crate::http::parameters::{Parameters, query_parameters};
use crate::http::query::{Kind, PAGE_SIZE, ParameterGroup, Query, fixed_hex};
use crate::http::whole_body::json;
use crate::middleware::request_head::RequestHead;
use crate::rest::cursor::{Cursor, missing};
use crate::rest::list::sort_order;
use crate::rest::search::typed;
use trawl_core::primitives::Address;
use trawl_core::statement::Statement;
use trawl_core::store::{Batch, Head};
use trawl_json::list::write_page;
use trawl_json::tokens::transfers::Tokens;
use trawl_json::{Array, JsonWriter, Object};
use trawl_query::search::terms;
use trawl_query::tokens::ranking::{RankPosition, RankedToken, TokenFilter, counted, uncounted};
use trawl_query::walk::SortOrder;

/// Tokens of an order that are read at once and cached: the first pages of any client.
const CACHED_TOKENS: u64 = 2_000;

query_parameters! {
    pub(crate) TokensParameters: [
        &[
            ("q", Kind::Text),
            ("type", Kind::Standards),
            ("sort", Kind::Name(&["holders_count"])),
            ("order", Kind::Name(&["desc", "asc"])),
            ("limit", Kind::Count),
        ],
        TokenCursor::PARAMETERS,
        PAGE_SIZE,
    ];
}

/// The cursor of the list of all tokens: the number of holders of one, if that is known.
struct TokenCursor(RankPosition);

impl Cursor for TokenCursor {
    const PARAMETERS: ParameterGroup = &[("contract_address_hash", Kind::Address), ("holders_count", Kind::Known)];

    /// A cursor without a count, as clients omit null, is that of a token whose holders are not known.
    fn read(query: &Query) -> Result<Option<Self>, Problem> {
        match (query.address("contract_address_hash"), query.known("holders_count")) {
            (Some(token), holders) => Ok(Some(Self(RankPosition { holders, token }))),
            (None, None) => Ok(None),
            (None, Some(_)) => Err(missing("contract_address_hash")),
        }
    }

    fn write(&self, next: &mut Object<'_>, count: u64) {
        next.key("contract_address_hash").string(&self.0.token.to_checksum(None));
        next.key("holders_count").option(self.0.holders, JsonWriter::decimal);
        next.key("items_count").number(count);
    }
}

/// All tokens (docs/reference/http-contract.md#tokens).
pub(in crate::rest) async fn tokens(
    State(app): State<App>,
    head: RequestHead,
    query: Parameters<TokensParameters>,
) -> Result<Response, Problem> {
    let beyond = TokenCursor::read(&query)?.map(|cursor| cursor.0);
    let (head, size) = (head.get()?, query.height("limit").unwrap_or(query.page_size()));
    let text = typed(&query);
    let token = fixed_hex(&text);
    let beginning = Some(&text).filter(|text| !text.is_empty() && token.is_none()).cloned();
    let filter = TokenFilter { types: query.standards("type"), beginning, token };
    let order = sort_order(&query);
    let mut found = ranked(&app, &head, &filter, order, beyond, size + 1).await?;
    let has_more = found.len() as u64 > size;
    found.truncate(usize::try_from(size).unwrap_or(usize::MAX));
    let shown: BTreeSet<Address> = found.iter().map(|row| row.address).collect();
    let mut label_query = LabelQuery::default();
    label_query.tokens.clone_from(&shown);
    let (_, tokens, _) = app.address_info(shown, label_query, &head).await?;
    let next = found.last().filter(|_| has_more).map(|row| TokenCursor(position(row)).writer(found.len() as u64));
    let is_shown =
        |row: &&RankedToken| filter.beginning.as_ref().is_none_or(|text| is_called(&tokens, &row.address, text));
    let write = |list: &mut Array<'_>| {
        found.iter().filter(is_shown).for_each(|row| tokens.write(list.item(), &row.address, &row.token_type));
    };
    Ok(json(write_page(write, next)))
}

fn position(row: &RankedToken) -> RankPosition {
    RankPosition { holders: row.holders_count, token: row.address }
}

/// Whether a word of the name or the symbol of the token begins with the text. Replaced names do not count.
fn is_called(tokens: &Tokens, token: &Address, text: &str) -> bool {
    let metadata = tokens.metadata.get(token);
    let names = metadata.into_iter().flat_map(|token| [token.name.as_deref(), token.symbol.as_deref()]).flatten();
    names.flat_map(terms).any(|term| term.starts_with(text))
}

/// The tokens beyond a position: those whose holders are known first.
async fn ranked(
    app: &App,
    head: &Head,
    filter: &TokenFilter,
    order: SortOrder,
    beyond: Option<RankPosition>,
    limit: u64,
) -> Result<Vec<RankedToken>, Problem> {
    let (position, after) = match beyond {
        None => (Some(None), None),
        Some(RankPosition { holders: Some(holders), token }) => (Some(Some((holders, token))), None),
        Some(RankPosition { holders: None, token }) => (None, Some(token)),
    };
    let mut found = match position {
        Some(position) => counted_rows(app, head, filter, order, position, limit).await?,
        None => Vec::new(),
    };
    let left = limit - found.len() as u64;
    if left > 0 {
        found.extend(cached_rows(app, generation(head), &uncounted(filter, after, left)).await?);
    }
    Ok(found)
}

/// The tokens beyond a position whose holders are known. The first ones are cached.
async fn counted_rows(
    app: &App,
    head: &Head,
    filter: &TokenFilter,
    order: SortOrder,
    beyond: Option<(u64, Address)>,
    limit: u64,
) -> Result<Vec<RankedToken>, Problem> {
    // Names come with the metadata of tokens; counts alone change with a step.
    let generation = if filter.beginning.is_some() { generation(head) } else { head.token_steps };
    let first = cached_rows(app, generation, &counted(filter, order, None, CACHED_TOKENS)).await?;
    let has_all = (first.len() as u64) < CACHED_TOKENS;
    let is_beyond = |row: &RankedToken| beyond.is_none_or(|(holders, token)| is_behind(order, row, holders, token));
    let rows: Vec<RankedToken> =
        first.into_iter().filter(is_beyond).take(usize::try_from(limit).unwrap_or(usize::MAX)).collect();
    if has_all || rows.len() as u64 == limit {
        return Ok(rows);
    }
    cached_rows(app, generation, &counted(filter, order, beyond, limit)).await
}

fn is_behind(order: SortOrder, row: &RankedToken, holders: u64, token: Address) -> bool {
    let count = row.holders_count.unwrap_or_default();
    order.compare(&count, &holders).then_with(|| row.address.cmp(&token)) == Ordering::Greater
}

/// A number that changes when tokens are counted or their metadata is read.
fn generation(head: &Head) -> u64 {
    head.token_steps.rotate_left(32) ^ head.tokens
}

async fn cached_rows(
    app: &App,
    generation: u64,
    statement: &Statement<RankedToken>,
) -> Result<Vec<RankedToken>, Problem> {
    Ok(app.rows_under(generation, statement).await?.iter().flat_map(Batch::rows).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn behind_a_position_come_fewer_holders_or_more_and_then_contracts() {
        let row = |holders, byte| RankedToken {
            address: Address::repeat_byte(byte),
            token_type: "ERC-20".into(),
            holders_count: Some(holders),
        };
        let position = (5, Address::repeat_byte(7));
        let behind = |order, holders, byte| is_behind(order, &row(holders, byte), position.0, position.1);
        assert!(behind(SortOrder::LargestFirst, 4, 1) && !behind(SortOrder::LargestFirst, 6, 9));
        assert!(behind(SortOrder::SmallestFirst, 6, 1) && !behind(SortOrder::SmallestFirst, 4, 9));
        for order in [SortOrder::LargestFirst, SortOrder::SmallestFirst] {
            assert!(behind(order, 5, 8) && !behind(order, 5, 7) && !behind(order, 5, 6));
        }
    }
}
