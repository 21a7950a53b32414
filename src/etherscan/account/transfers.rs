//! `tokentx`, `tokennfttx`, `token1155tx`: the transfers of an account, of a token, or of both.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use axum::response::Response;

use crate::app::App;
use crate::enrich::labels::LabelQuery;
use crate::error::Problem;
use crate::etherscan::answer::{NO_TRANSACTIONS, Refusal};
use crate::etherscan::request::Request;
use crate::etherscan::rows::{ListBody, Parts, respond};
use crate::etherscan::transaction::gas::{GasOf, gas};
use crate::etherscan::window::Window;
use crate::http::body::StreamError;
use trawl_core::primitives::Address;
use trawl_core::readable::Span;
use trawl_core::schema::{Column, TokenTransferRow};
use trawl_core::store::{Batch, Head};
use trawl_json::etherscan::write_token_transfer;
use trawl_query::account::transfers;

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
    let statement = match (params.address("address"), params.address("contractaddress")) {
        (Some(account), token) => transfers::of(&account, standard, token.as_ref(), &window.blocks, window.walk()),
        (None, Some(token)) => transfers::of_token(&token, standard, &window.blocks, window.walk()),
        (None, None) => {
            let text = "Query parameter 'address' or 'contractaddress' is required";
            return Err(Refusal::Sentence(text.into()));
        }
    };
    // Rows of a fixed length: ten thousand are some megabytes.
    let batches = app.reader().all(&statement).await.map_err(Problem::from)?;
    let rows = batches.iter().enumerate().flat_map(|(batch, rows)| (0..rows.len()).map(move |row| (batch, row)));
    window.check_reach(batches.iter().map(Batch::len).sum())?;
    let rows: Vec<(usize, usize)> = rows.skip(usize::try_from(window.skip).unwrap_or(usize::MAX)).collect();
    let blocks = window.blocks.clone();
    let parts = Transfers { app: app.clone(), head, blocks, batches, rest: rows.into_iter() };
    let parts = (parts.rest.len() > 0).then_some(parts);
    Ok(respond(&app, requester, &window, parts, NO_TRANSACTIONS))
}

/// Transfers that were read.
struct Transfers {
    app: App,
    head: Arc<Head>,
    blocks: Span,
    batches: Vec<Batch<TokenTransferRow>>,
    /// Those that were not written yet: batch and row.
    rest: std::vec::IntoIter<(usize, usize)>,
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
        let info = self.app.address_info(tokens, LabelQuery::default(), &self.head);
        let ((_, tokens, _), gas): (_, HashMap<_, GasOf>) =
            tokio::try_join!(info, gas(&self.app, &positions, &self.blocks))?;
        let newest = self.head.number().unwrap_or_default();
        for (batch, row) in &part {
            let view = self.batches[*batch].view();
            let gas = gas.get(&(view.block_number[*row], view.transaction_index[*row]));
            write_token_transfer(list.row(), &view, *row, gas, &tokens, newest);
            list.send_if_full().await?;
        }
        Ok(self.rest.len() > 0)
    }
}
