//! Logs of a page, with what is shown beside their rows.

use std::collections::{BTreeSet, HashMap};

use futures_util::future::BoxFuture;

use crate::app::App;
use crate::enrich::labels::LabelQuery;
use crate::error::Problem;
use crate::rest::cursor::AddressLogCursor;
use crate::rest::list::{ListItems, ListRow};
use crate::rest::page::Page;
use trawl_core::primitives::{Address, B256, BlockNumber, LogPosition};
use trawl_core::schema::{Column, LogRow};
use trawl_core::store::{Batch, Head};
use trawl_json::Array;
use trawl_json::addresses::address::Addresses;
use trawl_json::logs::write_rest_log;
use trawl_json::vocabulary::Vocabulary;

/// A row of a batch.
pub(in crate::rest) type Row<'b> = (&'b Batch<LogRow>, usize);

/// The position of a transaction.
type TransactionKey = (BlockNumber, u32);

/// Logs with their facts.
pub(in crate::rest) struct LogItems<'b> {
    rows: Vec<(Row<'b>, Option<Address>)>,
    addresses: Addresses,
    vocabulary: Vocabulary,
}

impl<'b> LogItems<'b> {
    /// Reads what is shown beside `rows`. `recipient`: the recipient of the transaction at a position, if it has one.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub async fn with_recipients(
        app: &App,
        head: &Head,
        rows: Vec<Row<'b>>,
        recipient: impl Fn(TransactionKey) -> Option<Address>,
    ) -> Result<Self, Problem> {
        let (mut shown, mut label_query) = (BTreeSet::new(), LabelQuery::default());
        let with_recipient = |row: Row<'b>| (row, recipient(position(&row)));
        let rows: Vec<(Row<'b>, Option<Address>)> = rows.into_iter().map(with_recipient).collect();
        for ((batch, row), recipient) in &rows {
            let view = batch.view();
            let emitter = Address::get(&view.address, *row);
            shown.insert(emitter);
            shown.extend(*recipient);
            if view.topics_count[*row] > 0 {
                label_query.event(emitter, B256::from(*view.topic0.bytes(*row)));
            }
        }
        let (addresses, _, vocabulary) = app.address_info(shown, label_query, head).await?;
        Ok(Self { rows, addresses, vocabulary })
    }
}

impl ListRow for LogRow {
    type Items<'b> = LogItems<'b>;
    type Cursor = AddressLogCursor;

    fn next(page: &Page<'_, Self>) -> Option<AddressLogCursor> {
        let position = |batch: &Batch<Self>, row: usize| {
            let view = batch.view();
            LogPosition { block_number: view.block_number[row], log_index: view.log_index[row].into() }
        };
        page.more.then(|| page.last(position)).flatten().map(AddressLogCursor)
    }
}

impl<'b> ListItems<'b, LogRow> for LogItems<'b> {
    /// Of several transactions, whose recipients are read too.
    fn load<'a>(app: &'a App, head: &'a Head, rows: Vec<Row<'b>>) -> BoxFuture<'a, Result<Self, Problem>>
    where
        'b: 'a,
    {
        Box::pin(async move {
            let positions = rows.iter().map(position).collect();
            let calls: HashMap<TransactionKey, _> = app.selectors().calls(app.reader(), positions, head).await?;
            Self::with_recipients(app, head, rows, |position| calls.get(&position)?.to_address).await
        })
    }

    fn write(&self, items: &mut Array<'_>) {
        for ((batch, row), recipient) in &self.rows {
            let (addresses, vocabulary) = (&self.addresses, &self.vocabulary);
            write_rest_log(items.item(), &batch.view(), *row, recipient.as_ref(), addresses, vocabulary);
        }
    }
}

fn position((batch, row): &Row<'_>) -> TransactionKey {
    let view = batch.view();
    (view.block_number[*row], view.transaction_index[*row])
}
