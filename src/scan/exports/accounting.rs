//! The columns for accounting, and what is looked up for them.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use super::columns::Columns;
use super::family;
use super::family::Source;
use crate::enrich::labels::LabelQuery;
use crate::error::Problem;
use trawl_core::primitives::{Address, B256, BlockNumber, TransactionType, U256};
use trawl_core::schema::{
    BlockTokenTransferRow, BlockTokenTransferView, Column, ScannedInternalTransaction, ScannedInternalTransactionView,
    ScannedTransaction, ScannedTransactionView,
};
use trawl_core::store::Batch;
use trawl_json::JsonWriter;
use trawl_json::scan_rows::accounting;
use trawl_json::scan_rows::accounting::{Account, HEADER};
use trawl_json::scan_rows::exports::TransactionFacts;
use trawl_json::tokens::transfers::Tokens;
use trawl_query::transactions::positions::{BlobPayment, TransactionPositions, blob_payments};

fn account(source: &Source) -> Account {
    let coin = source.app.coin(&source.head).unwrap_or_default().to_owned();
    Account { address: source.address, coin, family: source.app.family(&source.head) }
}

/// Rows of `transactions/csv`, with method, outcome and what was paid for blobs.
pub(super) struct Transactions {
    source: Source,
    account: Account,
    found: family::Transactions,
    /// Wei, by position of the transactions that have blobs.
    blob_fees: HashMap<(BlockNumber, u32), U256>,
}

impl From<Source> for Transactions {
    fn from(source: Source) -> Self {
        let account = account(&source);
        Self { account, found: source.clone().into(), source, blob_fees: HashMap::new() }
    }
}

impl Columns for Transactions {
    type Row = ScannedTransaction;
    const HEADER: &'static str = HEADER;

    async fn look_up(&mut self, batch: &Batch<ScannedTransaction>, rows: Range<usize>) -> Result<(), Problem> {
        let Source { app, head, .. } = &self.source;
        let view = batch.view();
        let is_paid =
            |row: &usize| has_blobs(&view, *row) && Address::get(&view.from_address, *row) == self.account.address;
        let positions: TransactionPositions =
            rows.clone().filter(is_paid).map(|row| (view.block_number[row], view.transaction_index[row])).collect();
        let statement = blob_payments(&positions, &head.blocks.span());
        let payments = async {
            let found = if positions.is_empty() { Vec::new() } else { app.reader().rows(&statement).await? };
            Ok(found)
        };
        let (payments, ()) = tokio::try_join!(payments, self.found.look_up(batch, rows))?;
        let fee = |row: &BlobPayment| Some(((row.block_number, row.transaction_index), row.fee()?));
        self.blob_fees = payments.iter().filter_map(fee).collect();
        Ok(())
    }

    fn write(&self, out: &mut JsonWriter, view: &ScannedTransactionView<'_>, row: usize, _: B256) {
        let unknown = TransactionFacts::default();
        let facts = self.found.facts(row).unwrap_or(&unknown);
        let position = (view.block_number[row], view.transaction_index[row]);
        let for_blobs = if has_blobs(view, row) { self.blob_fees.get(&position).copied() } else { Some(U256::ZERO) };
        accounting::write_transaction(out, view, row, &self.account, facts, for_blobs);
    }
}

fn has_blobs(view: &ScannedTransactionView<'_>, row: usize) -> bool {
    TransactionType::from(view.transaction_type[row]) == TransactionType::Blob
}

/// Rows of `token-transfers/csv`, with token.
pub(super) struct TokenTransfers {
    source: Source,
    account: Account,
    tokens: Tokens,
}

impl From<Source> for TokenTransfers {
    fn from(source: Source) -> Self {
        Self { account: account(&source), source, tokens: Tokens::default() }
    }
}

impl Columns for TokenTransfers {
    type Row = BlockTokenTransferRow;
    const HEADER: &'static str = HEADER;

    async fn look_up(&mut self, batch: &Batch<BlockTokenTransferRow>, rows: Range<usize>) -> Result<(), Problem> {
        let Source { app, head, .. } = &self.source;
        let view = batch.view();
        let tokens: BTreeSet<Address> = rows.map(|row| Address::get(&view.token_address, row)).collect();
        (_, self.tokens, _) = app.address_info(tokens, LabelQuery::default(), head).await?;
        Ok(())
    }

    fn write(&self, out: &mut JsonWriter, view: &BlockTokenTransferView<'_>, row: usize, _: B256) {
        accounting::write_token_transfer(out, view, row, &self.account, &self.tokens);
    }
}

/// Rows of `internal-transactions/csv`.
pub(super) struct Frames(Account);

impl From<Source> for Frames {
    fn from(source: Source) -> Self {
        Self(account(&source))
    }
}

impl Columns for Frames {
    type Row = ScannedInternalTransaction;
    const HEADER: &'static str = HEADER;

    fn write(&self, out: &mut JsonWriter, view: &ScannedInternalTransactionView<'_>, row: usize, _: B256) {
        accounting::write_frame(out, view, row, &self.0);
    }
}
