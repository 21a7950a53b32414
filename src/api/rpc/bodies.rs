//! Parts of a block by position: transactions and uncles, how many of them there are, and all receipts at once.

use serde_json::value::RawValue;

use super::methods::{Answer, exactly};
use super::params::{BlockId, block_id, block_name, index, invalid, value, word};
use crate::api::lacking::{require_block, require_receipt, require_transaction};
use crate::api::{App, Problem};
use trawl_core::primitives::{B256, BlockNumber};
use trawl_core::schema::{BlockRow, LogRow};
use trawl_core::store::{Batch, Head};
use trawl_json::blocks::write_rpc_uncle;
use trawl_json::transactions::{write_receipt, write_transaction};
use trawl_query::logs::LogPage;

pub(super) const METHODS: &[&str] = &[
    "eth_getBlockReceipts",
    "eth_getBlockTransactionCountByNumber",
    "eth_getBlockTransactionCountByHash",
    "eth_getTransactionByBlockNumberAndIndex",
    "eth_getTransactionByBlockHashAndIndex",
    "eth_getUncleCountByBlockNumber",
    "eth_getUncleCountByBlockHash",
    "eth_getUncleByBlockNumberAndIndex",
    "eth_getUncleByBlockHashAndIndex",
];

/// Answers one of [`METHODS`].
pub(super) async fn answer(app: &App, method: &str, params: &[&RawValue]) -> Result<Answer, Problem> {
    match method {
        "eth_getBlockReceipts" => {
            let [block] = exactly(params)?;
            let block = block_id(&value(block)).ok_or_else(|| invalid("Invalid block number"))?;
            let head = app.head()?;
            match block.number(app, &head).await? {
                Some(number) => receipts(app, number, &head).await,
                None => Ok(Answer::null()),
            }
        }
        "eth_getBlockTransactionCountByNumber" | "eth_getBlockTransactionCountByHash" => {
            count(app, method, params, |block| block.view().transactions_count[0].into()).await
        }
        "eth_getUncleCountByBlockNumber" | "eth_getUncleCountByBlockHash" => {
            count(app, method, params, |block| block.view().uncles.items::<B256>(0).count() as u64).await
        }
        "eth_getUncleByBlockNumberAndIndex" | "eth_getUncleByBlockHashAndIndex" => {
            let [block, position] = exactly(params)?;
            let (block, position) = (named(method, block)?, index(position)?);
            uncle(app, block, position).await
        }
        _ => {
            let [block, position] = exactly(params)?;
            let (block, position) = (named(method, block)?, index(position)?);
            transaction(app, block, position).await
        }
    }
}

/// A block by hash or by height, as the method's name says.
fn named(method: &str, param: &RawValue) -> Result<BlockId, Problem> {
    let value = value(param);
    if method.contains("Hash") {
        return word(&value).map(BlockId::Hash).ok_or_else(|| invalid("Invalid hash"));
    }
    block_name(&value).map(BlockId::Name).ok_or_else(|| invalid("Invalid block number"))
}

/// Something that a block's row tells as a number; `null` if the block is not readable.
async fn count(
    app: &App,
    method: &str,
    params: &[&RawValue],
    count: impl FnOnce(&Batch<BlockRow>) -> u64,
) -> Result<Answer, Problem> {
    let [block] = exactly(params)?;
    let block = named(method, block)?;
    let head = app.head()?;
    let Some(number) = block.number(app, &head).await? else { return Ok(Answer::null()) };
    let Some(block) = app.block_at(number, &head).await? else { return Ok(Answer::null()) };
    require_block(&block.view(), 0)?;
    Ok(Answer::of(|writer| writer.quantity(count(&block))))
}

async fn transaction(app: &App, block: BlockId, position: u64) -> Result<Answer, Problem> {
    let head = app.head()?;
    let Some(number) = block.number(app, &head).await? else { return Ok(Answer::null()) };
    let span = head.blocks.at(number);
    let (Ok(position), false) = (u32::try_from(position), span.is_empty()) else { return Ok(Answer::null()) };
    let found = app.reader().all(&trawl_query::transactions::in_block_at(&span, position)).await?;
    let Some(batch) = found.first() else { return Ok(Answer::null()) };
    require_transaction(&batch.view(), 0)?;
    Ok(Answer::of(|writer| write_transaction(writer, &batch.view(), 0)))
}

async fn uncle(app: &App, block: BlockId, position: u64) -> Result<Answer, Problem> {
    let head = app.head()?;
    let Some(number) = block.number(app, &head).await? else { return Ok(Answer::null()) };
    let Some(nephew) = app.block_at(number, &head).await? else { return Ok(Answer::null()) };
    require_block(&nephew.view(), 0)?;
    let position = usize::try_from(position).unwrap_or(usize::MAX);
    let Some(hash) = nephew.view().uncles.items::<B256>(0).nth(position) else { return Ok(Answer::null()) };
    let missing = || Problem::PartMissing { part: "Uncles", block: number };
    if !head.uncles.contains(number) {
        return Err(missing());
    }
    let found = app.reader().all(&trawl_query::uncles::of_nephew(&head.uncles.at(number), number, hash)).await?;
    let batch = found.first().ok_or_else(missing)?;
    Ok(Answer::of(|writer| write_rpc_uncle(writer, &batch.view(), 0)))
}

/// More logs than any block can hold: the cheapest log costs 375 gas.
const ALL_LOGS: u64 = 100_000_000;

/// All receipts of a block, in the order of its transactions. Memory is that of one block.
async fn receipts(app: &App, number: BlockNumber, head: &Head) -> Result<Answer, Problem> {
    let blocks = head.blocks.at(number);
    if blocks.is_empty() {
        return Ok(Answer::null());
    }
    if !head.receipts.contains(number) {
        return Err(Problem::PartMissing { part: "Receipts", block: number });
    }
    let logs = LogPage::new(Default::default(), head.receipts.at(number), ALL_LOGS).statement();
    let transactions = trawl_query::transactions::of_block(&blocks);
    let (transactions, logs) = tokio::try_join!(app.reader().all(&transactions), app.reader().all::<LogRow>(&logs))?;
    for batch in &transactions {
        (0..batch.len()).try_for_each(|row| require_receipt(&batch.view(), row))?;
    }
    Ok(Answer::of(|writer| {
        writer.array(|receipts| {
            let mut rest = Emitted::new(&logs);
            for batch in &transactions {
                let view = batch.view();
                for row in 0..batch.len() {
                    let own = rest.up_to(view.transaction_index[row]);
                    write_receipt(receipts.item(), &view, row, &own);
                }
            }
        });
    }))
}

/// The logs of a block that no receipt has taken yet.
struct Emitted<'l> {
    batches: &'l [Batch<LogRow>],
    /// Rows of the first batch that are taken.
    taken: usize,
}

impl<'l> Emitted<'l> {
    fn new(batches: &'l [Batch<LogRow>]) -> Self {
        Self { batches, taken: 0 }
    }

    /// Takes the logs of the transactions up to a position: those of the one at it, if all before it were asked for.
    fn up_to(&mut self, transaction_index: u32) -> Vec<(trawl_core::schema::LogView<'l>, std::ops::Range<usize>)> {
        let mut own = Vec::new();
        while let Some(batch) = self.batches.first() {
            let view = batch.view();
            let end = (self.taken..batch.len()).find(|row| view.transaction_index[*row] > transaction_index);
            let rows = self.taken..end.unwrap_or(batch.len());
            if !rows.is_empty() {
                own.push((view, rows.clone()));
            }
            self.taken = rows.end;
            if end.is_some() {
                break;
            }
            (self.batches, self.taken) = (&self.batches[1..], 0);
        }
        own
    }
}
