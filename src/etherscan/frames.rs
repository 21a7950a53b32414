//! `module=account&action=txlistinternal`: call frames of an account, of a transaction or of some blocks.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::response::Response;

use super::answer::Refused;
use super::params::Params;
use super::placed::{Placed, PlacedParts};
use super::rows::{Asker, ListBody, respond};
use super::window::Window;
use crate::app::App;
use crate::error::Problem;
use crate::http::body::Broken;
use trawl_core::readable::Span;
use trawl_core::schema::AccountFrame;
use trawl_core::statement::Statement;
use trawl_core::store::{Batch, Head};
use trawl_json::etherscan::write_frame;
use trawl_query::account::frames::{
    FrameKey, at_places, places_in, places_of, places_of_transaction, searched_places_in,
};
use trawl_query::walk::Order;

const EMPTY: &str = "No internal transactions found";

/// The frames that lists show: all but outermost calls.
pub(super) async fn list(app: &App, head: &Arc<Head>, params: &Params, asker: Asker) -> Result<Response, Refused> {
    let mut window = Window::read(params, app, head, &head.traces).await?;
    let statement = if params.text("txhash").is_some() {
        match transaction(app, head, params, &mut window).await? {
            Some(index) => places_of_transaction(&window.blocks, index, window.walk()),
            None => return Ok(respond::<PlacedParts<Frames>>(app, asker, &window, (None, EMPTY))),
        }
    } else if params.text("address").is_some() {
        places_of(&params.address("address")?, &window.blocks, window.walk())
    } else if params.text("startblock").is_some() && params.text("endblock").is_some() {
        let plan = if head.listed_internal_transactions { places_in } else { searched_places_in };
        plan(&window.blocks, window.walk())
    } else {
        return Err(Refused::Sentence(
            "Query parameter 'address', 'txhash', or 'startblock' and 'endblock' required".into(),
        ));
    };
    let found = app.reader().rows(&statement).await.map_err(Problem::from)?;
    let keys: BTreeSet<FrameKey> =
        found.iter().map(|place| (place.block_number, place.transaction_index, place.frame_index)).collect();
    let places = window.cut(&keys.into_iter().collect::<Vec<_>>());
    let newest = head.number().unwrap_or_default();
    let kind = Frames { blocks: window.blocks.clone(), order: window.order, newest };
    let parts = PlacedParts::open(app, kind, places).await?;
    Ok(respond(app, asker, &window, (parts, EMPTY)))
}

/// The position of a transaction in its block, to which the window shrinks; `None` if it is not known.
async fn transaction(app: &App, head: &Head, params: &Params, window: &mut Window) -> Result<Option<u32>, Refused> {
    let hash = params.hash("txhash")?;
    let Some((batch, row)) = app.transaction(&hash, head).await? else { return Ok(None) };
    let (block, index) = (batch.view().block_number[row], batch.view().transaction_index[row]);
    window.shrink(block, &head.traces);
    Ok(Some(index))
}

/// Frames by their places.
struct Frames {
    blocks: Span,
    order: Order,
    newest: u64,
}

impl Placed for Frames {
    type Place = FrameKey;
    type Row = AccountFrame;

    fn statement(&self, places: &BTreeSet<FrameKey>) -> Statement<AccountFrame> {
        at_places(&places.iter().copied().collect::<Vec<_>>(), &self.blocks, self.order)
    }

    async fn write(&self, batch: &Batch<AccountFrame>, list: &mut ListBody) -> Result<(), Broken> {
        let view = batch.view();
        for row in 0..batch.len() {
            write_frame(list.row(), &view, row, self.newest);
            list.send_if_full().await?;
        }
        Ok(())
    }
}
