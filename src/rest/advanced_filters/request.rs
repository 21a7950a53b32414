//! What a request of the list or of its export is about.

use super::super::cursor::Cursor as _;
use super::filter::Filter;
use super::position::MovementCursor;
use super::source::{Read, Side, Source, Sources};
use crate::app::App;
use crate::error::Problem;
use crate::http::periods::{TimeRange, time_range};
use crate::http::query::Query;
use crate::read::blocks::times;
use crate::read::completeness::require_table;
use trawl_core::primitives::{Address, BlockNumber, BlockRange};
use trawl_core::readable::Readable;
use trawl_core::schema::OptionalTable;
use trawl_core::store::Head;

/// A filter, a time, and the position below which rows are requested.
pub(super) struct FilterRequest {
    pub filter: Filter,
    age: TimeRange,
    below: Option<MovementCursor>,
}

impl FilterRequest {
    /// Reads the parameters.
    ///
    /// # Errors
    ///
    /// When one of them is wrong.
    pub fn read(query: &Query) -> Result<Self, Problem> {
        let filter = Filter::read(query)?;
        let age = time_range(query, "age_from", "age_to")?;
        if age.start.is_none() && query.name("age").is_some_and(|preset| !matches!(preset, "null" | "")) {
            return Err(Problem::invalid_parameter("age_from", "Missing field: age_from"));
        }
        Ok(Self { filter, age, below: MovementCursor::read(query)? })
    }

    /// The rows that the filter may allow, newest first. `rows_per_read`: of each source.
    ///
    /// # Errors
    ///
    /// When a table that they need is left out, or blocks are not loaded among which those of the time may begin or
    /// end; when the store fails.
    pub async fn sources(&self, app: &App, head: &Head, rows_per_read: u64) -> Result<Sources, Problem> {
        let blocks = times::within(app, head, self.age).await?;
        Ok(Sources::new(sources(head, &self.filter, blocks, self.below)?, rows_per_read))
    }
}

/// The sources of the rows that a filter includes, in some blocks.
fn sources(
    head: &Head,
    filter: &Filter,
    blocks: Option<BlockRange>,
    below: Option<MovementCursor>,
) -> Result<Vec<Source>, Problem> {
    let Some(range) = blocks else { return Ok(Vec::new()) };
    let last = below.map_or(BlockNumber::MAX, |below| below.0.0);
    let range = BlockRange::new(range.first(), range.last().min(last));
    let of = |part: &Readable| range.map(|range| part.within(range)).unwrap_or_default();
    let sides: Vec<Option<Side>> = match filter.ranges() {
        none if none.is_empty() => vec![None],
        some => some.into_iter().map(Some).collect(),
    };
    let mut reads = Vec::new();
    if filter.includes_coins() {
        if sides != [None] {
            require_table(head, OptionalTable::TransactionsByAddress)?;
        }
        reads.extend(sides.iter().map(|side| (Read::Transactions(*side), &head.blocks)));
        reads.extend(sides.iter().map(|side| (Read::Frames(*side), &head.traces)));
    }
    if filter.includes_transfers() {
        let tokens: Vec<Address> = filter.tokens.include.iter().copied().collect();
        let transfers = |side: &Option<Side>| match (side, tokens.as_slice()) {
            (None, [_, ..]) => tokens.iter().map(|token| Read::OfToken(*token)).collect(),
            (side, [token]) => vec![Read::Transfers(*side, Some(*token), filter.standards())],
            (side, _) => vec![Read::Transfers(*side, None, filter.standards())],
        };
        reads.extend(sides.iter().flat_map(transfers).map(|read| (read, &head.receipts)));
    }
    Ok(reads.into_iter().map(|(read, part)| Source::new(read, of(part), below)).collect())
}
