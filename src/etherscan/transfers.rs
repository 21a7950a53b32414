//! `module=account&action=tokentx`, `tokennfttx`, `token1155tx`: the token transfers of an account.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use axum::response::Response;

use super::answer::Refused;
use super::params::Params;
use super::rows::{Asker, ListBody, Parts, respond};
use super::transaction_gas::{GasOf, gas};
use super::window::Window;
use crate::app::App;
use crate::enrich::labels::LabelQuery;
use crate::error::Problem;
use crate::http::body::Broken;
use trawl_core::primitives::Address;
use trawl_core::readable::Span;
use trawl_core::schema::{Column, TokenTransferRow};
use trawl_core::store::{Batch, Head};
use trawl_json::etherscan::write_token_transfer;
use trawl_query::account::transfers;

/// Transfers that are written with what one round of lookups says.
const ROWS_OF_PART: usize = 1_000;

/// The transfers of tokens of one standard, of one token (`contractaddress`) or of all.
pub(super) async fn list(
    app: &App,
    head: &Arc<Head>,
    (params, standard): (&Params, &'static str),
    asker: Asker,
) -> Result<Response, Refused> {
    let account = params.address("address")?;
    let token = params.text("contractaddress").map(|_| params.address("contractaddress")).transpose()?;
    let window = Window::read(params, app, head, &head.receipts).await?;
    let statement = transfers::of(&account, (standard, token.as_ref()), &window.blocks, window.walk());
    // Rows of a fixed length: ten thousand are some megabytes.
    let batches = app.reader().all(&statement).await.map_err(Problem::from)?;
    let rows = batches.iter().enumerate().flat_map(|(batch, rows)| (0..rows.len()).map(move |row| (batch, row)));
    let rows: Vec<(usize, usize)> = rows.skip(usize::try_from(window.skip).unwrap_or(usize::MAX)).collect();
    let blocks = window.blocks.clone();
    let parts = Transfers { app: app.clone(), head: Arc::clone(head), blocks, batches, rest: rows.into_iter() };
    let parts = (parts.rest.len() > 0).then_some(parts);
    Ok(respond(app, asker, &window, (parts, "No token transfers found")))
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
    async fn write(&mut self, list: &mut ListBody) -> Result<bool, Broken> {
        let part: Vec<(usize, usize)> = self.rest.by_ref().take(ROWS_OF_PART).collect();
        let (mut tokens, mut places) = (BTreeSet::new(), BTreeSet::new());
        for (batch, row) in &part {
            let view = self.batches[*batch].view();
            tokens.insert(Address::get(&view.token_address, *row));
            places.insert((view.block_number[*row], view.transaction_index[*row]));
        }
        let info = self.app.address_info(tokens, LabelQuery::default(), &self.head);
        let ((_, tokens, _), gas): (_, HashMap<_, GasOf>) =
            tokio::try_join!(info, gas(&self.app, &places, &self.blocks))?;
        let newest = self.head.number().unwrap_or_default();
        for (batch, row) in &part {
            let view = self.batches[*batch].view();
            let gas = gas.get(&(view.block_number[*row], view.transaction_index[*row]));
            write_token_transfer(list.row(), &view, *row, (gas, &tokens, newest));
            list.send_if_full().await?;
        }
        Ok(self.rest.len() > 0)
    }
}
