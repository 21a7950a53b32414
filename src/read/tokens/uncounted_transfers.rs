//! Transfers of tokens that ingest has not counted: those above the last counted block, and those that no standard's
//! count has.

use crate::app::App;
use crate::error::{Problem, UncountedReason};
use trawl_core::primitives::{Address, BlockNumber, BlockRange};
use trawl_core::readable::Span;
use trawl_core::schema::TokenTransferRow;
use trawl_core::statement::Statement;
use trawl_core::store::Head;
use trawl_query::tokens::TokenPart;
use trawl_query::tokens::transfers::TransferFilter;

/// Most transfers of an address or of a token that are added to what was counted: far more than there are in the blocks
/// between.
const MAX_TRANSFERS: u64 = 10_000;

/// The last counted block. It is read before balances: those may then say more than this, which their own heights tell.
///
/// # Errors
///
/// [`Problem::NotCounted`] on a chain that was not loaded from its first block on; when the store fails.
pub(crate) async fn reach(app: &App) -> Result<BlockNumber, Problem> {
    app.reader().token_progress().await?.reach.ok_or(Problem::NotCounted(UncountedReason::NoBeginning))
}

/// Transfers above `reach` that an address takes part in, the newest first.
///
/// # Errors
///
/// [`Problem::NotCounted`] if blocks are missing there, or there are too many; when the store fails.
pub(crate) async fn of_address(
    app: &App,
    head: &Head,
    address: &Address,
    reach: BlockNumber,
    filter: &TransferFilter,
) -> Result<Vec<TokenTransferRow>, Problem> {
    above(app, head, reach, |blocks| {
        trawl_query::tokens::transfers::of_address(address, filter, blocks, None, MAX_TRANSFERS)
    })
    .await
}

/// Transfers of a token above `reach`, the newest first.
///
/// # Errors
///
/// [`Problem::NotCounted`], as of [`of_address`]; when the store fails.
pub(crate) async fn of_token(
    app: &App,
    head: &Head,
    token: &Address,
    reach: BlockNumber,
) -> Result<Vec<TokenTransferRow>, Problem> {
    above(app, head, reach, |blocks| {
        trawl_query::tokens::transfers(TokenPart::Token(token), blocks, None, MAX_TRANSFERS)
    })
    .await
}

/// Whether something moved of which no log says whether it is an amount or an id.
///
/// # Errors
///
/// When the store fails.
pub(crate) async fn has_unusual_transfers(app: &App, head: &Head, token: &Address) -> Result<bool, Problem> {
    let newest = trawl_query::tokens::unusual_transfer(token, &head.receipts.span());
    Ok(!app.reader().rows(&newest).await?.is_empty())
}

async fn above(
    app: &App,
    head: &Head,
    reach: BlockNumber,
    read: impl FnOnce(&Span) -> Statement<TokenTransferRow>,
) -> Result<Vec<TokenTransferRow>, Problem> {
    let above = head.number().and_then(|number| BlockRange::new(reach + 1, number));
    if above.is_some_and(|above| !head.receipts.missing(above).is_empty()) {
        return Err(Problem::NotCounted(UncountedReason::Behind(reach)));
    }
    let transfers = app.reader().rows(&read(&head.receipts.span().from(reach + 1))).await?;
    if transfers.len() as u64 == MAX_TRANSFERS {
        return Err(Problem::NotCounted(UncountedReason::Behind(reach)));
    }
    Ok(transfers)
}
