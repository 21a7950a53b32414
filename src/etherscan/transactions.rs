//! `module=account&action=txlist`: the transactions that an account takes part in.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::response::Response;

use super::answer::Refused;
use super::params::Params;
use super::placed::{Placed, PlacedParts};
use super::rows::{Asker, ListBody, respond};
use super::window::Window;
use crate::app::App;
use crate::enrich::labels::LabelQuery;
use crate::error::Problem;
use crate::http::body::Broken;
use trawl_core::primitives::{Address, BlockNumber, Direction};
use trawl_core::readable::Span;
use trawl_core::schema::{Column, TransactionRow};
use trawl_core::statement::Statement;
use trawl_core::store::{Batch, Head};
use trawl_json::etherscan::write_transaction;
use trawl_query::account;
use trawl_query::places::Places;
use trawl_query::walk::Order;

/// The transactions of an account, from either end.
pub(super) async fn list(app: &App, head: &Arc<Head>, params: &Params, asker: Asker) -> Result<Response, Refused> {
    let account = params.address("address")?;
    let side = match &*params.choice("filterby") {
        "" => None,
        "from" => Some(Direction::From),
        "to" => Some(Direction::To),
        _ => return Err(Refused::Sentence("Invalid filterby: use 'from' or 'to'".into())),
    };
    let window = Window::read(params, app, head, &head.receipts).await?;
    let places = places(app, head, (&account, side), &window).await?;
    let kind =
        Transactions { app: app.clone(), head: Arc::clone(head), blocks: window.blocks.clone(), order: window.order };
    let parts = PlacedParts::open(app, kind, places).await?;
    Ok(respond(app, asker, &window, (parts, "No transactions found")))
}

/// The places of a window, in the order of the list.
async fn places(
    app: &App,
    head: &Head,
    of: (&Address, Option<Direction>),
    window: &Window,
) -> Result<Vec<(BlockNumber, u32)>, Problem> {
    let (walk, settled) = (window.walk(), &window.blocks.settled);
    if !settled.is_empty() && !head.transactions_by_address {
        return Err(Problem::LeftOut("transactions_by_address"));
    }
    let statement = trawl_query::transactions::places_of_address(of.0, of.1, settled, walk);
    let newest = account::newest_transactions(of, &window.blocks, walk);
    let settled = async { if settled.is_empty() { Ok(Vec::new()) } else { app.reader().rows(&statement).await } };
    let (settled, newest) = tokio::try_join!(settled, app.reader().rows(&newest))?;
    // Of the rows of each, those from where the list begins are there; the others do not matter.
    let all: Places =
        settled.iter().chain(&newest).map(|place| (place.block_number, place.transaction_index)).collect();
    Ok(window.cut(&all.into_iter().collect::<Vec<_>>()))
}

/// Transactions by their places.
struct Transactions {
    app: App,
    head: Arc<Head>,
    blocks: Span,
    order: Order,
}

impl Placed for Transactions {
    type Place = (BlockNumber, u32);
    type Row = TransactionRow;

    fn statement(&self, places: &Places) -> Statement<TransactionRow> {
        account::transactions(places, &self.blocks, self.order)
    }

    async fn write(&self, batch: &Batch<TransactionRow>, list: &mut ListBody) -> Result<(), Broken> {
        let (view, mut wanted) = (batch.view(), LabelQuery::default());
        for row in 0..batch.len() {
            wanted.call(Option::<Address>::get(&view.to_address, row), view.input.value(row));
        }
        let (_, _, vocabulary) = self.app.address_info(BTreeSet::new(), wanted, &self.head).await?;
        let newest = self.head.number().unwrap_or_default();
        for row in 0..batch.len() {
            let recipient = Option::<Address>::get(&view.to_address, row);
            let method = vocabulary.method(recipient.as_ref(), view.block_number[row], view.input.value(row));
            write_transaction(list.row(), &view, row, (newest, method.as_deref()));
            list.send_if_full().await?;
        }
        Ok(())
    }
}
