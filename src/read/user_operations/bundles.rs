//! What some transactions gave to EntryPoints: the input of each of their bundles.

use std::collections::HashMap;

use crate::app::App;
use crate::error::Problem;
use trawl_core::primitives::user_operation::{BEFORE_EXECUTION, OPERATION, is_bundle};
use trawl_core::primitives::{Address, BlockNumber, Bytes};
use trawl_core::store::Head;
use trawl_query::transactions::positions::{TransactionPositions, transactions};
use trawl_query::user_operations::{BundleEvent, EntryPointCall, calls_at, events_at};

/// An EntryPoint in a transaction, by the height and the position of that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct BundleKey {
    /// Height of the block.
    pub block_number: BlockNumber,
    /// Position in the block.
    pub transaction_index: u32,
    /// Who was given the bundles.
    pub entry_point: Address,
}

/// The bundles of an EntryPoint in a transaction, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct BundleRead {
    /// Where each begins, as the position of its event in the block, and how many operations it has.
    pub bundles: Vec<(u32, u32)>,
    /// The input of each; none where it is not known which call was whose.
    pub inputs: Option<Vec<Bytes>>,
}

impl BundleRead {
    /// The bundles of the transactions at `positions`.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub async fn load(
        app: &App,
        head: &Head,
        positions: &TransactionPositions,
    ) -> Result<HashMap<BundleKey, Self>, Problem> {
        let (span, entry_points) = (head.receipts.span(), app.options().entry_points.addresses());
        let events = events_at(positions, &entry_points, &[BEFORE_EXECUTION, OPERATION], &span);
        let sent = transactions(positions, &span);
        let (events, sent) = tokio::try_join!(app.values_of(head, &events), app.values_of(head, &sent))?;
        let mut read = bundles(&events);
        // A transaction that gives an EntryPoint a single bundle says itself what is in it.
        for transaction in sent {
            let Some(entry_point) = transaction.to_address else { continue };
            let (block_number, transaction_index) = (transaction.block_number, transaction.transaction_index);
            let key = BundleKey { block_number, transaction_index, entry_point };
            if let Some(read) = read.get_mut(&key).filter(|read| read.bundles.len() == 1) {
                read.inputs = Some(vec![transaction.input]);
            }
        }
        let unread: TransactionPositions = read
            .iter()
            .filter(|(key, read)| read.inputs.is_none() && head.traces.contains(key.block_number))
            .map(|(key, _)| (key.block_number, key.transaction_index))
            .collect();
        if !unread.is_empty() {
            let calls = calls_at(&unread, &entry_points, &head.traces.span());
            assign(app, &mut read, app.values_of(head, &calls).await?);
        }
        Ok(read)
    }
}

fn bundles(events: &[BundleEvent]) -> HashMap<BundleKey, BundleRead> {
    let mut read: HashMap<BundleKey, BundleRead> = HashMap::new();
    for event in events {
        let (block_number, transaction_index) = (event.block_number, event.transaction_index);
        let key = BundleKey { block_number, transaction_index, entry_point: event.address };
        let bundles = &mut read.entry(key).or_default().bundles;
        if event.topic0 == BEFORE_EXECUTION {
            bundles.push((event.log_index, 0));
        } else if let Some((_, operations)) = bundles.last_mut() {
            *operations += 1;
        }
    }
    read
}

/// Gives the bundles that have no input yet the calls that were bundles, if there are as many.
fn assign(app: &App, read: &mut HashMap<BundleKey, BundleRead>, calls: Vec<EntryPointCall>) {
    let mut inputs: HashMap<BundleKey, Vec<Bytes>> = HashMap::new();
    for call in calls {
        let Some(entry_point) = call.to_address else { continue };
        let version = app.options().entry_points.version(&entry_point);
        if version.is_some_and(|version| is_bundle(version, &call.input)) {
            let (block_number, transaction_index) = (call.block_number, call.transaction_index);
            inputs.entry(BundleKey { block_number, transaction_index, entry_point }).or_default().push(call.input);
        }
    }
    for (key, read) in read.iter_mut().filter(|(_, read)| read.inputs.is_none()) {
        read.inputs = inputs.remove(key).filter(|inputs| inputs.len() == read.bundles.len());
    }
}
