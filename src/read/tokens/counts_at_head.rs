//! The number of holders and the supply of a token after the head: what ingest counted, and the transfers after that.
//! So the figures of a token match its lists, which include the newest blocks.

use super::holders::balances_around;
use super::uncounted_transfers;
use crate::app::App;
use crate::error::{Problem, UncountedReason};
use trawl_core::primitives::{Address, BlockNumber, U256};
use trawl_core::readable::Span;
use trawl_core::schema::{TokenStatisticsRow, TokenTransferRow};
use trawl_core::store::Head;
use trawl_query::addresses::{RequestedFacts, facts};
use trawl_query::tokens::holders::Asset;

/// How often the figures are read again while ingest counts: its rows of a step appear one table after another.
const MAX_READS: usize = 4;

/// The figures of a token of a standard, and the block after which they are: `block_number`. That is the head, or the
/// last counted block where what came after it is too much to be added. `None` of a chain that was not loaded from its
/// first block on.
///
/// # Errors
///
/// When the store fails.
pub(super) async fn counts_at_head(
    app: &App,
    head: &Head,
    token: &Address,
    standard: &str,
) -> Result<Option<TokenStatisticsRow>, Problem> {
    let mut figures = None;
    for _ in 0..MAX_READS {
        let reach = match uncounted_transfers::reach(app).await {
            Err(Problem::NotCounted(_)) => return Ok(None),
            reach => reach?,
        };
        let counted = counted(app, token, standard, reach).await?;
        match added(app, head, &counted).await? {
            Some(figures) => return Ok(Some(figures)),
            None => figures = Some(counted),
        }
    }
    Ok(figures)
}

/// The figures that ingest counted, up to the last block that it recorded as counted or whose changes are there.
async fn counted(
    app: &App,
    token: &Address,
    standard: &str,
    reach: BlockNumber,
) -> Result<TokenStatisticsRow, Problem> {
    let requested = RequestedFacts { counted: vec![*token], ..RequestedFacts::default() };
    let rows = match facts(&requested, &Span::default()) {
        Some(statement) => app.reader().rows(&statement).await?,
        None => Vec::new(),
    };
    let newest = rows.iter().filter(|row| row.kind == standard).max_by_key(|row| row.block_number);
    Ok(TokenStatisticsRow {
        token_address: *token,
        token_type: standard.to_owned(),
        block_number: newest.map_or(reach, |row| row.block_number.max(reach)),
        holders_count: newest.map_or(Some(0), |row| row.holders_count),
        total_supply: newest.map_or((standard != "ERC-1155").then_some(U256::ZERO), |row| row.total_supply),
    })
}

/// The figures including the uncounted transfers; the counted figures if there are too many of these, and `None` if
/// balances are of another block than the figures.
async fn added(app: &App, head: &Head, counted: &TokenStatisticsRow) -> Result<Option<TokenStatisticsRow>, Problem> {
    let (token, reach) = (&counted.token_address, counted.block_number);
    let asset = Asset::Token(token, &counted.token_type);
    let mut figures = TokenStatisticsRow { block_number: head.number().unwrap_or(reach), ..counted.clone() };
    let Some(mut holders) = counted.holders_count else { return Ok(Some(figures)) };
    let transfers = match uncounted_transfers::of_token(app, head, token, reach).await {
        Err(Problem::NotCounted(UncountedReason::Behind(_))) => return Ok(Some(counted.clone())),
        transfers => transfers?,
    };
    let transfers = transfers.into_iter().filter(|transfer| transfer.token_type == counted.token_type);
    let transfers: Vec<TokenTransferRow> = transfers.collect();
    let balances = balances_around(app, &asset, &transfers).await?;
    if balances.iter().any(|balance| balance.since > reach) {
        return Ok(None);
    }
    for balance in &balances {
        let Some(after) = balance.after else {
            return Ok(Some(TokenStatisticsRow { holders_count: None, total_supply: None, ..figures }));
        };
        holders = (holders + u64::from(!after.is_zero())).saturating_sub(u64::from(!balance.before.is_zero()));
    }
    figures.holders_count = Some(holders);
    figures.total_supply = counted.total_supply.map(|supply| supply_after(supply, &transfers));
    Ok(Some(figures))
}

/// The zero address sends what is minted, and receives what is burnt. The newest come first: an amount that is burnt
/// here may be minted by a later one.
fn supply_after(supply: U256, transfers: &[TokenTransferRow]) -> U256 {
    transfers.iter().fold(supply, |supply, transfer| {
        match (transfer.from_address.is_zero(), transfer.to_address.is_zero()) {
            (true, false) => supply.wrapping_add(transfer.value),
            (false, true) => supply.wrapping_sub(transfer.value),
            _ => supply,
        }
    })
}
