//! Filters that the server keeps: `eth_newFilter`, `eth_newBlockFilter`, `eth_newPendingTransactionFilter`,
//! `eth_getFilterChanges`, `eth_getFilterLogs`, `eth_uninstallFilter`.

pub(crate) mod store;

use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::value::RawValue;
use tokio::sync::OwnedMutexGuard;

use super::ids::new_id;
use super::logs;
use super::protocol::answer::{Answer, AnswerStream, Sink};
use super::protocol::context::Context;
use super::protocol::params::value;
use crate::error::Problem;
use crate::http::body::StreamError;
use crate::http::values::invalid;
use crate::read::log_filter::Request;
use store::{Filter, FilterKind, Mark};
use trawl_core::primitives::{BlockNumber, BlockRange};
use trawl_core::store::Head;
use trawl_json::JsonWriter;

/// Longest filter object, in bytes. One with as many addresses as are allowed has some 230,000.
const MAX_TEXT: usize = 512 << 10;

/// Stores a filter of logs, and answers with its id.
pub(super) async fn new_logs(call: Context<'_>) -> Result<Answer, Problem> {
    let [filter] = call.exactly()?;
    Request::read(&value(filter))?;
    if filter.get().len() > MAX_TEXT {
        return Err(invalid("the filter is too long: at most 512 KiB"));
    }
    add(call, FilterKind::Logs(filter.get().into())).await
}

/// Stores a filter of new blocks, and answers with its id.
pub(super) async fn new_blocks(call: Context<'_>) -> Result<Answer, Problem> {
    let [] = call.exactly()?;
    add(call, FilterKind::Blocks).await
}

/// Stores a filter of pending transactions, of which none comes. Clients may ask for whole transactions.
pub(super) async fn new_pending(call: Context<'_>) -> Result<Answer, Problem> {
    let [is_whole] = call.with_optional()?;
    if is_whole.map(value).is_some_and(|is_whole| !is_whole.is_boolean() && !is_whole.is_null()) {
        return Err(invalid("Invalid bool"));
    }
    add(call, FilterKind::Pending).await
}

/// Removes a filter, and answers whether there was one.
pub(super) async fn uninstall(call: Context<'_>) -> Result<Answer, Problem> {
    let [id] = call.exactly()?;
    let removed = call.rpc.filters().remove(&read_id(id)?);
    Ok(Answer::of(|writer| writer.bool(removed)))
}

/// All logs of a filter, as `eth_getLogs` answers with the same object.
pub(super) async fn all_logs(call: Context<'_>) -> Result<Answer, Problem> {
    let [id] = call.exactly()?;
    let filter = call.rpc.filters().get(&read_id(id)?).ok_or(Problem::FilterNotFound)?;
    match &filter.selected {
        FilterKind::Logs(text) => logs::answer(call, &read(text)?).await,
        FilterKind::Blocks | FilterKind::Pending => Err(Problem::FilterNotFound),
    }
}

/// The logs or the block hashes that are new since the last request of the client.
///
/// Where reported blocks have left the chain, the filter is gone: an answer without their removal would be wrong, and a
/// client creates the filter again, as after the restart of a node. Where more is new than an answer may have, the
/// answer ends with the last block that fits, and the next request continues after it: it cannot name a range.
pub(super) async fn changes(call: Context<'_>) -> Result<Answer, Problem> {
    let [id] = call.exactly()?;
    let id = read_id(id)?;
    let filter = call.rpc.filters().get(&id).ok_or(Problem::FilterNotFound)?;
    if matches!(filter.selected, FilterKind::Pending) {
        return Ok(nothing());
    }
    let mut mark = Arc::clone(&filter.mark).lock_owned().await;
    let head = call.head()?;
    if head.view <= mark.view {
        return Ok(nothing());
    }
    let now = mark_of(call, head).await?;
    if let Some((number, hash)) = mark.block
        && hash_of(call, head, number).await? != hash
    {
        call.rpc.filters().remove(&id);
        return Err(Problem::FilterNotFound);
    }
    let first = mark.block.map_or(0, |(number, _)| number.saturating_add(1));
    let Some(range) = head.number().and_then(|last| BlockRange::new(first, last)) else {
        *mark = now;
        return Ok(nothing());
    };
    let end = range.last();
    let range = mark.step.map_or(range, |step| first_blocks(range, step));
    let found = first_that_fit(call, &filter, range).await;
    if let Err(Problem::TooManyLogs { .. }) = &found {
        // The next request asks for less; a statement that ran into its time limit is not repeated in this one.
        mark.step = Some(((range.last() - range.first()) / 2).max(1));
    }
    let (answer, last) = found?;
    let next = if last == end {
        now
    } else {
        let hash = hash_of(call, head, last).await?;
        // Its view is not reached: the next request finds the rest also without a new block.
        Mark { view: mark.view, block: Some((last, hash)), step: mark.step.map(|step| step.saturating_mul(2)) }
    };
    let blocks = last - range.first() + 1;
    Ok(Answer::Streamed(Box::new(Changes { answer, mark, next, blocks })))
}

/// The first blocks of a range, so many at most.
fn first_blocks(range: BlockRange, count: u64) -> BlockRange {
    let last = range.first().saturating_add(count.saturating_sub(1)).min(range.last());
    BlockRange::new(range.first(), last).unwrap_or(range)
}

/// Changes that are being written. The mark of their filter moves once all of them are written: if an answer breaks
/// off, the next request has the same changes again.
struct Changes {
    answer: Answer,
    mark: OwnedMutexGuard<Mark>,
    next: Mark,
    /// The number of blocks that they are of.
    blocks: u64,
}

impl AnswerStream for Changes {
    fn len(&self) -> usize {
        self.answer.len()
    }

    fn write<'w>(
        self: Box<Self>,
        writer: &'w mut JsonWriter,
        sink: &'w dyn Sink,
    ) -> BoxFuture<'w, Result<(), StreamError>> {
        Box::pin(async move {
            let Self { answer, mut mark, next, blocks } = *self;
            let written = answer.write(writer, sink).await;
            match &written {
                Ok(()) => *mark = next,
                Err(StreamError::Problem(Problem::TooLongForSocket | Problem::TooManyLogs { .. })) => {
                    mark.step = Some((blocks / 2).max(1));
                }
                Err(_) => {}
            }
            written
        })
    }
}

/// The answer for as many of the first blocks of a range as do not exceed a limit, and the last of them.
async fn first_that_fit(
    call: Context<'_>,
    filter: &Filter,
    mut range: BlockRange,
) -> Result<(Answer, BlockNumber), Problem> {
    loop {
        match in_blocks(call, filter, range).await {
            Err(Problem::TooManyRows { fitting, .. } | Problem::TooManyBlocks { fitting, .. })
                if fitting.last() < range.last() =>
            {
                range = fitting;
            }
            answer => return Ok((answer?, range.last())),
        }
    }
}

/// The answer of a filter for new blocks.
async fn in_blocks(call: Context<'_>, filter: &Filter, range: BlockRange) -> Result<Answer, Problem> {
    match &filter.selected {
        FilterKind::Pending => Ok(nothing()),
        FilterKind::Blocks => block_hashes(call, range).await,
        FilterKind::Logs(text) => match read(text)?.within(range) {
            Some(request) => logs::answer(call, &request).await,
            None => Ok(nothing()),
        },
    }
}

/// The request of a stored filter object.
fn read(text: &str) -> Result<Request, Problem> {
    Request::read(&serde_json::from_str(text).unwrap_or_default())
}

async fn block_hashes(call: Context<'_>, range: BlockRange) -> Result<Answer, Problem> {
    call.check_width(range, "a filter of logs")?;
    let span = call.head()?.blocks.within(range);
    let mut blocks = call.app.reader().rows(&trawl_query::blocks::hashes(&span)).await?;
    blocks.sort_unstable_by_key(|block| block.block_number);
    Ok(Answer::of(|writer| {
        writer.array(|hashes| blocks.iter().for_each(|block| hashes.item().hex(block.hash.as_slice())));
    }))
}

fn nothing() -> Answer {
    Answer::of(|writer| writer.array(|_| {}))
}

async fn add(call: Context<'_>, selected: FilterKind) -> Result<Answer, Problem> {
    let mark = mark_of(call, call.head()?).await?;
    let id = new_id();
    call.rpc.filters().add(call.client, id.clone(), selected, mark)?;
    Ok(Answer::of(|writer| writer.string(&id)))
}

fn read_id(param: &RawValue) -> Result<String, Problem> {
    value(param).as_str().map(str::to_owned).ok_or_else(|| invalid("Invalid filter id"))
}

/// The mark of a client that knows all of a head.
async fn mark_of(call: Context<'_>, head: &Head) -> Result<Mark, Problem> {
    let block = match head.number() {
        Some(number) => Some((number, hash_of(call, head, number).await?)),
        None => None,
    };
    Ok(Mark { view: head.view, block, step: None })
}

async fn hash_of(call: Context<'_>, head: &Head, number: u64) -> Result<Option<trawl_core::primitives::B256>, Problem> {
    let block = call.app.block_at(number, head).await?;
    Ok(block.and_then(|block| block.rows().next()).map(|block| block.hash))
}
