//! The requested part of a list: blocks, order and page.

use super::answer::{Dialect, Refusal};
use super::params::Params;
use super::params::value::Height;
use crate::app::App;
use crate::http::periods::TimeRange;
use crate::options::Gaps;
use crate::read::blocks::times;
use trawl_core::primitives::{BlockNumber, BlockRange, Timestamp};
use trawl_core::readable::{Readable, Span};
use trawl_core::store::Head;
use trawl_query::walk::{Order, Walk};

/// Pages of the lists of an account.
const OF_ACCOUNTS: PageBounds =
    PageBounds { usual: 10_000, most: 10_000, reach: 10_000, further: "; continue with 'startblock'" };
/// Pages of logs. One block of any chain has fewer of one contract than can be reached; those before a page are read.
const OF_LOGS: PageBounds =
    PageBounds { usual: 1_000, most: 1_000, reach: 1_000_000, further: "; continue with 'fromBlock'" };

/// A part of a list.
#[derive(Debug)]
pub(crate) struct Window {
    /// The blocks, readable or not; `None` if there are none.
    range: Option<BlockRange>,
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
    /// Reads `startblock`, `endblock`, `start_timestamp`, `end_timestamp`, `sort`, `page` and `offset`; of the blocks a
    /// part is `readable`. Without `sort` the order is that of the server whose dialect the client speaks.
    ///
    /// # Errors
    ///
    /// [`Refusal::Sentence`] if one of them is wrong; when the store fails.
    pub async fn read(params: &Params, app: &App, head: &Head, readable: &Readable) -> Result<Self, Refusal> {
        let order = match params.dialect() {
            Dialect::Blockscout => Order::NewestFirst,
            Dialect::Etherscan => Order::OldestFirst,
        };
        Self::read_or(params, app, head, readable, order).await
    }

    /// The same with another order for requests without `sort`.
    ///
    /// # Errors
    ///
    /// [`Refusal::Sentence`] if a parameter is wrong; when the store fails.
    pub async fn read_or(
        params: &Params,
        app: &App,
        head: &Head,
        readable: &Readable,
        order: Order,
    ) -> Result<Self, Refusal> {
        let period = period(params, app, head).await?;
        let heights = range(params.height("startblock"), params.height("endblock"), head);
        let range = period.zip(heights).and_then(|(period, heights)| period.intersection(heights));
        let order = match params.word("sort").as_deref() {
            None => order,
            Some("asc") => Order::OldestFirst,
            Some(_) => Order::NewestFirst,
        };
        let (skip, take) = OF_ACCOUNTS.page(params)?;
        Ok(Self { order, skip, take, ..Self::over(range, app, head, readable) })
    }

    /// Reads `fromBlock`, `toBlock`, `page` and `offset` of a list of logs.
    ///
    /// # Errors
    ///
    /// As [`PageBounds::read`].
    pub fn of_logs(params: &Params, app: &App, head: &Head) -> Result<Self, Refusal> {
        let range = range(params.height("fromBlock"), params.height("toBlock"), head);
        let (skip, take) = OF_LOGS.read(params)?;
        Ok(Self { skip, take, ..Self::over(range, app, head, &head.receipts) })
    }

    /// Some blocks from the oldest row on, without a page.
    fn over(range: Option<BlockRange>, app: &App, head: &Head, readable: &Readable) -> Self {
        let blocks = range.map(|range| readable.within(range)).unwrap_or_default();
        let missing = range.map(|range| missing(app, head, readable, range)).unwrap_or_default();
        Self { range, blocks, missing, order: Order::OldestFirst, skip: 0, take: 0 }
    }

    /// The rows from the first of the list to the last of the page, and one more than can be reached.
    pub fn walk(&self) -> Walk {
        let limit = self.skip.saturating_add(self.take).min(OF_ACCOUNTS.reach + 1);
        Walk { order: self.order, beyond: None, limit }
    }

    /// Whether the page can be reached, by how many rows [`Window::walk`] found: one after the last row is empty,
    /// however far.
    ///
    /// # Errors
    ///
    /// [`Refusal::NotServed`] if it may have rows that cannot be reached.
    pub fn check_reach(&self, found: usize) -> Result<(), Refusal> {
        let is_far = self.skip.saturating_add(self.take) > OF_ACCOUNTS.reach;
        if is_far && found as u64 > OF_ACCOUNTS.reach { Err(OF_ACCOUNTS.beyond()) } else { Ok(()) }
    }

    /// Narrows to one block, if that is among the blocks; else to none.
    pub fn narrow(&mut self, block: BlockNumber, readable: &Readable) {
        let range = self.range.filter(|range| range.contains(block)).map(|_| BlockRange::single(block));
        self.missing = range.map(|range| readable.missing(range)).unwrap_or_default();
        self.blocks = range.map(|range| readable.within(range)).unwrap_or_default();
        self.range = range;
    }

    /// The rows of the page, of those of [`Window::walk`], ascending.
    ///
    /// # Errors
    ///
    /// [`Refusal::NotServed`] if the page may have rows that cannot be reached.
    pub fn cut<T: Copy>(&self, ascending: &[T]) -> Result<Vec<T>, Refusal> {
        self.check_reach(ascending.len())?;
        let (skip, take) = (usize::try_from(self.skip), usize::try_from(self.take));
        let (skip, take) = (skip.unwrap_or(usize::MAX), take.unwrap_or(usize::MAX));
        Ok(match self.order {
            Order::OldestFirst => ascending.iter().skip(skip).take(take).copied().collect(),
            Order::NewestFirst => ascending.iter().rev().skip(skip).take(take).copied().collect(),
        })
    }
}

/// The blocks from `start_timestamp` to `end_timestamp` (seconds, both inclusive); `None` if there are none.
async fn period(params: &Params, app: &App, head: &Head) -> Result<Option<BlockRange>, Refusal> {
    let time = |name: &str| -> Result<Option<Timestamp>, Refusal> {
        let wrong = |_| Refusal::Sentence(format!("Invalid {name}: not a time"));
        params.number(name).map(|seconds| Timestamp::from_seconds(seconds).map_err(wrong)).transpose()
    };
    let time = TimeRange { start: time("start_timestamp")?, end: time("end_timestamp")? };
    Ok(times::within(app, head, time).await?)
}

/// The blocks from one height to another, both inclusive and up to the newest; `None` if there are none.
fn range(first: Option<Height>, last: Option<Height>, head: &Head) -> Option<BlockRange> {
    let newest = head.number().unwrap_or_default();
    let number = |height: Height| match height {
        Height::Number(number) => number,
        Height::Latest => newest,
    };
    let (first, last) = (first.map_or(0, number), last.map_or(newest, number).min(newest));
    BlockRange::new(first, last)
}

/// The bounds of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PageBounds {
    /// Rows without an `offset`.
    pub usual: u64,
    /// Most rows of a page, whatever `offset` says.
    pub most: u64,
    /// Most rows from the first of the list to the last of the page.
    pub reach: u64,
    /// How a client gets at the rows after these.
    pub further: &'static str,
}

impl PageBounds {
    /// Reads `page` and `offset`: the rows before the page, and its rows. Zero is none.
    ///
    /// # Errors
    ///
    /// [`Refusal::Sentence`] for a page of too many rows, [`Refusal::NotServed`] for one that cannot be reached.
    pub fn read(&self, params: &Params) -> Result<(u64, u64), Refusal> {
        let (skip, take) = self.page(params)?;
        if skip.saturating_add(take) > self.reach { Err(self.beyond()) } else { Ok((skip, take)) }
    }

    /// The same however far the page lies from the first row.
    ///
    /// # Errors
    ///
    /// [`Refusal::Sentence`] for a page of too many rows.
    fn page(&self, params: &Params) -> Result<(u64, u64), Refusal> {
        let page = params.number("page").unwrap_or(1).max(1);
        let take = params.number("offset").filter(|rows| *rows > 0).unwrap_or(self.usual);
        if take > self.most {
            return Err(Refusal::Sentence(format!("Invalid offset: a page has at most {} rows", self.most)));
        }
        Ok(((page - 1).saturating_mul(take), take))
    }

    fn beyond(&self) -> Refusal {
        let Self { reach, further, .. } = self;
        Refusal::NotServed(format!("Result window is too large: page x offset must be at most {reach}{further}"))
    }
}

/// The blocks up to the head of which a part is not readable, unless the options allow gaps.
pub(crate) fn missing_to_head(app: &App, head: &Head, readable: &Readable) -> Vec<BlockRange> {
    let range = head.number().and_then(|newest| BlockRange::new(0, newest));
    range.map_or_else(Vec::new, |range| missing(app, head, readable, range))
}

/// The blocks of `range` that are not readable, unless the options allow gaps. No transaction runs in the genesis
/// block, so nodes have no frames of it.
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
