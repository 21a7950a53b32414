//! `getminedblocks`: the blocks that an account made.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use axum::response::Response;

use crate::app::App;
use crate::error::Problem;
use crate::etherscan::answer::{NO_TRANSACTIONS, Refusal};
use crate::etherscan::block::reward::unburnt_fees;
use crate::etherscan::joined_rows::{JoinedRows, LookedUpParts};
use crate::etherscan::params::Params;
use crate::etherscan::request::Request;
use crate::etherscan::rows::{ListBody, respond};
use crate::etherscan::window::Window;
use crate::http::body::StreamError;
use crate::read::blocks::miners::require_miners;
use trawl_chains::Issuance;
use trawl_core::primitives::{BlockNumber, U256};
use trawl_core::readable::Span;
use trawl_core::schema::{BlockRow, Column};
use trawl_core::statement::Statement;
use trawl_core::store::{Batch, Head};
use trawl_json::etherscan::write_made_block;
use trawl_query::addresses::mined_blocks;
use trawl_query::blocks::BlockFrames;
use trawl_query::walk::Order;

/// The blocks of an account, newest first unless `sort` says otherwise.
pub(crate) async fn list(request: Request) -> Result<Response, Refusal> {
    let Request { app, head, params, requester, .. } = request;
    let account = params.require("address", Params::address)?;
    let window = Window::read_or(&params, &app, &head, &head.blocks, Order::NewestFirst).await?;
    require_miners(&app, &head).await?;
    let (walk, settled) = (window.walk(), &window.blocks.settled);
    let heights = mined_blocks::heights(&account, settled, walk.order, walk.limit);
    let newest = mined_blocks::newest_heights(&account, &window.blocks, walk.order, walk.limit);
    let settled = async { if settled.is_empty() { Ok(Vec::new()) } else { app.reader().rows(&heights).await } };
    let found = tokio::try_join!(settled, app.reader().rows(&newest)).map_err(Problem::from)?;
    // Of the rows of each, those from where the list begins are there; the others do not matter.
    let heights: BTreeSet<BlockNumber> = found.0.iter().chain(&found.1).map(|block| block.block_number).collect();
    let positions = window.cut(&heights.into_iter().collect::<Vec<_>>())?;
    let kind =
        MadeBlocks { app: app.clone(), head: Arc::clone(&head), blocks: window.blocks.clone(), order: window.order };
    let parts = LookedUpParts::open(&app, kind, positions).await?;
    Ok(respond(&app, requester, &window, parts, NO_TRANSACTIONS))
}

/// Blocks by their heights.
struct MadeBlocks {
    app: App,
    head: Arc<Head>,
    blocks: Span,
    order: Order,
}

impl JoinedRows for MadeBlocks {
    type Key = BlockNumber;
    type Row = BlockRow;

    fn statement(&self, positions: &BTreeSet<BlockNumber>) -> Statement<BlockRow> {
        mined_blocks::at(&positions.iter().copied().collect::<Vec<_>>(), &self.blocks, self.order)
    }

    async fn write(&self, batch: &Batch<BlockRow>, list: &mut ListBody) -> Result<(), StreamError> {
        let view = batch.view();
        let issues = self.app.family(&self.head).is_none_or(|family| family.issuance == Issuance::ProofOfWork);
        let is_mined = |row: &usize| issues && !U256::get(&view.difficulty, *row).is_zero();
        let mined = (0..batch.len()).filter(is_mined).map(|row| view.block_number[row]).collect();
        let stated = stated(&self.app, &self.head, mined).await?;
        for row in 0..batch.len() {
            let stated = if is_mined(&row) { stated.get(&view.block_number[row]).copied() } else { Some(U256::ZERO) };
            let reward = unburnt_fees(&view, row).zip(stated).map(|(fees, stated)| stated.saturating_add(fees));
            write_made_block(list.row(), view.block_number[row], view.timestamp[row], reward);
            list.send_if_full().await?;
        }
        Ok(())
    }
}

/// What traces say that the rules give to the makers of blocks of proof of work; nothing of those whose rewards are not
/// loaded.
async fn stated(app: &App, head: &Head, mut mined: Vec<BlockNumber>) -> Result<HashMap<BlockNumber, U256>, Problem> {
    mined.retain(|number| head.rewards.contains(*number));
    if mined.is_empty() {
        return Ok(HashMap::new());
    }
    let traced = head.traces.span();
    let mut stated: HashMap<BlockNumber, U256> = mined.iter().map(|number| (*number, U256::ZERO)).collect();
    let mut add = |number, kind: &str, amount| {
        if let (Some(sum), "block") = (stated.get_mut(&number), kind) {
            *sum = sum.saturating_add(amount);
        }
    };
    let rows: Vec<BlockFrames> = app.reader().rows(&trawl_query::blocks::frames(&mined, &traced)).await?;
    for (row, reward) in rows.iter().flat_map(|row| row.rewards.iter().map(move |reward| (row, reward))) {
        add(row.block_number, &reward.kind, reward.amount);
    }
    let newest = app.reader().rows(&trawl_query::blocks::newest_frames(&mined, &traced)).await?;
    for frame in newest.iter().filter(|frame| frame.frame_type == "reward") {
        add(frame.block_number, &frame.call_type, frame.value);
    }
    Ok(stated)
}
