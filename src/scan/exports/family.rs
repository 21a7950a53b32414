//! The columns of Blockscout's exports, and what is looked up for them.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::sync::Arc;

use super::columns::Columns;
use crate::app::App;
use crate::enrich::labels::LabelQuery;
use crate::error::Problem;
use crate::read::addresses::plain_transfers::Delivery;
use trawl_core::primitives::{Address, B256, BlockNumber, U256};
use trawl_core::schema::{
    BlockTokenTransferRow, BlockTokenTransferView, Column, LogRow, LogView, ScannedInternalTransaction,
    ScannedInternalTransactionView, ScannedTransaction, ScannedTransactionView,
};
use trawl_core::store::{Batch, Head};
use trawl_json::JsonWriter;
use trawl_json::scan_rows::exports;
use trawl_json::scan_rows::exports::{FrameFacts, TransactionFacts};
use trawl_json::tokens::transfers::Tokens;
use trawl_query::account::frames::{FrameData, FrameKey, at_positions};
use trawl_query::account::transfers::{TransactionGas, gas};
use trawl_query::transactions::positions::{TransactionPositions, endings};
use trawl_query::walk::Order;

/// Where facts are read, and for whose export.
#[derive(Clone)]
pub(super) struct Source {
    pub app: App,
    pub head: Arc<Head>,
    pub address: Address,
}

type TransactionKey = (BlockNumber, u32);

impl Source {
    /// What transactions paid for a unit of gas and in all, as far as it is known.
    async fn payments(
        &self,
        positions: &TransactionPositions,
    ) -> Result<HashMap<TransactionKey, (Option<U256>, Option<U256>)>, Problem> {
        let found = self.app.reader().rows(&gas(positions, &self.head.blocks.span())).await?;
        let payment = |row: &TransactionGas| {
            let has = |column: &str| row.has_receipt == 1 && row.lacking.iter().all(|lacking| lacking != column);
            let price = has("effective_gas_price").then_some(row.effective_gas_price);
            let fee = price.filter(|_| has("gas_used")).and_then(|_| row.fee().total());
            ((row.block_number, row.transaction_index), (price, fee))
        };
        Ok(found.iter().map(payment).collect())
    }
}

/// The delivery that a transaction is, if it is one.
fn delivery(view: &ScannedTransactionView<'_>, row: usize) -> Option<Delivery> {
    let recipient = Option::<Address>::get(&view.to_address, row)?;
    let has_failed = Option::<u8>::get(&view.status, row) == Some(0);
    let position = (view.block_number[row], view.transaction_index[row]);
    (!view.input.value(row).is_empty() && !has_failed).then_some(Delivery { position, recipient })
}

/// Rows of `transactions/csv`, with method and error.
pub(super) struct Transactions {
    source: Source,
    /// Of the rows that were looked up, by row.
    facts: HashMap<usize, TransactionFacts>,
}

impl From<Source> for Transactions {
    fn from(source: Source) -> Self {
        Self { source, facts: HashMap::new() }
    }
}

impl Transactions {
    /// What was looked up for a row.
    pub fn facts(&self, row: usize) -> Option<&TransactionFacts> {
        self.facts.get(&row)
    }
}

impl Columns for Transactions {
    type Row = ScannedTransaction;
    const HEADER: &'static str = exports::TRANSACTIONS;

    async fn look_up(&mut self, batch: &Batch<ScannedTransaction>, rows: Range<usize>) -> Result<(), Problem> {
        let Source { app, head, .. } = &self.source;
        let (view, mut label_query, mut traced) = (batch.view(), LabelQuery::default(), TransactionPositions::new());
        let deliveries = rows.clone().filter_map(|row| delivery(&view, row)).collect();
        for row in rows.clone() {
            label_query.call(Option::<Address>::get(&view.to_address, row), view.input.value(row));
            if Option::<u8>::get(&view.status, row) != Some(1) && head.traces.contains(view.block_number[row]) {
                traced.insert((view.block_number[row], view.transaction_index[row]));
            }
        }
        let ((_, _, vocabulary), plain) = tokio::try_join!(
            app.address_info(BTreeSet::new(), label_query, head),
            app.plain_transfers(head, deliveries)
        )?;
        let statement = endings(&traced, &head.traces.span());
        let found = if traced.is_empty() { Vec::new() } else { app.reader().rows(&statement).await? };
        let errors: HashMap<TransactionKey, String> =
            found.into_iter().map(|row| ((row.block_number, row.transaction_index), row.error)).collect();
        let facts = |row: usize| {
            let recipient = Option::<Address>::get(&view.to_address, row);
            let position = (view.block_number[row], view.transaction_index[row]);
            let error = errors.get(&position);
            let input = if plain.contains(&position) { &[][..] } else { view.input.value(row) };
            let facts = TransactionFacts {
                method: vocabulary.method(recipient.as_ref(), position.0, input),
                has_failed: error.map(|error| !error.is_empty()),
                error: error.cloned(),
            };
            (row, facts)
        };
        self.facts = rows.map(facts).collect();
        Ok(())
    }

    fn write(&self, out: &mut JsonWriter, view: &ScannedTransactionView<'_>, row: usize, _: B256) {
        let unknown = TransactionFacts::default();
        let facts = self.facts(row).unwrap_or(&unknown);
        exports::write_transaction(out, view, row, &self.source.address, facts);
    }
}

/// Rows of `token-transfers/csv`, with token and fee.
pub(super) struct TokenTransfers {
    source: Source,
    tokens: Tokens,
    payments: HashMap<TransactionKey, (Option<U256>, Option<U256>)>,
}

impl From<Source> for TokenTransfers {
    fn from(source: Source) -> Self {
        Self { source, tokens: Tokens::default(), payments: HashMap::new() }
    }
}

impl Columns for TokenTransfers {
    type Row = BlockTokenTransferRow;
    const HEADER: &'static str = exports::TOKEN_TRANSFERS;

    async fn look_up(&mut self, batch: &Batch<BlockTokenTransferRow>, rows: Range<usize>) -> Result<(), Problem> {
        let Source { app, head, .. } = &self.source;
        let view = batch.view();
        let tokens: BTreeSet<Address> = rows.clone().map(|row| Address::get(&view.token_address, row)).collect();
        let positions = rows.map(|row| (view.block_number[row], view.transaction_index[row])).collect();
        let info = app.address_info(tokens, LabelQuery::default(), head);
        let ((_, tokens, _), payments) = tokio::try_join!(info, self.source.payments(&positions))?;
        (self.tokens, self.payments) = (tokens, payments);
        Ok(())
    }

    fn write(&self, out: &mut JsonWriter, view: &BlockTokenTransferView<'_>, row: usize, _: B256) {
        let payment = self.payments.get(&(view.block_number[row], view.transaction_index[row]));
        let fee = payment.and_then(|(_, fee)| *fee);
        exports::write_token_transfer(out, view, row, &self.source.address, &self.tokens, fee);
    }
}

/// Rows of `internal-transactions/csv`, with gas, price and data.
pub(super) struct Frames {
    source: Source,
    facts: HashMap<FrameKey, FrameFacts>,
}

impl From<Source> for Frames {
    fn from(source: Source) -> Self {
        Self { source, facts: HashMap::new() }
    }
}

impl Columns for Frames {
    type Row = ScannedInternalTransaction;
    const HEADER: &'static str = exports::INTERNAL_TRANSACTIONS;

    async fn look_up(&mut self, batch: &Batch<ScannedInternalTransaction>, rows: Range<usize>) -> Result<(), Problem> {
        let Source { app, head, .. } = &self.source;
        let view = batch.view();
        let keys: Vec<FrameKey> = rows.map(|row| key(&view, row)).collect();
        let positions: TransactionPositions =
            keys.iter().map(|(block, transaction, _)| (*block, *transaction)).collect();
        let frames = at_positions::<FrameData>(&keys, &head.traces.span(), Order::OldestFirst);
        let frames = async { app.reader().rows(&frames).await.map_err(Problem::from) };
        let (frames, payments) = tokio::try_join!(frames, self.source.payments(&positions))?;
        let facts = |frame: FrameData| {
            let (block, transaction) = (frame.block_number, frame.transaction_index);
            let facts = FrameFacts {
                gas_used: frame.execution_gas_used.or(frame.gas_used),
                gas_price: payments.get(&(block, transaction)).and_then(|(price, _)| *price),
                data: Some((frame.input.to_vec(), frame.output.to_vec())),
            };
            ((block, transaction, frame.frame_index), facts)
        };
        self.facts = frames.into_iter().map(facts).collect();
        Ok(())
    }

    fn write(&self, out: &mut JsonWriter, view: &ScannedInternalTransactionView<'_>, row: usize, block_hash: B256) {
        let unknown = FrameFacts::default();
        let facts = self.facts.get(&key(view, row)).unwrap_or(&unknown);
        exports::write_frame(out, view, row, block_hash, facts);
    }
}

fn key(view: &ScannedInternalTransactionView<'_>, row: usize) -> FrameKey {
    (view.block_number[row], view.transaction_index[row], view.frame_index[row])
}

/// Logs, whose rows have all columns.
pub(super) struct Logs;

impl From<Source> for Logs {
    fn from(_: Source) -> Self {
        Self
    }
}

impl Columns for Logs {
    type Row = LogRow;
    const HEADER: &'static str = exports::LOGS;

    fn write(&self, out: &mut JsonWriter, view: &LogView<'_>, row: usize, _: B256) {
        exports::write_log(out, view, row);
    }
}
