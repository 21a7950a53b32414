//! Transactions that run again on the state before their block.

mod recorded;
pub(crate) mod rerun;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::app::App;
use crate::error::Problem;
use rerun::{Extent, Rerun};
use trawl_core::primitives::{Address, B256, BlockNumber, U256};
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
    let mut rerun = Rerun::prepare(app, head, number, Extent::UpTo(index), tracer).await?;
    let (_, trace) = rerun.next().await?.pop().ok_or(Problem::Internal)?;
    trace.map_err(Problem::Call)
}

/// The slots of an account that are not zero before the transaction at a position.
///
/// # Errors
///
/// As [`run_again`]; and where the account has more changes than are read.
pub(crate) async fn storage_before(
    app: &App,
    head: &Arc<Head>,
    number: BlockNumber,
    index: u32,
    account: Address,
) -> Result<BTreeMap<B256, U256>, Problem> {
    let mut rerun = Rerun::prepare(app, head, number, Extent::Before(index), Tracer::Nothing).await?;
    rerun.storage_of(account).await
}
