//! Whether transactions failed whose receipts do not say it, as those before Byzantium.

use std::collections::HashMap;

use crate::app::App;
use crate::error::Problem;
use trawl_core::primitives::{Address, B256, BlockNumber, BlockRange};
use trawl_core::schema::{Column, TransactionRow, TransactionView};
use trawl_core::store::{Batch, Head};
use trawl_query::transactions::positions::{Ending, TransactionPositions, endings};

/// Whether transactions failed, by block and index.
#[derive(Debug, Default)]
pub(crate) struct Failures(HashMap<(BlockNumber, u32), bool>);

impl Failures {
    /// Whether a transaction failed, if its receipt does not say it; `None` if that is not known.
    pub fn of(&self, view: &TransactionView<'_>, row: usize) -> Option<bool> {
        self.0.get(&(view.block_number[row], view.transaction_index[row])).copied()
    }

    /// Refuses a transaction of which it is not known whether it failed.
    ///
    /// # Errors
    ///
    /// [`Problem::TracesMissing`]: its call frames would tell.
    pub fn require(&self, view: &TransactionView<'_>, row: usize) -> Result<(), Problem> {
        match has_status(view, row) || self.of(view, row).is_some() {
            true => Ok(()),
            false => Err(Problem::TracesMissing(vec![BlockRange::single(view.block_number[row])])),
        }
    }
}

/// Of the transactions whose status is not known, those that are known to have failed or to have succeeded: by their
/// call frames where these are loaded, else by the gas that they left.
///
/// # Errors
///
/// When the store fails.
pub(crate) async fn failures(app: &App, head: &Head, batches: &[Batch<TransactionRow>]) -> Result<Failures, Problem> {
    let mut failures = HashMap::new();
    let mut traced = TransactionPositions::new();
    for batch in batches {
        let view = batch.view();
        for row in (0..batch.len()).filter(|row| !has_status(&view, *row)) {
            let position = (view.block_number[row], view.transaction_index[row]);
            if head.traces.contains(position.0) {
                traced.insert(position);
            } else if has_left_gas(&view, row) {
                failures.insert(position, false);
            }
        }
    }
    if !traced.is_empty() {
        let found = app.reader().rows(&endings(&traced, &head.traces.span())).await?;
        let failure = |ending: Ending| ((ending.block_number, ending.transaction_index), !ending.error.is_empty());
        failures.extend(found.into_iter().map(failure).filter(|(position, _)| traced.contains(position)));
    }
    Ok(Failures(failures))
}

fn has(view: &TransactionView<'_>, row: usize, name: &str) -> bool {
    view.has_receipt[row] == 1 && view.lacking.items::<String>(row).all(|column| column != name)
}

fn has_status(view: &TransactionView<'_>, row: usize) -> bool {
    has(view, row, "status") && Option::<u8>::get(&view.status, row).is_some()
}

/// Whether a transaction before Byzantium left gas, and so succeeded: all failures took all gas then, except creations
/// of the first rules whose code could not be paid for.
fn has_left_gas(view: &TransactionView<'_>, row: usize) -> bool {
    ["post_state_root", "gas_used"].into_iter().all(|column| has(view, row, column))
        && Option::<B256>::get(&view.post_state_root, row).is_some()
        && Option::<Address>::get(&view.to_address, row).is_some()
        && view.gas_used[row] < view.gas_limit[row]
}
