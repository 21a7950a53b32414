//! Lists of messages from a rollup to its L1.

use std::collections::{BTreeSet, HashMap};

use axum::extract::{MatchedPath, State};
use axum::response::Response;
use trawl_chains::{MessageList, MessageSource};

use crate::app::App;
use crate::cache::cache_control::CachePolicy;
use crate::error::Problem;
use crate::http::parameters::{NoParameters, Parameters, TransactionPath, query_parameters};
use crate::http::query::PAGE_SIZE;
use crate::http::whole_body::json;
use crate::middleware::request_head::RequestHead;
use crate::rest::cursor::{AddressLogCursor, Cursor};
use crate::rest::list::ListRow;
use crate::rest::page::Page;
use crate::rest::transactions::transaction::with_part;
use trawl_core::primitives::{Address, BlockNumber};
use trawl_core::schema::{BlockPart, Column, LogRow};
use trawl_core::store::{Batch, Head};
use trawl_json::JsonWriter;
use trawl_json::addresses::address::Addresses;
use trawl_json::list::write_page;
use trawl_json::rollups::messages::write_rest_message;
use trawl_query::transactions::positions::{TransactionPositions, transactions};

query_parameters! {
    pub(crate) MessagesParameters: [AddressLogCursor::PARAMETERS, PAGE_SIZE];
}

/// The messages to L1 of the chain's family, newest first; on chains of other families there is no such list
/// (docs/reference/http-contract.md#messages-to-l1).
pub(in crate::rest) async fn list(
    State(app): State<App>,
    path: MatchedPath,
    head: RequestHead,
    query: Parameters<MessagesParameters>,
) -> Result<Response, Problem> {
    let before = AddressLogCursor::read(&query)?.map(|cursor| cursor.0);
    let (head, size) = (head.get()?, query.page_size());
    let family = app.family(&head);
    let list = family.and_then(|family| family.messages).filter(|list| list.path == path.as_str());
    let list = list.ok_or(Problem::UnknownAction)?;
    let blocks = head.receipts.span();
    let statement = trawl_query::logs::of_address(&list.contract, Some(&list.event), &blocks, before, size + 1);
    let batches = app.rows_of(&head, &statement).await?;
    let page = Page::cut(&batches, size);
    let senders = Senders::load(&app, &head, list, &page).await?;
    let next = LogRow::next(&page).map(|cursor| cursor.writer(page.count));
    let policy = CachePolicy::of_page(&head, &head.receipts, query.height("block_number"));
    let items = write_page(
        |items| {
            page.rows(|batch, row| {
                write_rest_message(items.item(), list.members, &batch.view(), row, senders.of(batch, row));
            });
        },
        next,
    );
    Ok(policy.mark(json(items)))
}

/// More messages than a block has room for.
const MAX_PER_BLOCK: u64 = 100_000;

/// The messages to L1 of one transaction, in order.
pub(in crate::rest) async fn of_transaction(
    State(app): State<App>,
    path: MatchedPath,
    head: RequestHead,
    TransactionPath(hash): TransactionPath,
    _: Parameters<NoParameters>,
) -> Result<Response, Problem> {
    let head = head.get()?;
    let list = app.family(&head).and_then(|family| family.messages).ok_or(Problem::UnknownAction)?;
    let own = list.of_transaction.as_ref().filter(|own| own.path == path.as_str()).ok_or(Problem::UnknownAction)?;
    let (batch, row) = with_part(&app, &hash, &head, BlockPart::Receipts).await?;
    let (block, index) = (batch.view().block_number[row], batch.view().transaction_index[row]);
    // Those of its block are a range of the key; the newest is the first.
    let blocks = head.receipts.at(block);
    let of_block = trawl_query::logs::of_address(&list.contract, Some(&list.event), &blocks, None, MAX_PER_BLOCK);
    let batches = app.rows_of(&head, &of_block).await?;
    let rows = batches.iter().flat_map(|batch| (0..batch.len()).map(move |row| (batch, row)));
    let mut rows: Vec<_> = rows.filter(|(batch, row)| batch.view().transaction_index[*row] == index).collect();
    rows.reverse();
    let mut writer = JsonWriter::new();
    writer.object(|page| {
        page.key("items").array(|items| {
            for (batch, row) in rows {
                write_rest_message(items.item(), own.members, &batch.view(), row, None);
            }
        });
    });
    Ok(CachePolicy::of_block(&head, block).mark(json(writer.into_bytes())))
}

/// Who sent the transactions of a page.
struct Senders {
    by_transaction: HashMap<(BlockNumber, u32), Address>,
    addresses: Addresses,
}

impl Senders {
    /// Reads them where the list shows them.
    async fn load(app: &App, head: &Head, list: &MessageList, page: &Page<'_, LogRow>) -> Result<Self, Problem> {
        let mut positions = TransactionPositions::new();
        if list.members.iter().any(|member| member.source == MessageSource::TransactionSender) {
            positions.extend(page.items().into_iter().map(|(batch, row)| transaction(batch, row)));
        }
        let mut by_transaction = HashMap::new();
        if !positions.is_empty() {
            let statement = transactions(&positions, &head.blocks.span());
            for batch in app.reader().all(&statement).await? {
                let view = batch.view();
                by_transaction.extend((0..batch.len()).map(|row| {
                    let position = (view.block_number[row], view.transaction_index[row]);
                    (position, Address::get(&view.from_address, row))
                }));
            }
        }
        let senders: BTreeSet<Address> = by_transaction.values().copied().collect();
        let addresses = app.addresses(senders, head).await?;
        Ok(Self { by_transaction, addresses })
    }

    fn of(&self, batch: &Batch<LogRow>, row: usize) -> Option<(&Address, &Addresses)> {
        Some((self.by_transaction.get(&transaction(batch, row))?, &self.addresses))
    }
}

fn transaction(batch: &Batch<LogRow>, row: usize) -> (BlockNumber, u32) {
    let view = batch.view();
    (view.block_number[row], view.transaction_index[row])
}
