//! `getblocktxnscount`: how much of each kind is in a block.

use std::collections::BTreeMap;

use axum::response::Response;

use super::readable_block::readable_block;
use crate::app::App;
use crate::error::Problem;
use crate::etherscan::answer::{Refusal, result};
use crate::etherscan::params::Params;
use crate::etherscan::request::Request;
use crate::read::completeness::require_part;
use trawl_core::primitives::BlockNumber;
use trawl_core::schema::{BlockPart, Column};
use trawl_core::store::Head;
use trawl_json::etherscan::{BlockCounts, write_block_counts};
use trawl_query::account::frames::{ZeroValueCalls, searched_positions_in};
use trawl_query::tokens::transfers::standards_in;
use trawl_query::walk::{Order, Walk};

/// More rows than a block has of any kind: each costs gas.
const MAX_ROWS: u64 = 100_000_000;

/// The transactions of a block, its frames as `txlistinternal` lists them, and its token transfers by standard.
pub(crate) async fn counts(request: Request) -> Result<Response, Refusal> {
    let Request { app, head, params, .. } = &request;
    let number = params.require("blockno", Params::number)?;
    let block = readable_block(app, head, number).await?;
    // No transaction runs in the genesis block, so nodes have neither receipts nor frames of it.
    if number > 0 {
        require_part(head, BlockPart::Receipts, number)?;
        require_part(head, BlockPart::Traces, number)?;
    }
    let (frames, transfers) = tokio::try_join!(frames(app, head, number), transfers(app, head, number))?;
    let transactions = block.view().transactions_count[0].into();
    Ok(result(|writer| write_block_counts(writer, &BlockCounts { number, transactions, frames, transfers })))
}

async fn frames(app: &App, head: &Head, number: BlockNumber) -> Result<u64, Problem> {
    let walk = Walk { order: Order::OldestFirst, beyond: None, limit: MAX_ROWS };
    let statement = searched_positions_in(&head.traces.at(number), ZeroValueCalls::LeftOut, walk);
    let (mut rows, mut count) = (app.reader().stream(&statement).await?, 0);
    while let Some(batch) = rows.next().await? {
        count += batch.len() as u64;
    }
    Ok(count)
}

/// By standard, as the tables write it.
async fn transfers(app: &App, head: &Head, number: BlockNumber) -> Result<BTreeMap<String, u64>, Problem> {
    let statement = standards_in(&head.receipts.at(number), MAX_ROWS);
    let (mut rows, mut counts) = (app.reader().stream(&statement).await?, BTreeMap::new());
    while let Some(batch) = rows.next().await? {
        let view = batch.view();
        for row in 0..batch.len() {
            let standard = String::get(&view.token_type, row);
            match counts.get_mut(standard) {
                Some(count) => *count += 1,
                None => drop(counts.insert(standard.to_owned(), 1)),
            }
        }
    }
    Ok(counts)
}
