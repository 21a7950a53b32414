//! Plans for wide scans: rows of a stretch of the chain, ascending, by who takes part in them.
//!
//! Up to [`MAX_ADDRESS_RANGES`] addresses are read range by range in the order that begins with the participant; more, or
//! none, in the order of the chain, where the rows of others are passed over one by one.

use super::select::Select;
use crate::primitives::{Address, Direction, Position, Span};
use crate::schema::Columns;
use crate::statement::Statement;

mod internal_transactions;
mod token_transfers;
mod traces;
mod transactions;

pub use internal_transactions::InternalTransactionScan;
pub use token_transfers::TokenTransferScan;
pub use traces::TraceScan;
pub use transactions::TransactionScan;

/// How many ranges of a key a statement reads and merges; each costs the planning of one sub-query.
const MAX_ADDRESS_RANGES: usize = 8;

/// What of a block must be readable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The block with its transactions.
    Blocks,
    /// Receipts, and with them logs.
    Receipts,
    /// Call frames.
    Traces,
}

/// What a scan looks for.
pub trait Scanned: Clone + Send + Sync + 'static {
    /// A row of the answer.
    type Row: Columns + 'static;
    /// Where a row is.
    type Position: Position;
    /// What must be readable of the blocks.
    const PART: Part;

    /// Reads `blocks` behind a place.
    fn statement(&self, blocks: &Span, after: Option<Self::Position>, limit: u64) -> Statement<Self::Row>;
    /// Where a row is.
    fn position(rows: &<Self::Row as Columns>::View<'_>, row: usize) -> Self::Position;
    /// The lists of addresses that narrow the scan, in an order of their own; for the name of the filter.
    fn lists(&self) -> Vec<&[Address]>;
}

/// One read of a scan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScanPage<S: Scanned> {
    /// What is looked for.
    pub scan: S,
    /// Where.
    pub blocks: Span,
    /// Only rows strictly behind this place.
    pub after: Option<S::Position>,
    /// Most rows.
    pub limit: u64,
}

impl<S: Scanned> ScanPage<S> {
    /// The read.
    #[must_use]
    pub fn statement(&self) -> Statement<S::Row> {
        self.scan.statement(&self.blocks, self.after, self.limit)
    }
}

/// Who takes part in the rows that are wanted. The addresses of a list are alternatives, and all lists must be met; an
/// empty one asks for nothing. Sorted, without repeats.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Participants {
    /// On any side.
    pub any: Vec<Address>,
    /// Who gives, calls or creates.
    pub from: Vec<Address>,
    /// Who receives, is called or created.
    pub to: Vec<Address>,
}

impl Participants {
    /// The lists.
    #[must_use]
    pub fn lists(&self) -> Vec<&[Address]> {
        vec![&self.any, &self.from, &self.to]
    }

    /// Whether nobody is named.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.any.is_empty() && self.from.is_empty() && self.to.is_empty()
    }

    /// The list that a key answers, and the side it is about.
    fn key(&self) -> Option<(Option<Direction>, &[Address])> {
        let sides = [(Some(Direction::From), &self.from), (Some(Direction::To), &self.to), (None, &self.any)];
        let is_short = |list: &[Address]| (1..=MAX_ADDRESS_RANGES).contains(&list.len());
        sides.into_iter().map(|(side, list)| (side, list.as_slice())).find(|(_, list)| is_short(list))
    }

    /// What is left to ask row by row; `answered` is the side that a key answers, where one does.
    fn conditions(&self, mut select: Select, sides: &Sides, answered: Option<Option<Direction>>) -> Select {
        for (side, list, name, columns) in [
            (Some(Direction::From), &self.from, "from_addresses", sides.from.to_vec()),
            (Some(Direction::To), &self.to, "to_addresses", sides.to.to_vec()),
            (None, &self.any, "addresses", [sides.from, sides.to].concat()),
        ] {
            if list.is_empty() || answered == Some(side) {
                continue;
            }
            let among = |column: &&str| format!("{column} IN ({})", words(name));
            let alternatives: Vec<String> = columns.iter().map(among).collect();
            select = select.condition(format!("({})", alternatives.join(" OR "))).with(name, list.as_slice());
        }
        select
    }
}

/// The columns that say who takes part in a row.
struct Sides {
    from: &'static [&'static str],
    /// Of these at most one is not NULL.
    to: &'static [&'static str],
}

/// A set of addresses. Spelt as a sub-query because `IN arrayMap(…)` means the same but uses no key.
fn words(parameter: &str) -> String {
    format!("SELECT toFixedString(unhex(arrayJoin({{{parameter}:Array(String)}})), 20)")
}

fn word(parameter: &str) -> String {
    format!("toFixedString(unhex({{{parameter}:String}}), 20)")
}

/// The rows of each of a few addresses, each a range of the key. A row of which several of them are participants is
/// found under each, and kept under the first.
fn ranges_of(mut select: Select, addresses: &[Address], side: Option<Direction>, sides: &Sides) -> Select {
    for (position, address) in addresses.iter().enumerate() {
        let name = format!("address_{position}");
        let direction = if side.is_some() { " AND direction = {direction:String}" } else { "" };
        select = select.branch(format!("address = {}{direction}", word(&name))).with(name, address);
    }
    if let Some(side) = side {
        return select.with("direction", side.as_str());
    }
    if addresses.len() < 2 {
        return select;
    }
    let columns: Vec<String> =
        [sides.from, sides.to].concat().iter().map(|column| format!("ifNull({column}, from_address)")).collect();
    let wanted = "arrayMap(digits -> toFixedString(unhex(digits), 20), {addresses:Array(String)})";
    let first =
        format!("address = arrayMin(arrayFilter(participant -> has({wanted}, participant), [{}]))", columns.join(", "));
    select.condition(first).with("addresses", addresses)
}

/// Keeps rows of `blocks` behind a place whose numbers are in the columns of `key`.
fn behind<P: Position>(select: Select, key: &[&str], blocks: &Span, after: Option<P>) -> Select {
    let Some(after) = after else { return select.blocks("block_number", blocks) };
    // The plain lower bound is what the key uses; the tuple alone reads from the start of the range.
    let place: Vec<String> = key.iter().map(|column| format!("{{after_{column}:UInt64}}")).collect();
    let select = select.blocks("block_number", &blocks.from(after.block_number())).condition(format!(
        "({}) > ({})",
        key.join(", "),
        place.join(", ")
    ));
    let bind = |select: Select, (column, number): (&&str, u64)| select.with(format!("after_{column}"), number);
    key.iter().zip(after.numbers()).fold(select, bind)
}
