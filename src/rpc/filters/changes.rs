//! `eth_getFilterChanges`: what is new since the last request of a filter's client.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use tokio::sync::OwnedMutexGuard;

use super::mark::{hash_of, mark_of};
use super::orphans::Orphan;
use super::store::{Filter, FilterKind, Mark};
use crate::error::Problem;
use crate::http::body::StreamError;
use crate::read::log_filter::{Request, selects};
use crate::rpc::ids::read_id;
use crate::rpc::logs;
use crate::rpc::protocol::answer::{Answer, AnswerStream, Sink};
use crate::rpc::protocol::context::Context;
use trawl_core::primitives::{BlockNumber, BlockRange};
use trawl_core::store::Head;
use trawl_json::JsonWriter;
use trawl_json::logs::write_removed_log;

/// Most bytes of the JSON text of removed logs in an answer. They are in memory while the answer is written.
const MAX_REMOVED_BYTES: usize = 4 << 20;

/// The logs or the block hashes that are new since the last request of the client.
///
/// Where reported blocks have left the chain, their logs come first with `removed`, from the last to the first, and
/// then what is new above the common ancestor. If it is not known which blocks these were, the filter is gone: an
/// answer without their removal would be wrong, and a client creates the filter again, as after the restart of a node.
/// Where more is new than an answer may have, the answer ends with the last block that fits, and the next request
/// continues after it: it cannot name a range.
pub(in crate::rpc) async fn poll(call: Context<'_>) -> Result<Answer, Problem> {
    let [id] = call.exactly()?;
    let id = read_id(id)?;
    let filter = call.rpc.filters().get(&id).ok_or(Problem::FilterNotFound)?;
    if matches!(filter.selected, FilterKind::Pending) {
        return Ok(nothing());
    }
    let mark = Arc::clone(&filter.mark).lock_owned().await;
    let head = call.head()?;
    if head.view <= mark.view {
        return Ok(nothing());
    }
    let orphans = match orphans(call, &mark, head).await? {
        // The next request finds what this step of the head removed, and what it brought.
        KnownOrphans::NotRecorded => return Ok(nothing()),
        KnownOrphans::Unknown => None,
        KnownOrphans::All(orphans) => Some(orphans),
    };
    let removed = match &orphans {
        Some(orphans) => removed_logs(&filter, orphans)?,
        None => None,
    };
    let (Some(orphans), Some(removed)) = (orphans, removed) else {
        call.rpc.filters().remove(&id);
        return Err(Problem::FilterNotFound);
    };
    let _held = call.app.limits().answers.hold(call.client, removed.len())?;
    let known = match orphans.last() {
        Some(lowest) => lowest.number.checked_sub(1),
        None => mark.block.map(|(number, _)| number),
    };
    changes_after(call, Poll { filter: &filter, mark, removed }, known).await
}

/// A request for changes.
struct Poll<'p> {
    filter: &'p Filter,
    mark: OwnedMutexGuard<Mark>,
    /// JSON texts of the logs of orphaned blocks, with commas between.
    removed: Vec<u8>,
}

/// The changes above the last block that the client knows.
async fn changes_after(call: Context<'_>, poll: Poll<'_>, known: Option<BlockNumber>) -> Result<Answer, Problem> {
    let Poll { filter, mut mark, removed } = poll;
    let head = call.head()?;
    let now = mark_of(call, head).await?;
    let first = known.map_or(0, |number| number.saturating_add(1));
    let Some(range) = head.number().and_then(|last| BlockRange::new(first, last)) else {
        return Ok(Answer::Streamed(Box::new(Changes { answer: array_of(&removed), mark, next: now, blocks: 1 })));
    };
    let end = range.last();
    let range = mark.step.map_or(range, |step| first_blocks(range, step));
    let found = first_that_fit(call, filter, range, &removed).await;
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

/// What is known of the blocks that have left the chain.
enum KnownOrphans {
    /// All of them, descending.
    All(Vec<Orphan>),
    /// There are some, and it is not known which.
    Unknown,
    /// The step of the head that removed them is being read.
    NotRecorded,
}

/// The blocks that the client knows and that have left the chain.
async fn orphans(call: Context<'_>, mark: &Mark, head: &Head) -> Result<KnownOrphans, Problem> {
    let Some((number, hash)) = mark.block else { return Ok(KnownOrphans::All(Vec::new())) };
    if hash_of(call, head, number).await? == hash {
        return Ok(KnownOrphans::All(Vec::new()));
    }
    let record = call.rpc.filters().orphans();
    if !record.is_recorded(head.view).await {
        return Ok(KnownOrphans::NotRecorded);
    }
    let Some(orphans) = hash.and_then(|hash| record.of_branch(mark.view..head.view, number, hash)) else {
        return Ok(KnownOrphans::Unknown);
    };
    // Of a branch that settled in the same step it is not known what it replaced.
    let Some((lowest, parent)) = orphans.last().and_then(|one| Some((one, one.number.checked_sub(1)?))) else {
        return Ok(KnownOrphans::All(orphans));
    };
    let is_whole = hash_of(call, head, parent).await? == Some(lowest.parent_hash);
    Ok(if is_whole { KnownOrphans::All(orphans) } else { KnownOrphans::Unknown })
}

/// The JSON texts of the logs of orphaned blocks that a filter selects, from the last to the first, with commas
/// between; empty for a filter of blocks. `None` if they are not known, or too long.
fn removed_logs(filter: &Filter, orphans: &[Orphan]) -> Result<Option<Vec<u8>>, Problem> {
    let FilterKind::Logs(text) = &filter.selected else { return Ok(Some(Vec::new())) };
    let request = Request::of_text(text)?;
    let mut writer = JsonWriter::new();
    for orphan in orphans.iter().filter(|orphan| request.within(BlockRange::single(orphan.number)).is_some()) {
        let Some(batches) = &orphan.logs else { return Ok(None) };
        for batch in batches.iter().rev() {
            let view = batch.view();
            for row in (0..batch.len()).rev().filter(|row| selects(request.filter(), &view, *row)) {
                if !writer.is_empty() {
                    writer.raw(",");
                }
                write_removed_log(&mut writer, &view, row);
                if writer.len() > MAX_REMOVED_BYTES {
                    return Ok(None);
                }
            }
        }
    }
    Ok(Some(writer.into_bytes()))
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
    removed: &[u8],
) -> Result<(Answer, BlockNumber), Problem> {
    loop {
        match in_blocks(call, filter, range, removed).await {
            Err(Problem::TooManyRows { fitting, .. } | Problem::TooManyBlocks { fitting, .. })
                if fitting.last() < range.last() =>
            {
                range = fitting;
            }
            answer => return Ok((answer?, range.last())),
        }
    }
}

/// The answer of a filter for new blocks, after the removed logs.
async fn in_blocks(call: Context<'_>, filter: &Filter, range: BlockRange, removed: &[u8]) -> Result<Answer, Problem> {
    match &filter.selected {
        FilterKind::Pending => Ok(nothing()),
        FilterKind::Blocks => block_hashes(call, range).await,
        FilterKind::Logs(text) => match Request::of_text(text)?.within(range) {
            Some(request) => logs::answer_after(call, &request, removed.to_vec()).await,
            None => Ok(array_of(removed)),
        },
    }
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

/// An array of JSON texts with commas between.
fn array_of(items: &[u8]) -> Answer {
    Answer::of(|writer| {
        writer.raw("[");
        writer.raw(items);
        writer.raw("]");
    })
}

fn nothing() -> Answer {
    array_of(&[])
}
