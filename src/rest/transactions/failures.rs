//! Why transactions and their calls failed: their revert data, decoded by the ABI of the contract that reverted first.

use std::collections::{BTreeMap, HashMap};

use super::revert_chains::{FailedCall, RevertChains};
use crate::app::App;
use crate::enrich::labels::LabelQuery;
use crate::error::Problem;
use trawl_core::primitives::{Address, BlockNumber};
use trawl_core::schema::{Column, InternalTransactionRow};
use trawl_core::store::{Batch, Head};
use trawl_json::transactions::items::Failure;
use trawl_json::vocabulary::Vocabulary;
use trawl_query::transactions::positions;
use trawl_query::transactions::positions::{Ending, FailedFrame, TransactionPositions};

/// Block and position of a transaction.
type TransactionPosition = (BlockNumber, u32);

/// Why the transactions at `positions` failed, where they did and their call frames are readable.
///
/// # Errors
///
/// When the store fails.
pub(super) async fn failures(
    app: &App,
    head: &Head,
    positions: TransactionPositions,
) -> Result<HashMap<TransactionPosition, Failure>, Problem> {
    if positions.is_empty() {
        return Ok(HashMap::new());
    }
    let statement = positions::endings(&positions, &head.traces.span());
    let found = app.reader().rows(&statement).await?.into_iter();
    let endings: Vec<Ending> = found.filter(|ending| !ending.error.is_empty()).collect();
    let contracts = contracts_that_reverted(app, head, &endings).await?;
    let mut label_query = LabelQuery::default();
    let of = |ending: &Ending| contracts.get(&(ending.block_number, ending.transaction_index));
    for ending in &endings {
        label_query.error(of(ending).map_or(&[], Vec::as_slice), &ending.output);
    }
    let (_, _, vocabulary) = app.address_info([], label_query, head).await?;
    let failure = |ending: Ending| {
        let own = of(&ending).map_or(&[][..], Vec::as_slice);
        let reason = vocabulary.decoded_error(own, ending.block_number, &ending.output);
        let position = (ending.block_number, ending.transaction_index);
        (position, Failure { error: ending.error, output: ending.output.to_vec(), reason })
    };
    Ok(endings.into_iter().map(failure).collect())
}

/// Of transactions whose revert data only an ABI may decode, the contracts whose code reverted with it, the innermost
/// first. Nothing is read before ABIs were loaded.
async fn contracts_that_reverted(
    app: &App,
    head: &Head,
    endings: &[Ending],
) -> Result<BTreeMap<TransactionPosition, Vec<Address>>, Problem> {
    let is_unread = |ending: &&Ending| {
        ending.output.len() >= 4 && Vocabulary::default().decoded_error(&[], 0, &ending.output).is_none()
    };
    let positions: TransactionPositions =
        endings.iter().filter(is_unread).map(|ending| (ending.block_number, ending.transaction_index)).collect();
    if positions.is_empty() || head.labels == 0 {
        return Ok(BTreeMap::new());
    }
    let frames = app.reader().rows(&positions::failed_frames(&positions, &head.traces.span())).await?;
    let calls: Vec<FailedCall<'_>> = frames.iter().map(call).collect();
    let chains = RevertChains::of(&calls);
    let outermost = calls.iter().zip(&chains.of_call).filter(|(call, _)| call.path.is_empty());
    Ok(outermost.map(|(call, chain)| (call.transaction, chains.contracts[*chain].clone())).collect())
}

/// The decoded revert data of each call of a transaction, as JSON, by its position in the transaction. Calls that
/// returned nothing, or nothing that can be decoded, have none.
///
/// # Errors
///
/// When the store fails.
pub(super) async fn reasons_of_calls(
    app: &App,
    head: &Head,
    batches: &[Batch<InternalTransactionRow>],
) -> Result<HashMap<u32, Vec<u8>>, Problem> {
    let failed: Vec<(u32, FailedFrame)> = batches.iter().flat_map(failed_frames).collect();
    let calls: Vec<FailedCall<'_>> = failed.iter().map(|(_, frame)| call(frame)).collect();
    let chains = RevertChains::of(&calls);
    let mut label_query = LabelQuery::default();
    let contracts = |position: usize| chains.contracts[chains.of_call[position]].as_slice();
    calls.iter().enumerate().for_each(|(position, call)| label_query.error(contracts(position), call.output));
    let (_, _, vocabulary) = app.address_info([], label_query, head).await?;
    let reason = |(position, call): (usize, &FailedCall<'_>)| {
        let reason = vocabulary.decoded_error(contracts(position), call.transaction.0, call.output)?;
        Some((failed[position].0, reason))
    };
    Ok(calls.iter().enumerate().filter_map(reason).collect())
}

fn call(frame: &FailedFrame) -> FailedCall<'_> {
    FailedCall {
        transaction: (frame.block_number, frame.transaction_index),
        path: &frame.trace_address,
        code: frame.to_address,
        output: &frame.output,
    }
}

/// The frames of a batch that failed, each with its position in the transaction.
fn failed_frames(batch: &Batch<InternalTransactionRow>) -> Vec<(u32, FailedFrame)> {
    let view = batch.view();
    let frame = |row: usize| {
        let frame = FailedFrame {
            block_number: view.block_number[row],
            transaction_index: view.transaction_index[row],
            trace_address: Vec::<u32>::own(Vec::<u32>::get(&view.trace_address, row)),
            to_address: Option::<Address>::get(&view.to_address, row),
            output: view.output.value(row).to_vec().into(),
        };
        (view.frame_index[row], frame)
    };
    (0..batch.len()).filter(|row| !String::get(&view.error, *row).is_empty()).map(frame).collect()
}
