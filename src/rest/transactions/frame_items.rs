//! Call frames of a page, with what is shown beside their rows.

use futures_util::future::BoxFuture;

use crate::app::App;
use crate::error::Problem;
use crate::rest::cursor::FrameCursor;
use crate::rest::list::{ListItems, ListRow};
use crate::rest::page::Page;
use trawl_core::primitives::{BlockNumber, FramePosition};
use trawl_core::schema::ScannedInternalTransaction;
use trawl_core::store::{Batch, Head};
use trawl_json::Array;
use trawl_json::addresses::address::Addresses;
use trawl_json::transactions::internal::{shown, write_internal_transaction};

/// A row of a batch.
pub(in crate::rest) type Row<'b> = (&'b Batch<ScannedInternalTransaction>, usize);

/// Call frames with the facts of their addresses.
pub(in crate::rest) struct FrameItems<'b> {
    rows: Vec<Row<'b>>,
    addresses: Addresses,
}

impl ListRow for ScannedInternalTransaction {
    type Items<'b> = FrameItems<'b>;
    type Cursor = FrameCursor;

    fn next(page: &Page<'_, Self>) -> Option<FrameCursor> {
        page.more.then(|| page.last(position)).flatten().map(FrameCursor)
    }
}

impl<'b> ListItems<'b, ScannedInternalTransaction> for FrameItems<'b> {
    fn load<'a>(app: &'a App, head: &'a Head, rows: Vec<Row<'b>>) -> BoxFuture<'a, Result<Self, Problem>>
    where
        'b: 'a,
    {
        Box::pin(async move {
            let mut addresses = Vec::new();
            rows.iter().for_each(|(batch, row)| addresses.extend(shown(&batch.view(), *row)));
            let addresses = app.addresses(addresses, head).await?;
            Ok(Self { rows, addresses })
        })
    }

    fn write(&self, items: &mut Array<'_>) {
        for (batch, row) in &self.rows {
            write_internal_transaction(items.item(), &batch.view(), *row, &self.addresses);
        }
    }
}

/// The position of a frame.
pub(in crate::rest) fn position(batch: &Batch<ScannedInternalTransaction>, row: usize) -> FramePosition {
    let view = batch.view();
    FramePosition {
        block_number: view.block_number[row],
        transaction_index: view.transaction_index[row].into(),
        frame_index: view.frame_index[row].into(),
    }
}

/// Whether a call within a transaction failed; `None` where call frames are not readable.
///
/// # Errors
///
/// When the store fails.
pub(in crate::rest) async fn has_failed_calls(
    app: &App,
    head: &Head,
    block: BlockNumber,
    index: u32,
) -> Result<Option<bool>, Problem> {
    if !head.traces.contains(block) {
        return Ok(None);
    }
    let statement = trawl_query::transactions::internal::failed_call(&head.traces.at(block), index);
    Ok(Some(!app.values_of(head, &statement).await?.is_empty()))
}
