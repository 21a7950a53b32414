//! The part of a list that a request wants: blocks, order and page.

use super::answer::Refused;
use super::params::Params;
use crate::app::App;
use crate::options::Gaps;
use crate::read::block_times;
use trawl_core::primitives::{BlockNumber, BlockRange, Timestamp};
use trawl_core::readable::{Readable, Span};
use trawl_core::store::Head;
use trawl_query::walk::{Order, Walk};

/// Most rows from the first of the list to the last of the page.
const MOST_ROWS: u64 = 10_000;

/// A part of a list.
#[derive(Debug)]
pub(super) struct Window {
    /// The readable ones of the blocks.
    pub blocks: Span,
    /// The blocks that are not readable, up to the newest.
    pub missing: Vec<BlockRange>,
    /// Where the list begins.
    pub order: Order,
    /// Rows before the page.
    pub skip: u64,
    /// Most rows of the page.
    pub take: u64,
}

impl Window {
    /// Reads `startblock`, `endblock`, `start_timestamp`, `end_timestamp`, `sort`, `page` and `offset`; of the blocks a part is `readable`.
    ///
    /// # Errors
    ///
    /// [`Refused::Sentence`] if one of them is wrong; when the store fails.
    pub async fn read(params: &Params, app: &App, head: &Head, readable: &Readable) -> Result<Self, Refused> {
        Self::read_or(params, (app, head), readable, Order::OldestFirst).await
    }

    /// The same with another order for requests without `sort`.
    ///
    /// # Errors
    ///
    /// As [`Window::read`].
    pub async fn read_or(
        params: &Params,
        (app, head): (&App, &Head),
        readable: &Readable,
        order: Order,
    ) -> Result<Self, Refused> {
        let period = period(params, app, head).await?;
        let (blocks, missing) = match period {
            Some(period) => blocks(params, ("startblock", "endblock"), period, (app, head), readable)?,
            None => (Span::default(), Vec::new()),
        };
        let order = match &*params.choice("sort") {
            "" => order,
            "asc" => Order::OldestFirst,
            "desc" => Order::NewestFirst,
            _ => return Err(Refused::Sentence("Invalid sort: use 'asc' or 'desc'".into())),
        };
        let page = params.number("page")?.unwrap_or(1).max(1);
        let take = params.number("offset")?.filter(|rows| *rows > 0).unwrap_or(MOST_ROWS);
        if page.saturating_mul(take) > MOST_ROWS {
            let text = format!(
                "Result window is too large: page x offset must be at most {MOST_ROWS}; go on with 'startblock'"
            );
            return Err(Refused::Sentence(text));
        }
        Ok(Self { blocks, missing, order, skip: (page - 1) * take, take })
    }

    /// Reads `fromBlock` and `toBlock`; a list of logs has one page.
    ///
    /// # Errors
    ///
    /// [`Refused::Sentence`] if one of them is wrong.
    pub fn of_logs(params: &Params, app: &App, head: &Head) -> Result<Self, Refused> {
        let (blocks, missing) = blocks(params, ("fromBlock", "toBlock"), EVER, (app, head), &head.receipts)?;
        Ok(Self { blocks, missing, order: Order::OldestFirst, skip: 0, take: 0 })
    }

    /// The rows from the first of the list to the last of the page.
    pub fn walk(&self) -> Walk {
        Walk { order: self.order, beyond: None, limit: self.skip + self.take }
    }

    /// Shrinks to one block.
    pub fn shrink(&mut self, block: BlockNumber, readable: &Readable) {
        let block = BlockRange::single(block);
        self.missing = readable.missing(block);
        self.blocks = readable.within(block);
    }

    /// The rows of the page, of those of [`Window::walk`], ascending.
    pub fn cut<T: Copy>(&self, ascending: &[T]) -> Vec<T> {
        let (skip, take) = (usize::try_from(self.skip), usize::try_from(self.take));
        let (skip, take) = (skip.unwrap_or(usize::MAX), take.unwrap_or(usize::MAX));
        match self.order {
            Order::OldestFirst => ascending.iter().skip(skip).take(take).copied().collect(),
            Order::NewestFirst => ascending.iter().rev().skip(skip).take(take).copied().collect(),
        }
    }
}

/// All heights.
const EVER: (BlockNumber, BlockNumber) = (0, BlockNumber::MAX);

/// The blocks from `start_timestamp` to `end_timestamp` (seconds, both inclusive; also without the underscore); `None` if there are
/// none.
async fn period(params: &Params, app: &App, head: &Head) -> Result<Option<(BlockNumber, BlockNumber)>, Refused> {
    let time = |name: &str, other: &str| -> Result<Option<Timestamp>, Refused> {
        let name = if params.text(name).is_some() { name } else { other };
        let wrong = || Refused::Sentence(format!("Invalid {name}: not a time"));
        params.number(name)?.map(|seconds| Timestamp::from_seconds(seconds).map_err(|_| wrong())).transpose()
    };
    let start = time("start_timestamp", "starttimestamp")?;
    let end = time("end_timestamp", "endtimestamp")?;
    Ok(block_times::period(app, head, (start, end)).await?)
}

/// The readable blocks from one height to another, and those of the others that a refusal names.
fn blocks(
    params: &Params,
    (from, to): (&str, &str),
    period: (BlockNumber, BlockNumber),
    (app, head): (&App, &Head),
    readable: &Readable,
) -> Result<(Span, Vec<BlockRange>), Refused> {
    let newest = head.number().unwrap_or_default();
    let first = height(params, from)?.unwrap_or(if params.text(from).is_some() { newest } else { 0 });
    let last = height(params, to)?.unwrap_or(newest).min(newest);
    let Some(range) = BlockRange::new(first.max(period.0), last.min(period.1)) else {
        return Ok((Span::default(), Vec::new()));
    };
    Ok((readable.within(range), missing(app, head, readable, range)))
}

/// The blocks up to the head of which a part is not readable, unless the options allow gaps.
pub(super) fn missing_to_head(app: &App, head: &Head, readable: &Readable) -> Vec<BlockRange> {
    let range = head.number().and_then(|newest| BlockRange::new(0, newest));
    range.map_or_else(Vec::new, |range| missing(app, head, readable, range))
}

/// A height; `latest` is none.
fn height(params: &Params, name: &str) -> Result<Option<BlockNumber>, Refused> {
    if params.choice(name) == "latest" { Ok(None) } else { params.number(name) }
}

/// The blocks of `range` that are not readable, unless the options allow gaps. No transaction runs in the genesis block, so
/// nodes have no frames of it.
fn missing(app: &App, head: &Head, readable: &Readable, range: BlockRange) -> Vec<BlockRange> {
    if app.options().gaps == Gaps::Serve {
        return Vec::new();
    }
    let missing = readable.missing(range);
    if !head.blocks.contains(0) {
        return missing;
    }
    let after_genesis = |range: BlockRange| BlockRange::new(range.first().max(1), range.last());
    missing.into_iter().filter_map(after_genesis).collect()
}
