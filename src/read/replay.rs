//! Transactions that run again on the state before their block.

mod recorded;
pub(crate) mod rerun;

use std::sync::Arc;

use crate::app::App;
use crate::error::Problem;
use rerun::Rerun;
use trawl_core::primitives::BlockNumber;
use trawl_core::store::Head;
use trawl_evm::replay::Tracer;

/// The result of running the transaction at a position again, as JSON.
///
/// # Errors
///
/// When the state before its block or the rules of the chain are not known, when the run fails or takes too long; or
/// when the store fails.
pub(crate) async fn run_again(
    app: &App,
    head: &Arc<Head>,
    number: BlockNumber,
    index: u32,
    tracer: Tracer,
) -> Result<Vec<u8>, Problem> {
    let mut rerun = Rerun::prepare(app, head, number, Some(index), tracer).await?;
    let (_, trace) = rerun.next().await?.pop().ok_or(Problem::Internal)?;
    trace.map_err(Problem::Call)
}
