//! Plans for user operations (ERC-4337): they are events of EntryPoints, in the tables of logs.

use std::cmp::Ordering;

use crate::select::{Select, up_to};
use crate::transactions::positions::{TransactionPositions, only_at_positions};
use trawl_core::newest::Predicate;
use trawl_core::primitives::{Address, B256, Bytes, LogPosition};
use trawl_core::readable::Span;
use trawl_core::schema::Columns;
use trawl_core::schema::columns::columns;
use trawl_core::statement::Statement;

columns! {
    /// The position of an event.
    pub struct EventPosition / EventPositionView {
        /// Height of its block.
        block_number: u64,
        /// Position in the block.
        log_index: u32,
    }
}

columns! {
    /// An event of an EntryPoint.
    pub struct BundleEvent / BundleEventView {
        /// Height of its block.
        block_number: u64,
        /// Position of its transaction in the block.
        transaction_index: u32,
        /// Position in the block.
        log_index: u32,
        /// The EntryPoint that emitted it.
        address: Address,
        /// First topic, the kind of event.
        topic0: B256,
    }
}

columns! {
    /// A call of an EntryPoint.
    pub struct EntryPointCall / EntryPointCallView {
        /// Height of its block.
        block_number: u64,
        /// Position of its transaction in the block.
        transaction_index: u32,
        /// The EntryPoint that is called.
        to_address: Option<Address>,
        /// Its call data.
        input: Bytes,
    }
}

/// A topic that the events are looked up by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventKey {
    /// The hash of an operation.
    Hash(B256),
    /// The wallet that acts.
    Sender(Address),
    /// Who paid for it.
    Paymaster(Address),
}

impl EventKey {
    /// The column of the topic, its position in the log, and its value.
    fn topic(self) -> (&'static str, u8, B256) {
        match self {
            Self::Hash(hash) => ("topic1", 1, hash),
            Self::Sender(address) => ("topic2", 2, address.into_word()),
            Self::Paymaster(address) => ("topic3", 3, address.into_word()),
        }
    }
}

/// Events of EntryPoints, the newest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventPage<'b> {
    /// The EntryPoints; at least one.
    pub entry_points: Vec<Address>,
    /// The kind of event: its first topic.
    pub event: B256,
    /// All that the events must have.
    pub keys: Vec<EventKey>,
    /// Only of the transaction at this position of a block.
    pub transaction_index: Option<u32>,
    /// The blocks to read.
    pub blocks: &'b Span,
    /// Only events below this position.
    pub before: Option<LogPosition>,
    /// Most rows of the page.
    pub limit: u64,
}

const NEWEST_FIRST: &str = "block_number DESC, log_index DESC";

/// The condition of a position to lie below that of the cursor.
const BELOW: &str = "(block_number, log_index) < ({before_block:UInt64}, {before_log:UInt64})";

impl EventPage<'_> {
    /// The read along the ranges of the EntryPoints in `logs`, one for each, merged: for all operations, of which every
    /// third of their logs is one, and where topics are not looked up.
    #[must_use]
    pub fn by_entry_point<R: Columns>(&self) -> Statement<R> {
        let range = |select: Select, (at, address): (usize, &Address)| {
            let name = format!("entry_point_{at}");
            let text = format!("address = toFixedString(unhex({{{name}:String}}), 20)");
            select.branch(text, Predicate::among("address", &[address])).with(name, address)
        };
        let select = self.entry_points.iter().enumerate().fold(Select::default(), range);
        self.conditions(select).page("logs", NEWEST_FIRST, self.limit)
    }

    /// The read of `logs_by_block` at the newest `window` positions that `log_topics` has of the first key: others than
    /// operations are among them.
    #[must_use]
    pub fn at_topic<R: Columns>(&self, window: u64) -> Option<Statement<R>> {
        let positions = format!(
            "(block_number, log_index) GLOBAL IN (\n{}\nLIMIT {{window:UInt64}}\n)",
            self.positions(*self.keys.first()?)
        );
        let select = Select::default().settled_condition(positions).with("window", window);
        let select = select.condition(
            "address IN {entry_points:Array(FixedString(20))}",
            Predicate::among("address", &self.entry_points),
        );
        let select = self.bind_range(select.with("entry_points", &self.entry_points[..]));
        Some(self.conditions(select).page("logs_by_block", NEWEST_FIRST, self.limit))
    }

    /// The last of these positions, if there are so many: below it the next read begins.
    #[must_use]
    pub fn end_of_window(&self, window: u64) -> Option<Statement<EventPosition>> {
        let sql = format!("{}\nLIMIT 1 OFFSET {{skipped:UInt64}}", self.positions(*self.keys.first()?));
        let select = self.bind_range(Select::default().with("skipped", window.saturating_sub(1)));
        let select = match self.before {
            Some(before) => select.with("before_block", before.block_number).with("before_log", before.log_index),
            None => select,
        };
        let (column, _, topic) = self.keys.first()?.topic();
        Some(select.with(column, &topic).statement(sql))
    }

    /// A SELECT of the positions in settled blocks of the logs with a topic, the newest first.
    fn positions(&self, key: EventKey) -> String {
        let (column, position, _) = key.topic();
        let below = if self.before.is_some() { format!("\n  AND {BELOW}") } else { String::new() };
        format!(
            "SELECT block_number, log_index\nFROM log_topics\n\
             WHERE topic = toFixedString(unhex({{{column}:String}}), 32) AND topic_position = {position}\n  \
             AND block_number BETWEEN {{lowest:UInt64}} AND {{highest:UInt64}}{below}\n\
             ORDER BY {NEWEST_FIRST}\nLIMIT 1 BY block_number, log_index"
        )
    }

    /// The first and the last settled block that is read; an empty interval if there is none.
    fn bind_range(&self, select: Select) -> Select {
        let blocks = self.readable();
        let settled = &blocks.settled;
        let lowest = settled.first().map_or(1, |range| range.first());
        let highest = settled.last().map_or(0, |range| range.last());
        select.with("lowest", lowest).with("highest", highest)
    }

    fn readable(&self) -> Span {
        self.before.map_or_else(|| self.blocks.clone(), |before| up_to(self.blocks, before.block_number))
    }

    fn conditions(&self, select: Select) -> Select {
        let mut select = select
            .blocks("block_number", &self.readable())
            .condition("topic0 = toFixedString(unhex({event:String}), 32)", Predicate::among("topic0", &[&self.event]))
            .with("event", &self.event);
        for key in &self.keys {
            let (column, _, topic) = key.topic();
            let text = format!("{column} = toFixedString(unhex({{{column}:String}}), 32)");
            select = select.condition(text, Predicate::among(column, &[&topic])).with(column, &topic);
        }
        if let Some(index) = self.transaction_index {
            let test = Predicate::equals("transaction_index", index.into());
            select = select
                .condition("transaction_index = {transaction_index:UInt32}", test)
                .with("transaction_index", u64::from(index));
        }
        let Some(before) = self.before else { return select };
        let test = Predicate::Position {
            columns: vec!["block_number", "log_index"],
            is: Ordering::Less,
            than: vec![before.block_number, before.log_index],
        };
        select.condition(BELOW, test).with("before_block", before.block_number).with("before_log", before.log_index)
    }
}

/// More rows than the transactions of a page have: each costs gas.
const MAX_ROWS: u64 = 100_000_000;

/// The events among `topics` that EntryPoints emitted in the transactions at `positions`, ascending.
#[must_use]
pub fn events_at(
    positions: &TransactionPositions,
    entry_points: &[Address],
    topics: &[B256],
    blocks: &Span,
) -> Statement<BundleEvent> {
    only_at_positions(positions, blocks)
        .condition("address IN {entry_points:Array(FixedString(20))}", Predicate::among("address", entry_points))
        .condition("topic0 IN {topics:Array(FixedString(32))}", Predicate::among("topic0", topics))
        .with("entry_points", entry_points)
        .with("topics", topics)
        .page("logs_by_block", "block_number, log_index", MAX_ROWS)
}

/// The calls of EntryPoints in the transactions at `positions` that lasted, in order of execution.
#[must_use]
pub fn calls_at(
    positions: &TransactionPositions,
    entry_points: &[Address],
    blocks: &Span,
) -> Statement<EntryPointCall> {
    only_at_positions(positions, blocks)
        .condition("to_address IN {entry_points:Array(FixedString(20))}", Predicate::among("to_address", entry_points))
        .condition("call_type = 'call'", Predicate::is("call_type", "call"))
        .condition("is_undone = 0", Predicate::equals("is_undone", 0))
        .with("entry_points", entry_points)
        .page("internal_transactions", "block_number, transaction_index, frame_index", MAX_ROWS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use trawl_core::primitives::BlockRange;
    use trawl_core::schema::LogRow;

    fn page(blocks: &Span, keys: Vec<EventKey>) -> EventPage<'_> {
        EventPage {
            entry_points: vec![Address::repeat_byte(1), Address::repeat_byte(2)],
            event: B256::repeat_byte(3),
            keys,
            transaction_index: None,
            blocks,
            before: Some(LogPosition { block_number: 7, log_index: 3 }),
            limit: 51,
        }
    }

    #[test]
    fn each_entry_point_is_a_range_of_the_key() {
        let blocks = vec![BlockRange::new(1, 9).expect("ordered")].into();
        let sql = page(&blocks, Vec::new()).by_entry_point::<LogRow>().sql;
        assert_eq!(sql.matches("FROM logs\nWHERE address = toFixedString").count(), 2, "{sql}");
        assert_eq!(sql.matches("LIMIT {limit:UInt64}").count(), 3, "each range is cut: {sql}");
    }

    #[test]
    fn a_wallet_is_looked_up_by_its_topic() {
        let blocks = vec![BlockRange::new(1, 9).expect("ordered")].into();
        let page = page(&blocks, vec![EventKey::Sender(Address::repeat_byte(5))]);
        insta::assert_snapshot!(page.at_topic::<EventPosition>(4096).expect("a key").sql, @r"
        SELECT block_number, log_index
        FROM logs_by_block
        WHERE (block_number, log_index) GLOBAL IN (
        SELECT block_number, log_index
        FROM log_topics
        WHERE topic = toFixedString(unhex({topic2:String}), 32) AND topic_position = 2
          AND block_number BETWEEN {lowest:UInt64} AND {highest:UInt64}
          AND (block_number, log_index) < ({before_block:UInt64}, {before_log:UInt64})
        ORDER BY block_number DESC, log_index DESC
        LIMIT 1 BY block_number, log_index
        LIMIT {window:UInt64}
        )
          AND address IN {entry_points:Array(FixedString(20))}
          AND block_number BETWEEN {first:UInt64} AND {last:UInt64}
          AND topic0 = toFixedString(unhex({event:String}), 32)
          AND topic2 = toFixedString(unhex({topic2:String}), 32)
          AND (block_number, log_index) < ({before_block:UInt64}, {before_log:UInt64})
        ORDER BY block_number DESC, log_index DESC
        LIMIT {limit:UInt64}
        ");
        insta::assert_snapshot!(page.end_of_window(4096).expect("a key").sql, @r"
        SELECT block_number, log_index
        FROM log_topics
        WHERE topic = toFixedString(unhex({topic2:String}), 32) AND topic_position = 2
          AND block_number BETWEEN {lowest:UInt64} AND {highest:UInt64}
          AND (block_number, log_index) < ({before_block:UInt64}, {before_log:UInt64})
        ORDER BY block_number DESC, log_index DESC
        LIMIT 1 BY block_number, log_index
        LIMIT 1 OFFSET {skipped:UInt64}
        ");
    }
}
