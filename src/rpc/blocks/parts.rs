//! Parts of a block: its header, transactions and uncles by position, their numbers, and all receipts.

use serde_json::value::RawValue;

use crate::cache::settled_rows::SharedRows;
use crate::error::Problem;
use crate::http::values::{block_name, bytes32, invalid};
use crate::read::completeness::{require_part, require_receipt, require_shown_block, require_transaction};
use crate::rpc::protocol::answer::Answer;
use crate::rpc::protocol::context::Context;
use crate::rpc::protocol::params::{BlockId, block_id, index, value};
use trawl_core::primitives::B256;
use trawl_core::schema::{BlockPart, BlockRow, LogRow, TransactionRow, TransactionView};
use trawl_core::store::Batch;
use trawl_json::JsonWriter;
use trawl_json::blocks::{write_rpc_header, write_rpc_uncle};
use trawl_json::transactions::{write_receipt, write_transaction};
use trawl_query::logs::LogPage;

/// A parser of a parameter that names a block.
type ParseBlock = fn(&RawValue) -> Result<BlockId, Problem>;

fn by_number(param: &RawValue) -> Result<BlockId, Problem> {
    block_name(&value(param)).map(BlockId::Name).ok_or_else(|| invalid("Invalid block number"))
}

fn by_hash(param: &RawValue) -> Result<BlockId, Problem> {
    bytes32(&value(param)).map(BlockId::Hash).ok_or_else(|| invalid("Invalid hash"))
}

/// `eth_getHeaderByNumber`: a header, or `null`.
pub(crate) async fn header_by_number(call: Context<'_>) -> Result<Answer, Problem> {
    header(call, by_number).await
}

/// `eth_getHeaderByHash`: a header, or `null`.
pub(crate) async fn header_by_hash(call: Context<'_>) -> Result<Answer, Problem> {
    header(call, by_hash).await
}

/// The header of a block, as geth has it; `null` if the block is not readable.
async fn header(call: Context<'_>, parse_block: ParseBlock) -> Result<Answer, Problem> {
    let [block] = call.exactly()?;
    let (app, block, head) = (call.app, parse_block(block)?, call.head()?);
    let Some(number) = block.number(app, head).await? else { return Ok(Answer::null()) };
    let Some(block) = app.block_at(number, head).await? else { return Ok(Answer::null()) };
    require_shown_block(&block.view(), 0, app.family(head))?;
    Ok(Answer::of(|writer| write_rpc_header(writer, &block.view(), 0)))
}

/// `eth_getBlockTransactionCountByNumber`: a quantity, or `null`.
pub(crate) async fn transactions_count_by_number(call: Context<'_>) -> Result<Answer, Problem> {
    count(call, by_number, transactions_count).await
}

/// `eth_getBlockTransactionCountByHash`: a quantity, or `null`.
pub(crate) async fn transactions_count_by_hash(call: Context<'_>) -> Result<Answer, Problem> {
    count(call, by_hash, transactions_count).await
}

/// `eth_getUncleCountByBlockNumber`: a quantity, or `null`.
pub(crate) async fn uncles_count_by_number(call: Context<'_>) -> Result<Answer, Problem> {
    count(call, by_number, uncles_count).await
}

/// `eth_getUncleCountByBlockHash`: a quantity, or `null`.
pub(crate) async fn uncles_count_by_hash(call: Context<'_>) -> Result<Answer, Problem> {
    count(call, by_hash, uncles_count).await
}

fn transactions_count(block: &Batch<BlockRow>) -> u64 {
    block.view().transactions_count[0].into()
}

fn uncles_count(block: &Batch<BlockRow>) -> u64 {
    block.view().uncles.items::<B256>(0).count() as u64
}

/// A count from the row of a block; `null` if the block is not readable.
async fn count(
    call: Context<'_>,
    parse_block: ParseBlock,
    count: fn(&Batch<BlockRow>) -> u64,
) -> Result<Answer, Problem> {
    let [block] = call.exactly()?;
    let (app, block, head) = (call.app, parse_block(block)?, call.head()?);
    let Some(number) = block.number(app, head).await? else { return Ok(Answer::null()) };
    let Some(block) = app.block_at(number, head).await? else { return Ok(Answer::null()) };
    require_shown_block(&block.view(), 0, app.family(head))?;
    Ok(Answer::of(|writer| writer.quantity(count(&block))))
}

/// `eth_getTransactionByBlockNumberAndIndex`: a transaction, or `null`.
pub(crate) async fn transaction_by_number(call: Context<'_>) -> Result<Answer, Problem> {
    transaction(call, by_number).await
}

/// `eth_getTransactionByBlockHashAndIndex`: a transaction, or `null`.
pub(crate) async fn transaction_by_hash(call: Context<'_>) -> Result<Answer, Problem> {
    transaction(call, by_hash).await
}

/// `eth_getUncleByBlockNumberAndIndex`: a header without transactions, or `null`.
pub(crate) async fn uncle_by_number(call: Context<'_>) -> Result<Answer, Problem> {
    uncle(call, by_number).await
}

/// `eth_getUncleByBlockHashAndIndex`: a header without transactions, or `null`.
pub(crate) async fn uncle_by_hash(call: Context<'_>) -> Result<Answer, Problem> {
    uncle(call, by_hash).await
}

/// `eth_getRawTransactionByBlockNumberAndIndex`: bytes, or `null`.
pub(crate) async fn raw_transaction_by_number(call: Context<'_>) -> Result<Answer, Problem> {
    raw_transaction(call, by_number).await
}

/// `eth_getRawTransactionByBlockHashAndIndex`: bytes, or `null`.
pub(crate) async fn raw_transaction_by_hash(call: Context<'_>) -> Result<Answer, Problem> {
    raw_transaction(call, by_hash).await
}

async fn transaction(call: Context<'_>, parse_block: ParseBlock) -> Result<Answer, Problem> {
    let found = transaction_at(call, parse_block).await?;
    let Some(batch) = found.first() else { return Ok(Answer::null()) };
    require_transaction(&batch.view(), 0)?;
    Ok(Answer::of(|writer| write_transaction(writer, &batch.view(), 0)))
}

/// A transaction as it was signed, without its blobs; `null` if it is not readable.
async fn raw_transaction(call: Context<'_>, parse_block: ParseBlock) -> Result<Answer, Problem> {
    let found = transaction_at(call, parse_block).await?;
    let Some(row) = found.first().and_then(|batch| batch.rows().next()) else { return Ok(Answer::null()) };
    let bytes = call.app.encoded_row(&row)?;
    Ok(Answer::of(|writer| writer.hex(&bytes)))
}

/// The transaction that a call names by its block and its position; no rows if it is not readable.
async fn transaction_at(call: Context<'_>, parse_block: ParseBlock) -> Result<SharedRows<TransactionRow>, Problem> {
    let [block, position] = call.exactly()?;
    let (block, position) = (parse_block(block)?, index(position)?);
    let (app, head) = (call.app, call.head()?);
    let Some(number) = block.number(app, head).await? else { return Ok(SharedRows::default()) };
    let span = head.blocks.at(number);
    let (Ok(position), false) = (u32::try_from(position), span.is_empty()) else { return Ok(SharedRows::default()) };
    app.rows_of(head, &trawl_query::transactions::in_block_at(&span, position)).await
}

async fn uncle(call: Context<'_>, parse_block: ParseBlock) -> Result<Answer, Problem> {
    let [block, position] = call.exactly()?;
    let (block, position) = (parse_block(block)?, index(position)?);
    let (app, head) = (call.app, call.head()?);
    let Some(number) = block.number(app, head).await? else { return Ok(Answer::null()) };
    let Some(nephew) = app.block_at(number, head).await? else { return Ok(Answer::null()) };
    require_shown_block(&nephew.view(), 0, app.family(head))?;
    let position = usize::try_from(position).unwrap_or(usize::MAX);
    let Some(hash) = nephew.view().uncles.items::<B256>(0).nth(position) else { return Ok(Answer::null()) };
    let missing = || Problem::PartMissing { part: BlockPart::Uncles, block: number };
    if !head.uncles.contains(number) {
        return Err(missing());
    }
    let statement = trawl_query::blocks::uncles::of_nephew(&head.uncles.at(number), number, hash);
    let found = app.rows_of(head, &statement).await?;
    let batch = found.first().ok_or_else(missing)?;
    Ok(Answer::of(|writer| write_rpc_uncle(writer, &batch.view(), 0)))
}

/// More logs than any block can contain: the cheapest log costs 375 gas.
const UNLIMITED_LOGS: u64 = 100_000_000;

/// All receipts of a block, in the order of its transactions; `null` if it is not readable. Memory is that of one
/// block.
pub(crate) async fn receipts(call: Context<'_>) -> Result<Answer, Problem> {
    let [block] = call.exactly()?;
    let block = block_id(&value(block)).ok_or_else(|| invalid("Invalid block number"))?;
    let Some(receipts) = receipts_of(call, block).await? else { return Ok(Answer::null()) };
    Ok(Answer::of(|writer| receipts.write(writer)))
}

/// The same as `alchemy_getTransactionReceipts` has it: the block in an object, the receipts as a member.
pub(crate) async fn receipts_in_envelope(call: Context<'_>) -> Result<Answer, Problem> {
    let [block] = call.exactly()?;
    let block = value(block);
    let block = Some(&block).filter(|block| block.is_object()).and_then(block_id);
    let receipts = receipts_of(call, block.ok_or_else(|| invalid("Invalid block number"))?).await?;
    Ok(Answer::of(|writer| {
        writer.object(|object| object.key("receipts").option(receipts.as_ref(), |writer, all| all.write(writer)));
    }))
}

/// The rows of a block's receipts.
struct BlockReceipts {
    transactions: SharedRows<TransactionRow>,
    logs: SharedRows<LogRow>,
}

async fn receipts_of(call: Context<'_>, block: BlockId) -> Result<Option<BlockReceipts>, Problem> {
    let (app, head) = (call.app, call.head()?);
    let Some(number) = block.number(app, head).await? else { return Ok(None) };
    let blocks = head.blocks.at(number);
    if blocks.is_empty() {
        return Ok(None);
    }
    require_part(head, BlockPart::Receipts, number)?;
    let logs = LogPage::new(Default::default(), head.receipts.at(number), UNLIMITED_LOGS).statement();
    let transactions = trawl_query::transactions::of_block(&blocks);
    let (transactions, logs) = tokio::try_join!(app.rows_of(head, &transactions), app.rows_of::<LogRow>(head, &logs))?;
    for batch in transactions.iter() {
        let view = batch.view();
        with_receipts(&view).try_for_each(|row| require_receipt(&view, row))?;
    }
    Ok(Some(BlockReceipts { transactions, logs }))
}

/// The rows that have a receipt: nodes of some chains have none of some transactions.
fn with_receipts<'v>(view: &'v TransactionView<'_>) -> impl Iterator<Item = usize> + 'v {
    (0..view.has_receipt.len()).filter(|row| view.has_receipt[*row] == 1)
}

impl BlockReceipts {
    fn write(&self, writer: &mut JsonWriter) {
        writer.array(|receipts| {
            let mut unassigned = UnassignedLogs::new(&self.logs);
            for batch in self.transactions.iter() {
                let view = batch.view();
                for row in with_receipts(&view) {
                    let own = unassigned.up_to(view.transaction_index[row]);
                    write_receipt(receipts.item(), &view, row, &own);
                }
            }
        });
    }
}

/// The logs of a block that are not part of a receipt yet.
struct UnassignedLogs<'l> {
    batches: &'l [Batch<LogRow>],
    /// Rows of the first batch that are part of a receipt.
    taken: usize,
}

impl<'l> UnassignedLogs<'l> {
    fn new(batches: &'l [Batch<LogRow>]) -> Self {
        Self { batches, taken: 0 }
    }

    /// Takes the logs of the transactions up to a position. Called for one position after another, it takes the logs of
    /// each transaction.
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
