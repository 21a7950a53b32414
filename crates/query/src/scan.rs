//! Plans for wide scans: rows of a range of blocks, ascending, filtered by participants.
//!
//! Up to eight addresses are read range by range from the table whose key begins with the participant. More addresses,
//! or none, are read in chain order, where other rows are filtered out one by one.

use std::cmp::Ordering;

use super::select::Select;
use trawl_core::newest::Predicate;
use trawl_core::primitives::{Address, BlockRange, Direction, Position};
use trawl_core::readable::Span;
use trawl_core::schema::Columns;
use trawl_core::statement::Statement;

mod address_logs;
mod address_transactions;
mod internal_transactions;
mod token_transfers;
mod traces;
mod transactions;

pub use address_logs::AddressLogScan;
pub use address_transactions::AddressTransactionScan;
pub use internal_transactions::InternalTransactionScan;
pub use token_transfers::TokenTransferScan;
pub use traces::{JoinMode, TraceScan};
pub use transactions::TransactionScan;

/// Most ranges of a key that a statement reads and merges; each costs the planning of a sub-query.
const MAX_ADDRESS_RANGES: usize = 8;

/// The part of a block that must be readable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The block with its transactions.
    Blocks,
    /// Receipts, and with them logs.
    Receipts,
    /// Call frames, and with them internal transactions.
    Traces,
}

/// The kind of rows of a scan, with its filter.
pub trait ScanSpec: Clone + Send + Sync + 'static {
    /// A row of the result.
    type Row: Columns + 'static;
    /// The position of a row.
    type Position: Position;
    /// The part of the blocks that must be readable.
    const PART: Part;

    /// The table to read, whose key has the order of the result.
    fn table(&self) -> &'static str;
    /// Reads `blocks` after a position.
    fn statement(&self, blocks: &Span, after: Option<Self::Position>, limit: u64) -> Statement<Self::Row>;
    /// The position of a row.
    fn position(rows: &<Self::Row as Columns>::View<'_>, row: usize) -> Self::Position;
    /// Whether the read filters rows one by one, so that matching rows may be far apart.
    fn passes_over(&self) -> bool;
    /// The lists of addresses of the filter, in a fixed order; they identify the filter.
    fn lists(&self) -> Vec<&[Address]>;
}

/// One read of a scan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScanPage<S: ScanSpec> {
    /// Rows and filter.
    pub scan: S,
    /// Blocks to read.
    pub blocks: Span,
    /// Only rows strictly after this position.
    pub after: Option<S::Position>,
    /// Highest number of rows of this read.
    pub limit: u64,
}

/// A scan that filters rows one by one reads one block for so many positions of its window.
const BLOCKS_PER_POSITION: u64 = 4;

impl<S: ScanSpec> ScanPage<S> {
    /// The part to read next, and its end if blocks follow it. A scan that filters rows one by one reads a window of
    /// blocks at a time, so that no statement runs long, however few rows match.
    #[must_use]
    pub fn part(&self, positions: u64) -> (Self, Option<S::Position>) {
        let lowest = self.after.map_or(0, Position::block_number);
        let rest = self.blocks.from(lowest);
        let ends = rest.lowest().zip(rest.highest());
        let Some((first, last)) = ends.filter(|_| self.scan.passes_over()) else { return (self.clone(), None) };
        let window = BlockRange::new(first, first.saturating_add((positions / BLOCKS_PER_POSITION).max(2) - 1));
        match window {
            Some(window) if window.last() < last => {
                let part = Self { blocks: rest.within(window), ..self.clone() };
                (part, Some(S::Position::end_of(window.last())))
            }
            _ => (self.clone(), None),
        }
    }

    /// The SQL of this read, with its parameters.
    #[must_use]
    pub fn statement(&self) -> Statement<S::Row> {
        self.scan.statement(&self.blocks, self.after, self.limit)
    }
}

/// A filter by participants. The addresses of a list are alternatives, and a row must match all lists; an empty list
/// matches every row. Sorted, without repeats.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Participants {
    /// On any side.
    pub any: Vec<Address>,
    /// Sender, caller or creator.
    pub from: Vec<Address>,
    /// Recipient, callee or created contract.
    pub to: Vec<Address>,
}

impl Participants {
    /// The lists in a fixed order: `any`, `from`, `to`.
    #[must_use]
    pub fn lists(&self) -> Vec<&[Address]> {
        vec![&self.any, &self.from, &self.to]
    }

    /// Whether all lists are empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.any.is_empty() && self.from.is_empty() && self.to.is_empty()
    }

    /// The list that a key can select by, and its side.
    fn key(&self) -> Option<(Option<Direction>, &[Address])> {
        let sides = [(Some(Direction::From), &self.from), (Some(Direction::To), &self.to), (None, &self.any)];
        let is_short = |list: &[Address]| (1..=MAX_ADDRESS_RANGES).contains(&list.len());
        sides.into_iter().map(|(side, list)| (side, list.as_slice())).find(|(_, list)| is_short(list))
    }

    /// The conditions to check row by row; `by_key` is the side that a key selects, if one does.
    fn conditions(&self, mut select: Select, sides: &Sides, by_key: Option<Option<Direction>>) -> Select {
        for (side, list, name, columns) in [
            (Some(Direction::From), &self.from, "from_addresses", sides.from.to_vec()),
            (Some(Direction::To), &self.to, "to_addresses", sides.to.to_vec()),
            (None, &self.any, "addresses", [sides.from, sides.to].concat()),
        ] {
            if list.is_empty() || by_key == Some(side) {
                continue;
            }
            select = select.among(columns, name, list);
        }
        select
    }
}

/// The columns with the participants of a row.
struct Sides {
    from: &'static [&'static str],
    /// At most one of these is not NULL.
    to: &'static [&'static str],
}

/// A set of addresses.
fn address_set(parameter: &str) -> String {
    format!("{{{parameter}:Array(FixedString(20))}}")
}

fn address_value(parameter: &str) -> String {
    format!("toFixedString(unhex({{{parameter}:String}}), 20)")
}

/// The rows of each of a few addresses, each a range of the key. A row with several of them as participants is found
/// under each, and returned under the first.
fn ranges_of(mut select: Select, addresses: &[Address], side: Option<Direction>, sides: &Sides) -> Select {
    for (position, address) in addresses.iter().enumerate() {
        let name = format!("address_{position}");
        let direction = if side.is_some() { " AND direction = {direction:String}" } else { "" };
        let is_on_side = side.map(|side| Predicate::is("direction", side.as_str()));
        let test = Predicate::AllOf([Predicate::among("address", &[address])].into_iter().chain(is_on_side).collect());
        select = select.branch(format!("address = {}{direction}", address_value(&name)), test).with(name, address);
    }
    if let Some(side) = side {
        return select.with("direction", side.as_str());
    }
    if addresses.len() < 2 {
        return select;
    }
    let columns: Vec<String> =
        [sides.from, sides.to].concat().iter().map(|column| format!("ifNull({column}, from_address)")).collect();
    let first = format!(
        "address = arrayMin(arrayFilter(participant -> has({}, participant), [{}]))",
        address_set("addresses"),
        columns.join(", ")
    );
    let test = Predicate::least_of([sides.from, sides.to].concat(), addresses);
    select.condition(first, test).with("addresses", addresses)
}

/// Keeps rows of `blocks` after a position whose numbers are in the columns of `key`.
fn rows_after<P: Position>(select: Select, key: &[&'static str], blocks: &Span, after: Option<P>) -> Select {
    let Some(after) = after else { return select.blocks("block_number", blocks) };
    // The plain lower bound is what the key uses; the tuple alone reads from the start of the range.
    let position: Vec<String> = key.iter().map(|column| format!("{{after_{column}:UInt64}}")).collect();
    let test = Predicate::Position { columns: key.to_vec(), is: Ordering::Greater, than: after.numbers().to_vec() };
    let select = select
        .blocks("block_number", &blocks.from(after.block_number()))
        .condition(format!("({}) > ({})", key.join(", "), position.join(", ")), test);
    let bind = |select: Select, (column, number): (&&str, u64)| select.with(format!("after_{column}"), number);
    key.iter().zip(after.numbers()).fold(select, bind)
}

#[cfg(test)]
mod tests {
    use super::*;
    use trawl_core::primitives::{FramePosition, HotRange};

    fn blocks() -> Span {
        vec![BlockRange::new(1, 4).expect("ordered")].into()
    }

    fn frames(participants: Participants) -> String {
        let after = Some(FramePosition { block_number: 3, transaction_index: 7, frame_index: 1 });
        InternalTransactionScan { participants }.statement(&blocks(), after, 10).sql.into_owned()
    }

    #[test]
    fn one_participant_reads_its_own_key_range() {
        let from = vec![Address::repeat_byte(1)];
        insta::assert_snapshot!(frames(Participants { from, to: vec![Address::repeat_byte(2)], ..Participants::default() }), @r"
        SELECT block_number, transaction_index, frame_index, transaction_hash, block_timestamp, frame_type, call_type, from_address, to_address, created_contract, value, gas_limit, error, is_undone
        FROM internal_transactions_by_direction
        WHERE address = toFixedString(unhex({address_0:String}), 20) AND direction = {direction:String}
          AND block_number BETWEEN {first:UInt64} AND {last:UInt64}
          AND (block_number, transaction_index, frame_index) > ({after_block_number:UInt64}, {after_transaction_index:UInt64}, {after_frame_index:UInt64})
          AND (to_address IN {to_addresses:Array(FixedString(20))} OR created_contract IN {to_addresses:Array(FixedString(20))})
        ORDER BY block_number, transaction_index, frame_index
        LIMIT {limit:UInt64}
        ");
    }

    #[test]
    fn no_participant_reads_the_chain() {
        insta::assert_snapshot!(frames(Participants::default()), @r"
        SELECT block_number, transaction_index, frame_index, transaction_hash, block_timestamp, frame_type, call_type, from_address, to_address, created_contract, value, ifNull(execution_gas_limit, gas_limit) AS gas_limit, error, is_undone
        FROM internal_transactions
        WHERE frame_type != 'reward'
          AND (frame_index > 0 OR frame_type != 'call')
          AND block_number BETWEEN {first:UInt64} AND {last:UInt64}
          AND (block_number, transaction_index, frame_index) > ({after_block_number:UInt64}, {after_transaction_index:UInt64}, {after_frame_index:UInt64})
        ORDER BY block_number, transaction_index, frame_index
        LIMIT {limit:UInt64}
        ");
    }

    /// Every block is in exactly one window, whatever the gaps.
    #[test]
    fn windows_follow_each_other() {
        let range = |first, last| BlockRange::new(first, last).expect("ordered");
        let hot = vec![HotRange { blocks: range(95, 99), generation: 3 }];
        let blocks = Span { settled: vec![range(0, 9), range(50, 94)], hot, ..Span::default() };
        let participants = Participants { from: vec![Address::repeat_byte(1)], ..Participants::default() };
        let mut page = ScanPage { scan: TransactionScan { participants }, blocks, after: None, limit: 10 };
        let mut read = Vec::new();
        loop {
            let (part, end) = page.part(40);
            let hot = part.blocks.hot.iter().map(|range| range.blocks);
            let next = part.after.map_or(0, |after| after.block_number + 1);
            let heights = part.blocks.settled.iter().copied().chain(hot);
            read.extend(heights.flat_map(|range| range.first()..=range.last()).filter(|number| *number >= next));
            assert!(part.statement().sql.len() > 100);
            let Some(end) = end else { break };
            page.after = Some(end);
        }
        assert_eq!(read, (0..10).chain(50..100).collect::<Vec<_>>());
        page.scan.participants = Participants::default();
        assert_eq!(page.part(4).1, None);
    }

    #[test]
    fn a_row_of_two_participants_is_returned_under_the_first() {
        let any: Vec<Address> = (1..=2).map(Address::repeat_byte).collect();
        let sql = frames(Participants { any, ..Participants::default() });
        assert_eq!(sql.matches("FROM internal_transactions_by_address").count(), 2, "{sql}");
        assert_eq!(sql.matches("AND address = arrayMin(arrayFilter(").count(), 2, "{sql}");
        let many: Vec<Address> = (1..=9).map(Address::repeat_byte).collect();
        let sql = frames(Participants { any: many, ..Participants::default() });
        assert!(sql.contains("FROM internal_transactions\n") && !sql.contains("UNION"), "{sql}");
    }
}
