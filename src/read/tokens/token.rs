//! The facts of a token after the head.

use std::sync::Arc;

use super::counts_at_head::counts_at_head;
use super::uncounted_transfers;
use crate::app::App;
use crate::enrich::labels::LabelQuery;
use crate::error::Problem;
use crate::read::addresses::state_token::token_after;
use trawl_core::primitives::{Address, BlockNumber};
use trawl_core::schema::TokenStatisticsRow;
use trawl_core::store::Head;
use trawl_json::tokens::transfers::Tokens;
use trawl_query::tokens::TokenPart;

/// The facts of a token and its standard: by the answers of the contract now, by its row in `tokens`, by its counted
/// transfers, or by its newest transfer. The standard is empty where all its transfers index other parameters than any
/// standard.
///
/// # Errors
///
/// [`Problem::NotFound`] for a contract without transfers; when the store fails.
pub(crate) async fn known(app: &App, head: &Head, address: &Address) -> Result<(Tokens, String), Problem> {
    let mut label_query = LabelQuery::default();
    label_query.tokens.insert(*address);
    let (_, mut tokens, _) = app.address_info([*address], label_query, head).await?;
    let standard = standard(app, head, address, &tokens).await?;
    let known = tokens.metadata.get(address).map(|known| &**known);
    if let Some(row) = token_after(app, head, *address, &standard, known).await? {
        tokens.metadata.insert(*address, Arc::new(row));
    }
    Ok((tokens, standard))
}

/// Puts the figures after the head into the facts of a token. Returns the block after which they, or the supply alone,
/// are valid; `None` where neither is known.
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
    let supply_block = |tokens: &Tokens| {
        tokens.metadata.get(address).filter(|token| token.total_supply.is_some()).map(|token| token.block_number)
    };
    let Some(figures) = figures else { return Ok(supply_block(tokens)) };
    let block = match (figures.holders_count, figures.total_supply) {
        (None, None) => supply_block(tokens),
        // The supply is what the contract said at a height of its own.
        (Some(_), None) => {
            Some(figures.block_number).filter(|block| supply_block(tokens).is_none_or(|at| at == *block))
        }
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
