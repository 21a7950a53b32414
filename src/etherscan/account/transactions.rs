//! `txlist`: the transactions that an account takes part in.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::response::Response;
use futures_util::future::try_join_all;

use super::sides::{Side, Sides, sides};
use crate::app::App;
use crate::enrich::labels::LabelQuery;
use crate::error::Problem;
use crate::etherscan::answer::{NO_TRANSACTIONS, Refusal};
use crate::etherscan::joined_rows::{JoinedRows, LookedUpParts};
use crate::etherscan::params::Params;
use crate::etherscan::request::Request;
use crate::etherscan::rows::{ListBody, respond};
use crate::etherscan::window::Window;
use crate::http::body::StreamError;
use crate::read::addresses::plain_transfers::Delivery;
use crate::read::completeness::require_table;
use crate::read::transactions::outcomes::failures;
use trawl_core::primitives::{Address, BlockNumber, Direction};
use trawl_core::readable::Span;
use trawl_core::schema::{Column, OptionalTable, TransactionRow};
use trawl_core::statement::Statement;
use trawl_core::store::{Batch, Head};
use trawl_json::etherscan::{TransactionFacts, write_transaction};
use trawl_query::account;
use trawl_query::transactions::pairs::{MAX_OF_A_SIDE, Pair};
use trawl_query::transactions::positions::TransactionPositions;
use trawl_query::walk::Order;

/// The transactions of an account, from either end.
pub(crate) async fn list(request: Request) -> Result<Response, Refusal> {
    let Request { app, head, params, requester, .. } = request;
    let sides = requested(&params)?;
    let window = Window::read(&params, &app, &head, &head.receipts).await?;
    let positions = positions(&app, &head, &sides, &window).await?;
    let kind =
        Transactions { app: app.clone(), head: Arc::clone(&head), blocks: window.blocks.clone(), order: window.order };
    let parts = LookedUpParts::open(&app, kind, positions).await?;
    Ok(respond(&app, requester, &window, parts, NO_TRANSACTIONS))
}

/// The sides that the list has: `filterby` says on which one the account of `address` is.
fn requested(params: &Params) -> Result<Sides, Refusal> {
    let mut sides = sides(params)?;
    if sides.is_empty() || params.has("filterby") {
        params.require("address", Params::address)?;
    }
    let filter = params.word("filterby").map(|side| if side == "from" { Direction::From } else { Direction::To });
    if let Sides::Each(sides) = &mut sides {
        sides.iter_mut().for_each(|side| side.direction = filter.or(side.direction));
    }
    Ok(sides)
}

/// The positions of a window, in the order of the list.
async fn positions(app: &App, head: &Head, sides: &Sides, window: &Window) -> Result<Vec<(BlockNumber, u32)>, Refusal> {
    if !window.blocks.settled.is_empty() {
        require_table(head, OptionalTable::TransactionsByAddress)?;
    }
    let all: TransactionPositions = match sides {
        Sides::Each(sides) => {
            let of_sides = try_join_all(sides.iter().map(|side| positions_of(app, *side, window))).await?;
            // Of the rows of each, those from where the list begins are there; the others do not matter.
            of_sides.into_iter().flatten().collect()
        }
        Sides::Both(pair) => positions_between(app, pair, window).await?,
    };
    window.cut(&all.into_iter().collect::<Vec<_>>())
}

async fn positions_of(app: &App, side: Side, window: &Window) -> Result<TransactionPositions, Problem> {
    let (Side { account, direction }, walk, settled) = (side, window.walk(), &window.blocks.settled);
    let statement = trawl_query::transactions::positions_of_address(&account, direction, settled, walk);
    let newest = account::newest_transactions(&account, direction, &window.blocks, walk);
    let settled = async { if settled.is_empty() { Ok(Vec::new()) } else { app.reader().rows(&statement).await } };
    let (settled, newest) = tokio::try_join!(settled, app.reader().rows(&newest))?;
    Ok(settled.iter().chain(&newest).map(|position| (position.block_number, position.transaction_index)).collect())
}

/// The positions from a sender to a recipient.
async fn positions_between(app: &App, pair: &Pair, window: &Window) -> Result<TransactionPositions, Refusal> {
    let (walk, settled, reader) = (window.walk(), &window.blocks.settled, app.reader());
    let of_settled = async {
        if settled.is_empty() {
            return Ok(Vec::new());
        }
        let sizes = [Direction::From, Direction::To].map(|side| pair.size(side, settled));
        let [sent, received] = &sizes;
        let (sent, received) = tokio::try_join!(reader.rows(sent), reader.rows(received)).map_err(Problem::from)?;
        let [sent, received] = [sent, received].map(|rows| rows.first().map_or(0, |size| size.found));
        if sent.min(received) > MAX_OF_A_SIDE {
            return Err(Refusal::NotServed(format!(
                "Both accounts have more than {MAX_OF_A_SIDE} transactions in these blocks: narrow them with \
                 'startblock' and 'endblock'"
            )));
        }
        let fewer = if sent < received { Direction::From } else { Direction::To };
        Ok(reader.rows(&pair.positions(fewer, settled, walk)).await.map_err(Problem::from)?)
    };
    let newest = account::newest_between(&pair.sender, &pair.recipient, &window.blocks, walk);
    let newest = async { reader.rows(&newest).await.map_err(|error| Refusal::from(Problem::from(error))) };
    let (settled, newest) = tokio::try_join!(of_settled, newest)?;
    Ok(settled.iter().chain(&newest).map(|position| (position.block_number, position.transaction_index)).collect())
}

/// Transactions by their positions.
struct Transactions {
    app: App,
    head: Arc<Head>,
    blocks: Span,
    order: Order,
}

impl JoinedRows for Transactions {
    type Key = (BlockNumber, u32);
    type Row = TransactionRow;

    fn statement(&self, positions: &TransactionPositions) -> Statement<TransactionRow> {
        account::transactions(positions, &self.blocks, self.order)
    }

    async fn write(&self, batch: &Batch<TransactionRow>, list: &mut ListBody) -> Result<(), StreamError> {
        let (view, mut label_query) = (batch.view(), LabelQuery::default());
        for row in 0..batch.len() {
            label_query.call(Option::<Address>::get(&view.to_address, row), view.input.value(row));
        }
        let deliveries = (0..batch.len()).filter_map(|row| Delivery::of(&view, row)).collect();
        let ((_, _, vocabulary), plain) = tokio::try_join!(
            self.app.address_info(BTreeSet::new(), label_query, &self.head),
            self.app.plain_transfers(&self.head, deliveries)
        )?;
        let newest = self.head.number().unwrap_or_default();
        let failures = failures(&self.app, &self.head, std::slice::from_ref(batch)).await?;
        for row in 0..batch.len() {
            let recipient = Option::<Address>::get(&view.to_address, row);
            let position = (view.block_number[row], view.transaction_index[row]);
            let input = if plain.contains(&position) { &[][..] } else { view.input.value(row) };
            let method = vocabulary.method(recipient.as_ref(), position.0, input);
            let facts = TransactionFacts { newest, method: method.as_deref(), has_failed: failures.of(&view, row) };
            write_transaction(list.row(), &view, row, &facts);
            list.send_if_full().await?;
        }
        Ok(())
    }
}
