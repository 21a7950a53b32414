//! `/api/v2/transactions/{transaction_hash}/state-changes`: balances that a transaction changes, of coins and of
//! tokens.

use std::collections::{BTreeMap, BTreeSet};

use axum::extract::State;
use axum::response::Response;

use super::coin_changes::coin_changes;
use super::state_change_cursor::StateChangeCursor;
use super::transaction::with_part;
use crate::app::App;
use crate::cache::cache_control::CachePolicy;
use crate::enrich::labels::LabelQuery;
use crate::error::Problem;
use crate::http::parameters::{Parameters, TransactionPath, query_parameters};
use crate::http::query::PAGE_SIZE;
use crate::http::whole_body::json;
use crate::middleware::request_head::RequestHead;
use crate::rest::cursor::Cursor;
use trawl_core::primitives::Address;
use trawl_core::readable::Span;
use trawl_core::schema::{BlockPart, BlockRow, TransactionRow};
use trawl_core::store::Head;
use trawl_json::Array;
use trawl_json::list::write_page;
use trawl_json::tokens::transfers::Tokens;
use trawl_json::transactions::state_changes::{ChangedToken, Difference, StateChange};

/// Most token transfers of a transaction whose changes are listed: 60 million gas pay for fewer, at one log for
/// each.
const MAX_TRANSFERS: u64 = 40_000;

query_parameters! {
    pub(crate) StateChangesParameters: [StateChangeCursor::PARAMETERS, PAGE_SIZE];
}

/// A change and its position in the list.
type PositionedChange = (StateChangeCursor, StateChange);

/// The balances that a transaction changes: coins of its sender, its recipient, who gets the fees, and others; then
/// tokens (docs/reference/http-contract.md#state-changes).
pub(in crate::rest) async fn state_changes(
    State(app): State<App>,
    head: RequestHead,
    TransactionPath(hash): TransactionPath,
    query: Parameters<StateChangesParameters>,
) -> Result<Response, Problem> {
    let after = StateChangeCursor::read(&query)?;
    let (head, size) = (head.get()?, query.page_size());
    let (batch, row) = with_part(&app, &hash, &head, BlockPart::Receipts).await?;
    let transaction: TransactionRow = batch.rows().nth(row).ok_or(Problem::Internal)?;
    let block = app.block_at(transaction.block_number, &head).await?.ok_or(Problem::NotFound)?;
    let block: BlockRow = block.rows().next().ok_or(Problem::NotFound)?;
    let mut changes: Vec<PositionedChange> = Vec::new();
    if after.as_ref().is_none_or(StateChangeCursor::is_of_coins) {
        let coins = coin_changes(&app, &head, &transaction, &block).await?;
        changes.extend(coins.into_iter().map(|(address, coins)| {
            let is_miner = address == block.producer;
            let change = StateChange { address, is_miner, balances: coins.balances, change: coins.change, token: None };
            (StateChangeCursor::of_coins(rank(&address, &transaction, &block), address), change)
        }));
    }
    let span = head.receipts.at(transaction.block_number);
    changes.extend(token_changes(&app, &head, &span, transaction.transaction_index).await?);
    changes.retain(|(position, _)| after.as_ref().is_none_or(|after| position > after));
    changes.sort_by(|one, other| one.0.cmp(&other.0));
    let has_more = changes.len() as u64 > size;
    changes.truncate(usize::try_from(size).unwrap_or(usize::MAX));
    let shown = changes.iter().map(|(_, change)| change.address);
    let tokens = changes.iter().filter_map(|(_, change)| Some(change.token.as_ref()?.address));
    let (shown, tokens): (BTreeSet<Address>, BTreeSet<Address>) = (shown.collect(), tokens.collect());
    let mut label_query = LabelQuery::default();
    label_query.tokens.extend(&tokens);
    let (addresses, tokens, _) = app.address_info(shown.into_iter().chain(tokens), label_query, &head).await?;
    changes.iter_mut().for_each(|(_, change)| hide_undetermined(change, &tokens));
    let next = changes.last().filter(|_| has_more).map(|(position, _)| position.clone().writer(changes.len() as u64));
    let write = |list: &mut Array<'_>| {
        changes.iter().for_each(|(_, change)| change.write(list.item(), &addresses, &tokens));
    };
    Ok(CachePolicy::of_block(&head, block.block_number).mark(json(write_page(write, next))))
}

/// The rank of the coins of an account in the list.
fn rank(address: &Address, transaction: &TransactionRow, block: &BlockRow) -> u8 {
    match address {
        address if *address == transaction.from_address => 0,
        address if Some(*address) == transaction.to_address.or(transaction.contract_address) => 1,
        address if *address == block.producer => 2,
        _ => 3,
    }
}

/// The changes of the tokens of each address by transfers, by ids where there are any. The zero address has none: its
/// changes are those of the supply.
async fn token_changes(app: &App, head: &Head, block: &Span, index: u32) -> Result<Vec<PositionedChange>, Problem> {
    let statement = trawl_query::tokens::transfers::of_transaction(block, index, MAX_TRANSFERS + 1);
    let transfers = app.values_of(head, &statement).await?;
    if transfers.len() as u64 > MAX_TRANSFERS {
        return Err(Problem::TooExpensive);
    }
    let mut changes: BTreeMap<StateChangeCursor, Difference> = BTreeMap::new();
    for transfer in transfers {
        let (id, value) = (transfer.token_id, transfer.value);
        for (address, is_sender) in [(transfer.from_address, true), (transfer.to_address, false)] {
            let token = ChangedToken { address: transfer.token_address, token_type: transfer.token_type.clone(), id };
            let change = changes.entry(StateChangeCursor::of_token(address, token)).or_default();
            let side = if is_sender { &mut change.given } else { &mut change.received };
            *side = side.saturating_add(value);
        }
    }
    changes.retain(|position, change| !position.address.is_zero() && !change.is_none());
    let of_token = |(position, change): (StateChangeCursor, Difference)| {
        let token = position.token.clone();
        let change =
            StateChange { address: position.address, is_miner: false, balances: None, change: Some(change), token };
        (position, change)
    };
    Ok(changes.into_iter().map(of_token).collect())
}

/// Removes the change of a token whose balances also change without transfers.
fn hide_undetermined(change: &mut StateChange, tokens: &Tokens) {
    if change.token.as_ref().is_some_and(|token| tokens.is_undetermined(&token.address, &token.token_type)) {
        change.change = None;
    }
}
