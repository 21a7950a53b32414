//! The gas oracle: what gas costs in the next block, from the blocks that are indexed.
//!
//! All of it is computed once per head, by the first call that needs it, while the others wait for the same result.

use std::sync::Arc;

use serde_json::value::RawValue;
use tokio::sync::Mutex;

use super::methods::{Answer, exactly};
use crate::api::{App, Problem};
use trawl_core::primitives::{BlockNumber, BlockRange, Readable, U256};
use trawl_core::store::Head;
use trawl_query::fees::BlockFees;

mod history;
mod rule;

use history::Histories;
use rule::FeeRule;

pub(super) const METHODS: &[&str] = &["eth_gasPrice", "eth_maxPriorityFeePerGas", "eth_feeHistory", "eth_blobBaseFee"];

/// Blocks that show how the chain sets its fees, at least.
const SHOWN: u64 = 64;

/// What the oracle looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OracleSettings {
    /// How many of the newest blocks.
    pub blocks: u64,
    /// Which percentile of what their transactions paid above the base fee, 0 to 100.
    pub percentile: u64,
}

impl Default for OracleSettings {
    /// What other explorers of this API family do (behaviour reference, 4.4).
    fn default() -> Self {
        Self { blocks: 200, percentile: 60 }
    }
}

/// What was computed for the newest head, and histories that cannot change.
#[derive(Default)]
pub(in crate::api) struct Fees {
    newest: Mutex<Option<(Arc<Head>, Arc<Estimate>)>>,
    histories: Histories,
}

/// What gas costs behind one block.
#[derive(Debug, Clone, PartialEq)]
struct Estimate {
    /// The header of the newest block.
    newest: BlockFees,
    rule: FeeRule,
    /// Wei per gas; `None` if no transaction tells.
    tip: Option<U256>,
}

/// Answers one of [`METHODS`].
pub(super) async fn answer(app: &App, method: &str, params: &[&RawValue]) -> Result<Answer, Problem> {
    if method == "eth_feeHistory" {
        return history::answer(app, params).await;
    }
    let [] = exactly(params)?;
    let estimate = estimate(app).await?;
    let not_yet = || Problem::NotEstimated("Gas price is not estimated yet".into());
    match method {
        "eth_blobBaseFee" => {
            let fee = estimate.rule.blob_base_fee(&estimate.newest);
            let fee =
                fee.filter(|_| estimate.newest.excess_blob_gas.is_some()).ok_or_else(|| no_blob_fee(&estimate))?;
            Ok(Answer::of(|writer| writer.quantity_256(U256::from(fee))))
        }
        "eth_maxPriorityFeePerGas" => {
            let tip = estimate.tip.ok_or_else(not_yet)?;
            Ok(Answer::of(|writer| writer.quantity_256(tip)))
        }
        _ => {
            let tip = estimate.tip.ok_or_else(not_yet)?;
            let base_fee =
                estimate.rule.next_base_fee(&estimate.newest).ok_or_else(|| unknown_rule(&estimate.newest))?;
            Ok(Answer::of(|writer| writer.quantity_256(tip.saturating_add(base_fee))))
        }
    }
}

fn no_blob_fee(estimate: &Estimate) -> Problem {
    let block = estimate.newest.block_number;
    Problem::NotEstimated(match estimate.newest.excess_blob_gas {
        None => format!("block {block} has no blob gas"),
        Some(_) => "this chain's schedule of blob parameters is not known".into(),
    })
}

fn unknown_rule(parent: &BlockFees) -> Problem {
    let block = parent.block_number;
    Problem::NotEstimated(format!("the base fee behind block {block} cannot be told: the chain's rule is not known"))
}

/// The estimate behind the newest block.
async fn estimate(app: &App) -> Result<Arc<Estimate>, Problem> {
    let head = app.head()?;
    let mut newest = app.fees().newest.lock().await;
    if let Some((known, estimate)) = &*newest
        && Arc::ptr_eq(known, &head)
    {
        return Ok(Arc::clone(estimate));
    }
    let estimate = Arc::new(compute(app, &head).await?);
    *newest = Some((head, Arc::clone(&estimate)));
    Ok(estimate)
}

async fn compute(app: &App, head: &Head) -> Result<Estimate, Problem> {
    let settings = app.options().oracle;
    let nothing = || Problem::NotEstimated("Gas price is not estimated yet".into());
    let newest = head.number().ok_or_else(nothing)?;
    let run = run_up_to(&head.blocks, newest, settings.blocks.max(SHOWN)).ok_or_else(nothing)?;
    let headers = headers(app, head, run).await?;
    let rule = FeeRule::of(app.chain_id(head), &headers);
    let last = headers.last().cloned().ok_or_else(nothing)?;
    let tip = match run_up_to(&head.receipts, newest, settings.blocks) {
        Some(told) => {
            let fee = |block: &BlockFees| block.base_fee_per_gas.unwrap_or_default().to_string();
            let base_fees = headers.iter().filter(|block| told.contains(block.block_number)).map(fee).collect();
            let statement = trawl_query::fees::tip(&head.receipts.within(told), base_fees, settings.percentile);
            app.reader().rows(&statement).await?.pop().filter(|tip| tip.transactions > 0).map(|tip| tip.tip)
        }
        None => None,
    };
    Ok(Estimate { newest: last, rule, tip })
}

/// The consecutive readable blocks that end at `last`, at most `count` of them.
fn run_up_to(readable: &Readable, last: BlockNumber, count: u64) -> Option<BlockRange> {
    let asked = BlockRange::new(last.saturating_sub(count.saturating_sub(1)), last)?;
    let above = readable.missing(asked).last().map_or(Some(asked.first()), |gap| gap.last().checked_add(1))?;
    BlockRange::new(above, last)
}

/// The headers of `range`, all of them readable, ascending.
async fn headers(app: &App, head: &Head, range: BlockRange) -> Result<Vec<BlockFees>, Problem> {
    const NEEDED: [&str; 5] = ["gas_limit", "gas_used", "base_fee_per_gas", "blob_gas_used", "excess_blob_gas"];
    let headers = app.reader().rows(&trawl_query::fees::headers(&head.blocks.within(range))).await?;
    for block in &headers {
        let columns: Vec<String> =
            block.lacking.iter().filter(|column| NEEDED.contains(&column.as_str())).cloned().collect();
        if !columns.is_empty() {
            return Err(Problem::ColumnsMissing { what: format!("block {}", block.block_number), columns });
        }
    }
    if headers.len() as u64 != range.count() {
        tracing::error!(%range, found = headers.len(), "readable headers are missing");
        return Err(Problem::Internal);
    }
    Ok(headers)
}
