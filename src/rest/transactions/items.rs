//! Transactions of a page, with what is shown beside their rows.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::failures::failures;
use futures_util::future::BoxFuture;

use crate::app::App;
use crate::enrich::labels::LabelQuery;
use crate::error::Problem;
use crate::read::addresses::plain_transfers::Delivery;
use crate::rest::cursor::TransactionCursor;
use crate::rest::list::{ListItems, ListRow};
use crate::rest::page::Page;
use trawl_core::primitives::{Address, BlockNumber, TransactionPosition, U256};
use trawl_core::schema::{Column, TransactionRow};
use trawl_core::store::{Batch, Head};
use trawl_json::addresses::address::Addresses;
use trawl_json::stats::chain_facts::gas_token;
use trawl_json::tokens::transfers::Tokens;
use trawl_json::transactions::items::{TransactionFacts, transaction_types, write_transaction_item};
use trawl_json::{Array, JsonWriter};
use trawl_query::transactions::positions::{MAX_TRANSFERS, TransactionPositions};

/// A row of a batch.
pub(in crate::rest) type Row<'b> = (&'b Batch<TransactionRow>, usize);

/// Transactions with their facts.
pub(in crate::rest) struct TransactionItems<'b> {
    rows: Vec<Row<'b>>,
    /// Of each row.
    pub facts: Vec<TransactionFacts>,
    addresses: Addresses,
}

impl ListRow for TransactionRow {
    type Items<'b> = TransactionItems<'b>;
    type Cursor = TransactionCursor;

    fn next(page: &Page<'_, Self>) -> Option<TransactionCursor> {
        let position = |batch: &Batch<Self>, row: usize| {
            let (block_number, index) = position(batch, row);
            TransactionCursor(TransactionPosition { block_number, transaction_index: index.into() })
        };
        page.more.then(|| page.last(position)).flatten()
    }
}

impl<'b> ListItems<'b, TransactionRow> for TransactionItems<'b> {
    /// One statement for each kind of facts, all at the same time.
    fn load<'a>(app: &'a App, head: &'a Head, rows: Vec<Row<'b>>) -> BoxFuture<'a, Result<Self, Problem>>
    where
        'b: 'a,
    {
        Box::pin(async move {
            let family = app.family(head);
            let (mut shown, mut label_query) = (BTreeSet::new(), LabelQuery::default());
            for (batch, row) in &rows {
                let view = batch.view();
                shown.insert(Address::get(&view.from_address, *row));
                let recipient = Option::<Address>::get(&view.to_address, *row);
                shown.extend(recipient.into_iter().chain(Option::<Address>::get(&view.contract_address, *row)));
                label_query.call(recipient, view.input.value(*row));
                let gas_token = family.and_then(|family| gas_token(family, &view, *row));
                shown.extend(gas_token);
                label_query.tokens.extend(gas_token);
            }
            let deliveries = rows.iter().filter_map(|(batch, row)| Delivery::of(&batch.view(), *row)).collect();
            let (info, fees, moving, failures, plain) = tokio::try_join!(
                app.address_info(shown, label_query, head),
                base_fees(app, head, &rows),
                moving(app, head, &rows),
                failures(app, head, failed_positions(&rows)),
                app.plain_transfers(head, deliveries)
            )?;
            let (addresses, tokens, vocabulary) = info;
            let facts = |(batch, row): &Row<'_>| {
                let view = batch.view();
                let position = position(batch, *row);
                let recipient = Option::<Address>::get(&view.to_address, *row);
                let created = Option::<Address>::get(&view.contract_address, *row);
                let is_plain = plain.contains(&position) || is_mere_transfer(batch, *row);
                let input = if is_plain { &[][..] } else { view.input.value(*row) };
                TransactionFacts {
                    base_fee: fees.get(&position.0).copied(),
                    family,
                    method: vocabulary.method(recipient.as_ref(), position.0, input),
                    decoded_input: recipient
                        .and_then(|recipient| vocabulary.decoded_input(&recipient, position.0, input)),
                    head: head.number().unwrap_or_default(),
                    moves_tokens: moving
                        .as_ref()
                        .filter(|_| head.receipts.contains(position.0))
                        .map(|all| all.contains(&position)),
                    calls_contract: match recipient {
                        _ if is_plain => Some(false),
                        Some(recipient) if addresses.is_contract(&recipient) => Some(true),
                        _ => None,
                    },
                    creates_token: created.is_some_and(|created| addresses.is_token(&created)),
                    failure: failures.get(&position).cloned(),
                    gas_token: family
                        .and_then(|family| gas_token(family, &view, *row))
                        .map(|token| token_object(&tokens, &token)),
                    ..TransactionFacts::default()
                }
            };
            let facts = rows.iter().map(facts).collect();
            Ok(Self { rows, facts, addresses })
        })
    }

    fn write(&self, items: &mut Array<'_>) {
        for ((batch, row), facts) in self.rows.iter().zip(&self.facts) {
            write_transaction_item(items.item(), &batch.view(), *row, facts, &self.addresses);
        }
    }
}

impl TransactionItems<'_> {
    /// Retains the transactions of a type.
    pub fn retain(&mut self, kind: &str) {
        let (rows, facts) = (std::mem::take(&mut self.rows), std::mem::take(&mut self.facts));
        let is_of_kind = |((batch, row), facts): &(Row<'_>, TransactionFacts)| {
            transaction_types(&batch.view(), *row, facts).any(|name| name == kind)
        };
        (self.rows, self.facts) = rows.into_iter().zip(facts).filter(is_of_kind).unzip();
    }

    /// The first of them, as JSON text.
    pub fn write_first(&self) -> Vec<u8> {
        let mut writer = JsonWriter::new();
        if let (Some((batch, row)), Some(facts)) = (self.rows.first(), self.facts.first()) {
            write_transaction_item(&mut writer, &batch.view(), *row, facts, &self.addresses);
        }
        writer.into_bytes()
    }
}

/// The object of a token that pays for gas.
fn token_object(tokens: &Tokens, token: &Address) -> Vec<u8> {
    let mut writer = JsonWriter::new();
    tokens.write(&mut writer, token, "ERC-20");
    writer.into_bytes()
}

fn position(batch: &Batch<TransactionRow>, row: usize) -> (BlockNumber, u32) {
    let view = batch.view();
    (view.block_number[row], view.transaction_index[row])
}

/// Gas of a transaction without data before any code runs.
const INTRINSIC_GAS: u64 = 21_000;

/// Whether a transaction without data used no gas for code: its recipient had none then, whatever it has now.
fn is_mere_transfer(batch: &Batch<TransactionRow>, row: usize) -> bool {
    let view = batch.view();
    let is_known = view.has_receipt[row] == 1 && view.lacking.items::<String>(row).all(|column| column != "gas_used");
    is_known && view.input.value(row).is_empty() && view.gas_used[row] == INTRINSIC_GAS
}

fn failed_positions(rows: &[Row<'_>]) -> TransactionPositions {
    let has_failed = |(batch, row): &&Row<'_>| Option::<u8>::get(&batch.view().status, *row) == Some(0);
    rows.iter().filter(has_failed).map(|(batch, row)| position(batch, *row)).collect()
}

/// The base fees of the blocks of `rows` that have one.
async fn base_fees(app: &App, head: &Head, rows: &[Row<'_>]) -> Result<HashMap<BlockNumber, U256>, Problem> {
    let numbers: BTreeSet<BlockNumber> = rows.iter().map(|(batch, row)| position(batch, *row).0).collect();
    let found = app.reader().rows(&trawl_query::blocks::base_fees(&numbers, &head.blocks.span())).await?;
    let known = found.into_iter().filter(|block| block.lacking.iter().all(|column| column != "base_fee_per_gas"));
    Ok(known.filter_map(|block| Some((block.block_number, block.base_fee_per_gas?))).collect())
}

/// Those of `rows` that moved tokens; `None` if that is unknown, because there are too many transfers.
async fn moving(app: &App, head: &Head, rows: &[Row<'_>]) -> Result<Option<HashSet<(BlockNumber, u32)>>, Problem> {
    let has_logs = |(batch, row): &&Row<'_>| batch.view().logs_count[*row] > 0;
    let positions: TransactionPositions =
        rows.iter().filter(has_logs).map(|(batch, row)| position(batch, *row)).collect();
    if positions.is_empty() {
        return Ok(Some(HashSet::new()));
    }
    let statement = trawl_query::transactions::positions::token_transfers(&positions, &head.receipts.span());
    let found = app.reader().rows(&statement).await?;
    let is_complete = (found.len() as u64) < MAX_TRANSFERS;
    Ok(is_complete
        .then(|| found.into_iter().map(|position| (position.block_number, position.transaction_index)).collect()))
}
