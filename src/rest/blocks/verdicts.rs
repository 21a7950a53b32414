//! `/api/v2/blocks/{id}/verdict` and `/api/v2/stats/verdicts`: what was proven of blocks.

use axum::extract::State;
use axum::response::Response;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};

use super::list::readable;
use crate::app::App;
use crate::error::Problem;
use crate::http::parameters::{BlockPath, NoParameters, Parameters};
use crate::http::whole_body::json;
use crate::middleware::request_head::RequestHead;
use trawl_core::primitives::BlockRange;
use trawl_json::blocks::verdicts::{VerdictTotals, write_verdict};
use trawl_query::blocks::verdicts::{MAX_NEWEST, counts, of_block, of_newest};
use trawl_query::stats::days::runs;

/// Runs of blocks that are counted at the same time.
const CONCURRENT_READS: usize = 4;

/// What was proven of a block, by its newest verdict (docs/reference/http-contract.md#verdicts).
pub(in crate::rest) async fn verdict(
    State(app): State<App>,
    head: RequestHead,
    BlockPath(id): BlockPath,
    _: Parameters<NoParameters>,
) -> Result<Response, Problem> {
    let head = head.get()?;
    let block = readable(&app, &head, id).await?;
    // Not from memory: `trawl-ingest verify` adds verdicts to settled blocks.
    let found = app.reader().rows(&of_block(&head.blocks.at(block))).await?;
    found.first().map(|row| json(write_verdict(row))).ok_or(Problem::NotFound)
}

/// How many blocks have which verdict (docs/reference/http-contract.md#verdicts).
pub(in crate::rest) async fn totals(
    State(app): State<App>,
    head: RequestHead,
    _: Parameters<NoParameters>,
) -> Result<Response, Problem> {
    let head = head.get()?;
    let span = head.blocks.span();
    let blocks = head.blocks.ranges().iter().map(|range| range.count()).sum();
    let mut totals = VerdictTotals { blocks, ..VerdictTotals::default() };
    let read = async |range: BlockRange| app.values_of(&head, &counts(range)).await;
    let settled: Vec<BlockRange> = span.settled.iter().flat_map(|range| runs(*range)).collect();
    let mut settled = stream::iter(settled.into_iter().map(read)).buffered(CONCURRENT_READS);
    while let Some(rows) = settled.try_next().await? {
        rows.iter().for_each(|row| totals.add(&row.verdict, row.blocks));
    }
    let newest = app.reader().rows(&of_newest(&span.without_settled())).await?;
    if (newest.len() as u64) < MAX_NEWEST {
        newest.iter().for_each(|row| totals.add(&row.verdict, 1));
    }
    Ok(json(totals.write()))
}
