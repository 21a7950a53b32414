//! Token transfers of a page, with what is shown beside their rows.

use std::collections::{BTreeSet, HashMap};

use futures_util::future::BoxFuture;

use crate::app::App;
use crate::enrich::labels::LabelQuery;
use crate::error::Problem;
use crate::rest::cursor::TransferCursor;
use crate::rest::list::{ListItems, ListRow};
use crate::rest::page::Page;
use trawl_core::primitives::{Address, BlockNumber, TransferPosition};
use trawl_core::schema::{Column, TokenTransferRow};
use trawl_core::store::{Batch, Head};
use trawl_json::addresses::address::Addresses;
use trawl_json::tokens::transfers::{Tokens, write_token_transfer};
use trawl_json::{Array, JsonWriter};

/// Token transfers that a transaction's page shows.
const SHOWN_TRANSFERS: u64 = 10;

/// A row of a batch.
pub(in crate::rest) type Row<'b> = (&'b Batch<TokenTransferRow>, usize);

/// Token transfers with their facts.
pub(in crate::rest) struct TransferItems<'b> {
    rows: Vec<Row<'b>>,
    /// What the transactions called, by their positions.
    methods: HashMap<(BlockNumber, u32), String>,
    addresses: Addresses,
    tokens: Tokens,
}

impl ListRow for TokenTransferRow {
    type Items<'b> = TransferItems<'b>;
    type Cursor = TransferCursor;

    /// Within a batch transfer, if the page ends inside one.
    fn next(page: &Page<'_, Self>) -> Option<TransferCursor> {
        let log = |batch: &Batch<TokenTransferRow>, row: usize| {
            let view = batch.view();
            (view.block_number[row], u64::from(view.log_index[row]))
        };
        let after = page.after(log)?;
        page.last(|batch, row| {
            let (block_number, log_index) = log(batch, row);
            let view = batch.view();
            let is_cut = after == (block_number, log_index);
            let batch_index = if is_cut { view.batch_index[row].into() } else { 0 };
            let hashes = || [view.block_hash.bytes(row), view.transaction_hash.bytes(row)].map(|hash| *hash);
            TransferCursor {
                position: TransferPosition { block_number, log_index, batch_index },
                batch: is_cut.then(hashes),
            }
        })
    }
}

impl<'b> ListItems<'b, TokenTransferRow> for TransferItems<'b> {
    fn load<'a>(app: &'a App, head: &'a Head, rows: Vec<Row<'b>>) -> BoxFuture<'a, Result<Self, Problem>>
    where
        'b: 'a,
    {
        Box::pin(async move {
            let (mut addresses, mut positions, mut label_query) =
                (BTreeSet::new(), BTreeSet::new(), LabelQuery::default());
            for (batch, row) in &rows {
                let view = batch.view();
                positions.insert((view.block_number[*row], view.transaction_index[*row]));
                let columns = [&view.from_address, &view.to_address, &view.token_address];
                addresses.extend(columns.map(|column| Address::get(column, *row)));
                label_query.tokens.insert(Address::get(&view.token_address, *row));
            }
            let (calls, ()) = tokio::try_join!(
                async { Ok(app.selectors().calls(app.reader(), positions, head).await?) },
                app.prefetch(&addresses, &label_query.tokens, head)
            )?;
            calls.values().for_each(|call| label_query.call(call.to_address, &call.selector));
            let (addresses, tokens, vocabulary) = app.address_info(addresses, label_query, head).await?;
            let methods = calls
                .iter()
                .filter_map(|(at, call)| {
                    Some((*at, vocabulary.method(call.to_address.as_ref(), at.0, &call.selector)?))
                })
                .collect();
            Ok(Self { rows, methods, addresses, tokens })
        })
    }

    fn write(&self, items: &mut Array<'_>) {
        for (batch, row) in &self.rows {
            let view = batch.view();
            let at = (view.block_number[*row], view.transaction_index[*row]);
            let method = self.methods.get(&at).map(String::as_str);
            write_token_transfer(items.item(), &view, *row, method, &self.addresses, &self.tokens);
        }
    }
}

impl TransferItems<'_> {
    /// All of them, as a JSON array.
    pub fn to_json(&self) -> Vec<u8> {
        let mut writer = JsonWriter::new();
        writer.array(|items| self.write(items));
        writer.into_bytes()
    }
}

/// The first token transfers of a transaction, as a JSON array, and whether there are more; `None` where receipts are
/// not readable.
///
/// # Errors
///
/// When the store fails.
pub(in crate::rest) async fn first_transfers(
    app: &App,
    head: &Head,
    block: BlockNumber,
    index: u32,
) -> Result<Option<(Vec<u8>, bool)>, Problem> {
    if !head.receipts.contains(block) {
        return Ok(None);
    }
    let span = head.receipts.at(block);
    let statement = trawl_query::tokens::transfers::of_transaction_after(&span, index, &[], None, SHOWN_TRANSFERS + 1);
    let batches = app.rows_of(head, &statement).await?;
    let page = Page::cut(&batches, SHOWN_TRANSFERS);
    let items = TransferItems::load(app, head, page.items()).await?;
    Ok(Some((items.to_json(), page.more)))
}
