//! `tokentx`, `tokennfttx`, `token1155tx`: the transfers of an account, of a token, or of both.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use axum::response::Response;
use futures_util::future::try_join_all;

use super::sides::{Side, Sides, sides};
use crate::app::App;
use crate::enrich::labels::LabelQuery;
use crate::enrich::selectors::TransactionKey;
use crate::error::Problem;
use crate::etherscan::answer::{NO_TRANSACTIONS, Refusal};
use crate::etherscan::params::Params;
use crate::etherscan::request::Request;
use crate::etherscan::rows::{ListBody, Parts, respond};
use crate::etherscan::transaction::gas::{GasOf, gas};
use crate::etherscan::window::Window;
use crate::http::body::StreamError;
use crate::read::tokens::held_tokens::shown_tokens;
use crate::read::tokens::token::known;
use trawl_core::primitives::Address;
use trawl_core::readable::Span;
use trawl_core::schema::{Column, TokenTransferRow};
use trawl_core::statement::Statement;
use trawl_core::store::{Batch, Head};
use trawl_json::etherscan::{TransferFacts, decimals, write_token_transfer};
use trawl_json::tokens::transfers::Tokens;
use trawl_query::account::transfers;
use trawl_query::transactions::TransactionSelector;
use trawl_query::transactions::pairs::Pair;
use trawl_query::transactions::positions::TransactionPositions;
use trawl_query::walk::Order;

/// Transfers that are written with what one round of lookups says.
const ROWS_OF_PART: usize = 1_000;

/// Those of ERC-20.
pub(crate) async fn of_erc20(request: Request) -> Result<Response, Refusal> {
    list(request, "ERC-20").await
}

/// Those of ERC-721.
pub(crate) async fn of_erc721(request: Request) -> Result<Response, Refusal> {
    list(request, "ERC-721").await
}

/// Those of ERC-1155.
pub(crate) async fn of_erc1155(request: Request) -> Result<Response, Refusal> {
    list(request, "ERC-1155").await
}

async fn list(request: Request, standard: &'static str) -> Result<Response, Refusal> {
    let Request { app, head, params, requester, .. } = request;
    let window = Window::read(&params, &app, &head, &head.receipts).await?;
    let statements = statements(&params, standard, &window)?;
    // Rows of a fixed length: ten thousand are some megabytes.
    let found = try_join_all(statements.iter().map(|statement| app.reader().all(statement)));
    let batches: Vec<Batch<TokenTransferRow>> = found.await.map_err(Problem::from)?.into_iter().flatten().collect();
    let rows = in_order(&batches, window.order);
    window.check_reach(rows.len())?;
    let [skip, take] = [window.skip, window.take].map(|rows| usize::try_from(rows).unwrap_or(usize::MAX));
    let rows: Vec<(usize, usize)> = rows.into_iter().skip(skip).take(take).collect();
    if rows.is_empty() {
        return Ok(respond::<Transfers>(&app, requester, &window, None, NO_TRANSACTIONS));
    }
    let of_contract = match params.address("contractaddress") {
        Some(token) => of_contract(&app, &head, token, standard).await?,
        None => Tokens::default(),
    };
    let blocks = window.blocks.clone();
    let parts = Transfers { app: app.clone(), head, blocks, batches, rest: rows.into_iter(), of_contract };
    Ok(respond(&app, requester, &window, Some(parts), NO_TRANSACTIONS))
}

/// The transfers of an account or of one or both of two sides, of a token, or of both.
fn statements(
    params: &Params,
    standard: &'static str,
    window: &Window,
) -> Result<Vec<Statement<TokenTransferRow>>, Refusal> {
    let (token, blocks, walk) = (params.address("contractaddress"), &window.blocks, window.walk());
    let of = |side: &Side| transfers::of(&side.account, side.direction, standard, token.as_ref(), blocks, walk);
    let sides = match sides(params)? {
        Sides::Each(sides) => sides,
        Sides::Both(Pair { sender, recipient }) => {
            return Ok(vec![transfers::between(&sender, &recipient, standard, token.as_ref(), blocks, walk)]);
        }
    };
    match (sides.as_slice(), token) {
        ([], Some(token)) => Ok(vec![transfers::of_token(&token, standard, blocks, walk)]),
        ([], None) => {
            let text = "Query parameter 'address' or 'contractaddress' is required";
            Err(Refusal::Sentence(text.into()))
        }
        (sides, _) => Ok(sides.iter().map(of).collect()),
    }
}

/// The rows of all batches in the order of the list, each transfer once: that from one side to the other is in both.
fn in_order(batches: &[Batch<TokenTransferRow>], order: Order) -> Vec<(usize, usize)> {
    let mut rows = BTreeMap::new();
    for (at, batch) in batches.iter().enumerate() {
        let view = batch.view();
        let key = |row: usize| (view.block_number[row], view.log_index[row], view.batch_index[row]);
        rows.extend((0..batch.len()).map(|row| (key(row), (at, row))));
    }
    match order {
        Order::OldestFirst => rows.into_values().collect(),
        Order::NewestFirst => rows.into_values().rev().collect(),
    }
}

/// What the contract of the one token of a list says after the head, where its decimals are not known otherwise:
/// clients read them as a number.
async fn of_contract(app: &App, head: &Head, token: Address, standard: &str) -> Result<Tokens, Problem> {
    let tokens = shown_tokens(app, head, [token].into_iter()).await?;
    if decimals(&tokens, &token, standard).is_some() {
        return Ok(tokens);
    }
    match known(app, head, &token).await {
        // A contract may have failed to answer for its decimals, which are then not known.
        Ok((found, _)) if found.decimals(&token).is_some() => Ok(found),
        Ok(_) | Err(Problem::NotFound | Problem::Busy | Problem::TooMuchAtOnce) => Ok(tokens),
        Err(problem) => Err(problem),
    }
}

/// Transfers that were read.
struct Transfers {
    app: App,
    head: Arc<Head>,
    blocks: Span,
    batches: Vec<Batch<TokenTransferRow>>,
    /// Those that were not written yet: batch and row.
    rest: std::vec::IntoIter<(usize, usize)>,
    /// What is known of the token of the list, if it is of one.
    of_contract: Tokens,
}

impl Parts for Transfers {
    async fn write(&mut self, list: &mut ListBody) -> Result<bool, StreamError> {
        let part: Vec<(usize, usize)> = self.rest.by_ref().take(ROWS_OF_PART).collect();
        let (mut tokens, mut positions) = (BTreeSet::new(), BTreeSet::new());
        for (batch, row) in &part {
            let view = self.batches[*batch].view();
            tokens.insert(Address::get(&view.token_address, *row));
            positions.insert((view.block_number[*row], view.transaction_index[*row]));
        }
        let Details { gas, calls, methods, mut tokens } = self.details(tokens, &positions).await?;
        tokens.extend(self.of_contract.clone());
        let newest = self.head.number().unwrap_or_default();
        for (batch, row) in &part {
            let view = self.batches[*batch].view();
            let position = (view.block_number[*row], view.transaction_index[*row]);
            let facts = TransferFacts {
                newest,
                gas: gas.get(&position),
                selector: calls.get(&position).map(|call| &call.selector[..]),
                method: methods.get(&position).map(String::as_str),
            };
            write_token_transfer(list.row(), &view, *row, &facts, &tokens);
            list.send_if_full().await?;
        }
        Ok(self.rest.len() > 0)
    }
}

/// What is written beside the rows of a part.
struct Details {
    gas: HashMap<TransactionKey, GasOf>,
    calls: HashMap<TransactionKey, TransactionSelector>,
    /// What the transactions called, as far as it has a name.
    methods: HashMap<TransactionKey, String>,
    tokens: Tokens,
}

impl Transfers {
    /// The details of transfers of `tokens` by the transactions at `positions`.
    async fn details(&self, tokens: BTreeSet<Address>, positions: &TransactionPositions) -> Result<Details, Problem> {
        let Self { app, head, blocks, .. } = self;
        let none = BTreeSet::new();
        let (gas, calls, ()) = tokio::try_join!(
            gas(app, positions, blocks),
            async { Ok(app.selectors().calls(app.reader(), positions.clone(), head).await?) },
            app.prefetch(&tokens, &none, head)
        )?;
        let mut label_query = LabelQuery::default();
        calls.values().for_each(|call| label_query.call(call.to_address, &call.selector));
        let (_, tokens, vocabulary) = app.address_info(tokens, label_query, head).await?;
        let method = |(at, call): (&TransactionKey, &TransactionSelector)| {
            Some((*at, vocabulary.method(call.to_address.as_ref(), at.0, &call.selector)?))
        };
        let methods = calls.iter().filter_map(method).collect();
        Ok(Details { gas, calls, methods, tokens })
    }
}
