//! `txlistinternal`: call frames of an account, of a transaction or of some blocks.

use std::collections::BTreeSet;

use axum::response::Response;
use futures_util::future::try_join_all;

use super::sides::{Side, Sides, sides};
use crate::app::App;
use crate::error::Problem;
use crate::etherscan::answer::{NO_TRANSACTIONS, Refusal};
use crate::etherscan::joined_rows::{JoinedRows, LookedUpParts};
use crate::etherscan::params::Params;
use crate::etherscan::request::Request;
use crate::etherscan::rows::{ListBody, respond};
use crate::etherscan::window::Window;
use crate::http::body::StreamError;
use trawl_core::readable::Span;
use trawl_core::schema::{AccountFrame, OptionalTable};
use trawl_core::statement::Statement;
use trawl_core::store::{Batch, Head};
use trawl_json::etherscan::write_frame;
use trawl_query::account::frames::{
    FrameKey, FramePosition, ZeroValueCalls, at_positions, positions_between, positions_in, positions_of,
    positions_of_both, positions_of_transaction, searched_positions_in,
};
use trawl_query::transactions::pairs::Pair;
use trawl_query::walk::Order;

/// The frames that lists show: all but outermost calls, and calls without value only if they are requested.
pub(crate) async fn list(request: Request) -> Result<Response, Refusal> {
    let Request { app, head, params, requester, .. } = request;
    let mut window = match params.has("txhash") {
        // In order of execution unless `sort` says otherwise.
        true => Window::read_or(&params, &app, &head, &head.traces, Order::OldestFirst).await?,
        false => Window::read(&params, &app, &head, &head.traces).await?,
    };
    let Some(statements) = statements(&app, &head, &params, &mut window).await? else {
        return Ok(respond::<LookedUpParts<Frames>>(&app, requester, &window, None, NO_TRANSACTIONS));
    };
    let found = try_join_all(statements.iter().map(|statement| app.reader().rows(statement)));
    let found = found.await.map_err(Problem::from)?;
    let keys: BTreeSet<FrameKey> = found
        .iter()
        .flatten()
        .map(|position| (position.block_number, position.transaction_index, position.frame_index))
        .collect();
    let positions = window.cut(&keys.into_iter().collect::<Vec<_>>())?;
    let newest = head.number().unwrap_or_default();
    let kind = Frames { blocks: window.blocks.clone(), order: window.order, newest };
    let parts = LookedUpParts::open(&app, kind, positions).await?;
    Ok(respond(&app, requester, &window, parts, NO_TRANSACTIONS))
}

/// The positions of the frames: of a transaction, of an account or of one or both of two sides, of an account in a
/// transaction, or of some blocks; `None` of a transaction that is not known.
async fn statements(
    app: &App,
    head: &Head,
    params: &Params,
    window: &mut Window,
) -> Result<Option<Vec<Statement<FramePosition>>>, Refusal> {
    let sides = sides(params)?;
    let calls = match params.word("include_zero_value").as_deref() {
        Some("true") => ZeroValueCalls::Listed,
        _ => ZeroValueCalls::LeftOut,
    };
    if let Some(hash) = params.hash("txhash") {
        let account = params.address("address");
        if account.is_none() && !sides.is_empty() {
            return Err(Refusal::Sentence("'txhash' cannot be combined with 'from' and 'to'".into()));
        }
        let Some((batch, row)) = app.transaction(&hash, head).await? else { return Ok(None) };
        let index = batch.view().transaction_index[row];
        window.narrow(batch.view().block_number[row], &head.traces);
        return Ok(Some(vec![match account {
            Some(account) => positions_of_both(&account, &window.blocks, index, calls, window.walk()),
            None => positions_of_transaction(&window.blocks, index, calls, window.walk()),
        }]));
    }
    let (blocks, walk) = (&window.blocks, window.walk());
    match sides {
        Sides::Each(sides) if sides.is_empty() => {}
        Sides::Each(sides) => {
            let of = |side: &Side| positions_of(&side.account, side.direction, blocks, calls, walk);
            return Ok(Some(sides.iter().map(of).collect()));
        }
        Sides::Both(Pair { sender, recipient }) => {
            return Ok(Some(vec![positions_between(&sender, &recipient, blocks, calls, walk)]));
        }
    }
    if !(params.has("startblock") && params.has("endblock")) {
        let text = "Query parameter 'address', 'txhash', or 'startblock' and 'endblock' required";
        return Err(Refusal::Sentence(text.into()));
    }
    let has_table = head.tables.has(OptionalTable::ListedInternalTransactions);
    Ok(Some(vec![match calls {
        ZeroValueCalls::Listed if has_table => positions_in(&window.blocks, window.walk()),
        calls => searched_positions_in(&window.blocks, calls, window.walk()),
    }]))
}

/// Frames by their positions.
struct Frames {
    blocks: Span,
    order: Order,
    newest: u64,
}

impl JoinedRows for Frames {
    type Key = FrameKey;
    type Row = AccountFrame;

    fn statement(&self, positions: &BTreeSet<FrameKey>) -> Statement<AccountFrame> {
        at_positions(&positions.iter().copied().collect::<Vec<_>>(), &self.blocks, self.order)
    }

    async fn write(&self, batch: &Batch<AccountFrame>, list: &mut ListBody) -> Result<(), StreamError> {
        let view = batch.view();
        for row in 0..batch.len() {
            write_frame(list.row(), &view, row, self.newest);
            list.send_if_full().await?;
        }
        Ok(())
    }
}
