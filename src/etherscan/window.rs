//! The part of a list that a request wants: blocks, order and page.

use super::answer::Refused;
use super::params::Params;
use crate::app::App;
use crate::options::Gaps;
use trawl_core::primitives::{BlockNumber, BlockRange};
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
    /// Reads `startblock`, `endblock`, `sort`, `page` and `offset`; of the blocks a part is `readable`.
    ///
    /// # Errors
    ///
    /// [`Refused::Sentence`] if one of them is wrong.
    pub fn read(params: &Params, app: &App, head: &Head, readable: &Readable) -> Result<Self, Refused> {
        let newest = head.number().unwrap_or_default();
        let first = height(params, "startblock")?.unwrap_or(0);
        let last = height(params, "endblock")?.unwrap_or(newest).min(newest);
        let range = BlockRange::new(first, last);
        let missing = match app.options().gaps {
            Gaps::Refuse => range.map_or_else(Vec::new, |range| missing(head, readable, range)),
            Gaps::Serve => Vec::new(),
        };
        let order = match &*params.choice("sort") {
            "" | "asc" => Order::OldestFirst,
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
        let blocks = range.map_or_else(Span::default, |range| readable.within(range));
        Ok(Self { blocks, missing, order, skip: (page - 1) * take, take })
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

/// A height, or `latest` for none.
fn height(params: &Params, name: &str) -> Result<Option<BlockNumber>, Refused> {
    if params.choice(name) == "latest" { Ok(None) } else { params.number(name) }
}

/// The blocks of `range` that are not readable. No transaction runs in the genesis block, so nodes have no frames of it.
fn missing(head: &Head, readable: &Readable, range: BlockRange) -> Vec<BlockRange> {
    let missing = readable.missing(range);
    if !head.blocks.contains(0) {
        return missing;
    }
    let after_genesis = |range: BlockRange| BlockRange::new(range.first().max(1), range.last());
    missing.into_iter().filter_map(after_genesis).collect()
}
