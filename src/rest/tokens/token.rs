//! `/api/v2/tokens/{token}` and what is summed over it.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;

use super::counts_at_head::counts_at_head;
use super::uncounted_transfers;
use crate::app::App;
use crate::enrich::labels::LabelQuery;
use crate::error::Problem;
use crate::http::parameters::{AddressPath, NoParameters, Parameters};
use crate::middleware::request_head::RequestHead;
use crate::read::addresses::state_token::token_after;
use crate::read::completeness::is_complete;
use crate::rest::page::json;
use trawl_core::primitives::{Address, BlockNumber};
use trawl_core::schema::TokenStatisticsRow;
use trawl_core::store::{Batch, Head};
use trawl_json::JsonWriter;
use trawl_json::tokens::TokenTotals;
use trawl_json::tokens::transfers::Tokens;
use trawl_query::tokens::TokenPart;

/// Most transfers of the newest blocks that are added to the sum of settled ones; with more, the sum is not known.
const MOST_NEWEST: u64 = 10_000;

/// One token (docs/reference/http-contract.md#tokens).
pub(in crate::rest) async fn token(
    State(app): State<App>,
    head: RequestHead,
    AddressPath(address): AddressPath,
    _: Parameters<NoParameters>,
) -> Result<Response, Problem> {
    let head = head.get()?;
    let (mut tokens, kind) = known(&app, &head, &address).await?;
    let block = count_at_head(&app, &head, &address, &kind, &mut tokens).await?;
    let mut writer = JsonWriter::new();
    tokens.write_page(&mut writer, &address, &kind, block);
    Ok(json(writer.into_bytes()))
}

/// How many hold a token and how often it was moved (docs/reference/http-contract.md#tokens).
pub(in crate::rest) async fn counters(
    State(app): State<App>,
    head: RequestHead,
    AddressPath(address): AddressPath,
    _: Parameters<NoParameters>,
) -> Result<Response, Problem> {
    let head = head.get()?;
    let (mut tokens, kind) = known(&app, &head, &address).await?;
    count_at_head(&app, &head, &address, &kind, &mut tokens).await?;
    let holders = tokens.holders_count(&address, &kind);
    let transfers = transfers_count(&app, &head, TokenPart::Token(&address)).await?;
    let mut writer = JsonWriter::new();
    TokenTotals { holders, transfers }.write(&mut writer);
    Ok(json(writer.into_bytes()))
}

/// What is known of a token, and its standard: as the contract says of itself now, as it was asked, as its transfers
/// were counted, or as its newest transfer has it. The standard is empty where all its transfers index other parameters
/// than any standard.
///
/// # Errors
///
/// [`Problem::NotFound`] for a contract without transfers; when the store fails.
pub(crate) async fn known(app: &App, head: &Head, address: &Address) -> Result<(Tokens, String), Problem> {
    let mut wanted = LabelQuery::default();
    wanted.tokens.insert(*address);
    let (_, mut tokens, _) = app.address_info([*address], wanted, head).await?;
    let standard = standard(app, head, address, &tokens).await?;
    let known = tokens.metadata.get(address).map(|known| &**known);
    if let Some(row) = token_after(app, head, *address, &standard, known).await? {
        tokens.metadata.insert(*address, Arc::new(row));
    }
    Ok((tokens, standard))
}

/// Puts the figures after the head into what is known of a token; the block after which they are, or the supply where
/// that is all: `None` where nothing says it.
///
/// # Errors
///
/// When the store fails.
pub(crate) async fn count_at_head(
    app: &App,
    head: &Head,
    address: &Address,
    standard: &str,
    tokens: &mut Tokens,
) -> Result<Option<BlockNumber>, Problem> {
    let figures = if standard.is_empty() { None } else { counts_at_head(app, head, address, standard).await? };
    let asked = |tokens: &Tokens| {
        tokens.metadata.get(address).filter(|token| token.total_supply.is_some()).map(|token| token.block_number)
    };
    let Some(figures) = figures else { return Ok(asked(tokens)) };
    let block = match (figures.holders_count, figures.total_supply) {
        (None, None) => asked(tokens),
        // The supply is what the contract said at a height of its own.
        (Some(_), None) => Some(figures.block_number).filter(|block| asked(tokens).is_none_or(|asked| asked == *block)),
        _ => Some(figures.block_number),
    };
    let others = tokens.counted.get(address).into_iter().flat_map(|rows| rows.iter());
    let rows: Vec<TokenStatisticsRow> =
        others.filter(|row| row.token_type != standard).cloned().chain([figures]).collect();
    tokens.counted.insert(*address, rows.into());
    Ok(block)
}

/// The standard of a token of which this is known.
async fn standard(app: &App, head: &Head, address: &Address, tokens: &Tokens) -> Result<String, Problem> {
    if let Some(kind) = tokens.standard(address) {
        return Ok(kind.to_owned());
    }
    let newest = trawl_query::tokens::transfers(TokenPart::Token(address), &head.receipts.span(), None, 1);
    if let Some(newest) = app.reader().rows(&newest).await?.into_iter().next() {
        return Ok(newest.token_type);
    }
    if uncounted_transfers::has_unusual_transfers(app, head, address).await? {
        Ok(String::new())
    } else {
        Err(Problem::NotFound)
    }
}

/// How many transfers there are; `None` if some blocks are not readable.
///
/// # Errors
///
/// When the store fails.
pub(in crate::rest) async fn transfers_count(
    app: &App,
    head: &Head,
    moved: TokenPart<'_>,
) -> Result<Option<u64>, Problem> {
    if !is_complete(head, &head.receipts) {
        return Ok(None);
    }
    let blocks = head.receipts.span();
    let newest = trawl_query::tokens::transfers(moved, &blocks.without_settled(), None, MOST_NEWEST);
    let settled = trawl_query::tokens::transfers_total(moved, &blocks.settled);
    let newest = async { Ok(app.reader().all(&newest).await?) };
    let (settled, newest) = tokio::try_join!(app.rows_of(head, &settled), newest)?;
    let settled = settled.iter().flat_map(Batch::rows).next().map_or(0, |sum| sum.transfers);
    let newest: u64 = newest.iter().map(|batch| batch.len() as u64).sum();
    Ok((newest < MOST_NEWEST).then_some(settled + newest))
}
