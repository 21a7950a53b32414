//! Plans for log reads: which table, which key range, in what order.

pub mod topics;

use std::cmp::Ordering;

use super::select::{Select, up_to};
use topics::{Search, TopicKey};
use trawl_core::newest::Predicate;
use trawl_core::primitives::{Address, B256, BlockRange, LogFilter, LogPosition};
use trawl_core::readable::Span;
use trawl_core::schema::LogRow;
use trawl_core::statement::Statement;

/// Most addresses that are read range by range in the table ordered by address. Each costs the planning of a
/// sub-query; beyond this, the chain-ordered table with its bloom filter on the address is cheaper.
const MAX_ADDRESS_RANGES: usize = 8;

/// A read of a log table along its primary key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LogPlan {
    /// Reads `logs`, ordered (address, `block_number`, `log_index`): one range per address, merged.
    ByAddress {
        /// One to eight emitters.
        addresses: Vec<Address>,
        /// Blocks to read.
        blocks: Span,
    },
    /// Reads `logs_by_block`, ordered (`block_number`, `log_index`).
    ByBlock {
        /// Blocks to read.
        blocks: Span,
        /// Emitters to keep; empty means all.
        addresses: Vec<Address>,
    },
    /// Reads `logs_by_topic`, ordered (topic, position of the topic, `block_number`, `log_index`).
    ByPaddedAddress {
        /// One topic that may be an address.
        key: TopicKey,
        /// Blocks to read.
        blocks: Span,
        /// Emitters to keep; empty means all.
        addresses: Vec<Address>,
    },
    /// Fetches from `logs_by_block` the rows at the positions that `log_topics` has: the settled blocks are those from
    /// the first position to the last.
    ByTopic {
        /// The topics to look up.
        key: TopicKey,
        /// Blocks to read.
        blocks: Span,
        /// Emitters to keep; empty means all.
        addresses: Vec<Address>,
    },
}

/// A page of logs, ascending by chain position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogPage {
    /// Table and blocks to read.
    pub plan: LogPlan,
    /// Topics to keep.
    pub filter: LogFilter,
    /// Only logs of the block with this hash, where the filter named one.
    pub block_hash: Option<B256>,
    /// Only logs strictly after this position.
    pub after: Option<LogPosition>,
    /// Highest number of logs on the page.
    pub limit: u64,
}

impl LogPage {
    /// Chooses the table for `filter` over `blocks`, all of them readable.
    #[must_use]
    pub fn new(filter: LogFilter, blocks: impl Into<Span>, limit: u64) -> Self {
        let blocks = blocks.into();
        let addresses = filter.addresses.clone();
        let plan = if (1..=MAX_ADDRESS_RANGES).contains(&addresses.len()) {
            LogPlan::ByAddress { addresses, blocks }
        } else {
            LogPlan::ByBlock { blocks, addresses }
        };
        Self { plan, filter, block_hash: None, after: None, limit }
    }

    /// The blocks that are read.
    #[must_use]
    pub fn blocks(&self) -> &Span {
        match &self.plan {
            LogPlan::ByAddress { blocks, .. }
            | LogPlan::ByBlock { blocks, .. }
            | LogPlan::ByPaddedAddress { blocks, .. }
            | LogPlan::ByTopic { blocks, .. } => blocks,
        }
    }

    /// The topics that could be looked up instead of a read of all logs: those of a wide read without a contract.
    #[must_use]
    pub fn keys(&self) -> Vec<TopicKey> {
        match &self.plan {
            LogPlan::ByBlock { blocks, .. } if is_wide(&blocks.settled) => TopicKey::of(&self.filter),
            _ => Vec::new(),
        }
    }

    /// Restricts the read to the positions of `search`: of settled blocks up to the last one. The newest blocks are
    /// read with the last window of positions.
    #[must_use]
    pub fn found_by(mut self, search: &Search) -> Self {
        if let (LogPlan::ByBlock { blocks, addresses }, Search::At { key, blocks: positions, is_last }) =
            (&self.plan, search)
        {
            let settled = |positions: &BlockRange| blocks.within(*positions).settled;
            let blocks = Span {
                settled: positions.as_ref().map(settled).unwrap_or_default(),
                ..if *is_last { blocks.without_settled() } else { Span::default() }
            };
            self.plan = LogPlan::ByTopic { key: key.clone(), blocks, addresses: addresses.clone() };
        }
        self
    }

    /// The same page in the order of a topic that may be an address.
    #[must_use]
    pub fn in_order_of(mut self, key: &TopicKey) -> Self {
        if let LogPlan::ByBlock { blocks, addresses } = self.plan {
            self.plan = LogPlan::ByPaddedAddress { key: key.clone(), blocks, addresses };
        }
        self
    }

    /// The same page over the same blocks, some of which may have become settled.
    #[must_use]
    pub fn over(mut self, now: Span) -> Self {
        match &mut self.plan {
            LogPlan::ByAddress { blocks, .. }
            | LogPlan::ByBlock { blocks, .. }
            | LogPlan::ByPaddedAddress { blocks, .. }
            | LogPlan::ByTopic { blocks, .. } => *blocks = now,
        }
        self
    }

    /// Continues after `after`.
    #[must_use]
    pub fn after(mut self, after: Option<LogPosition>) -> Self {
        self.after = after;
        self
    }

    /// Keeps one block's logs.
    #[must_use]
    pub fn of_block(mut self, hash: B256) -> Self {
        self.block_hash = Some(hash);
        self
    }

    /// The SQL that the plan, the filter and the position give.
    #[must_use]
    pub fn statement(&self) -> Statement<LogRow> {
        match &self.plan {
            LogPlan::ByBlock { blocks, addresses } => {
                self.without_contract("logs_by_block", Select::default(), blocks, addresses)
            }
            LogPlan::ByPaddedAddress { key, blocks, addresses } => {
                let select = key.in_order(Select::default()).once("block_number, log_index");
                self.without_contract("logs_by_topic", select, blocks, addresses)
            }
            LogPlan::ByTopic { key, blocks, addresses } => {
                let select = match ends(&blocks.settled) {
                    Some(positions) => key.keep(Select::default(), positions),
                    None => Select::default(),
                };
                self.without_contract("logs_by_block", select, blocks, addresses)
            }
            LogPlan::ByAddress { addresses, blocks } => match addresses.as_slice() {
                [address] => {
                    let select = Select::default()
                        .condition(
                            format!("address = {}", fixed_string(20, "address")),
                            Predicate::among("address", &[address]),
                        )
                        .with("address", address);
                    self.conditions(select, blocks).page("logs", "block_number, log_index", self.limit)
                }
                addresses => {
                    let named = |select: Select, (position, address): (usize, &Address)| {
                        let name = format!("address_{position}");
                        let test = Predicate::among("address", &[address]);
                        select.branch(format!("address = {}", fixed_string(20, &name)), test).with(name, address)
                    };
                    let select = addresses.iter().enumerate().fold(Select::default(), named);
                    self.conditions(select, blocks).page("logs", "block_number, log_index", self.limit)
                }
            },
        }
    }

    /// The read of a table in whose order contracts are not.
    fn without_contract(&self, table: &str, select: Select, blocks: &Span, addresses: &[Address]) -> Statement<LogRow> {
        let mut select = self.conditions(select, blocks);
        if !addresses.is_empty() {
            select = select.among(vec!["address"], "addresses", addresses);
        }
        select.page(table, "block_number, log_index", self.limit)
    }

    /// The conditions that both tables share.
    fn conditions(&self, select: Select, blocks: &Span) -> Select {
        let mut select = match self.after {
            // The plain lower bound is what the key uses; the tuple alone reads from the start of the range.
            Some(after) => select
                .blocks("block_number", &blocks.from(after.block_number))
                .condition(
                    "(block_number, log_index) > ({after_block:UInt64}, {after_log:UInt64})",
                    Predicate::Position {
                        columns: vec!["block_number", "log_index"],
                        is: Ordering::Greater,
                        than: vec![after.block_number, after.log_index],
                    },
                )
                .with("after_block", after.block_number)
                .with("after_log", after.log_index),
            None => select.blocks("block_number", blocks),
        };
        if let Some(hash) = &self.block_hash {
            let text = format!("block_hash = {}", fixed_string(32, "block_hash"));
            select = select.condition(text, Predicate::among("block_hash", &[hash])).with("block_hash", hash);
        }
        if !self.filter.topics.is_empty() {
            select = select
                .condition(
                    "topics_count >= {topics_count:UInt8}",
                    Predicate::AtLeast { column: "topics_count", number: self.filter.topics.len() as u64 },
                )
                .with("topics_count", self.filter.topics.len() as u64);
        }
        for (name, topics) in TOPICS.into_iter().zip(&self.filter.topics) {
            select = match topics.as_slice() {
                [] => select,
                [topic] => select
                    .condition(format!("{name} = {}", fixed_string(32, name)), Predicate::among(name, topics))
                    .with(name, topic),
                topics => select.among(vec![name], name, topics),
            };
        }
        select
    }
}

/// The columns of the topics; a log has at most four, and a filter is not longer.
const TOPICS: [&str; 4] = ["topic0", "topic1", "topic2", "topic3"];

/// From this many blocks on, a lookup of topics may be faster than a read of all logs.
const WIDE_READ_BLOCKS: u64 = 64;

fn is_wide(settled: &[BlockRange]) -> bool {
    settled.iter().map(|range| range.count()).sum::<u64>() > WIDE_READ_BLOCKS
}

/// From the first block of these ranges to the last.
pub fn ends(ranges: &[BlockRange]) -> Option<BlockRange> {
    BlockRange::new(ranges.first()?.first(), ranges.last()?.last())
}

/// A fixed string from a parameter of hexadecimal digits.
fn fixed_string(bytes: usize, parameter: &str) -> String {
    format!("toFixedString(unhex({{{parameter}:String}}), {bytes})")
}

/// The logs of one transaction of a `block` after `after`, ascending by index.
#[must_use]
pub fn of_transaction(block: &Span, transaction_index: u32, after: Option<u64>, limit: u64) -> Statement<LogRow> {
    let select = Select::default()
        .blocks("block_number", block)
        .condition(
            "transaction_index = {transaction_index:UInt32}",
            Predicate::equals("transaction_index", transaction_index.into()),
        )
        .with("transaction_index", u64::from(transaction_index));
    let select = match after {
        Some(after) => {
            let position = Predicate::Position { columns: vec!["log_index"], is: Ordering::Greater, than: vec![after] };
            select.condition("log_index > {after:UInt64}", position).with("after", after)
        }
        None => select,
    };
    select.page("logs_by_block", "log_index", limit)
}

/// The logs in `blocks` that `address` emitted, with `topic` at any position if one is given, from the highest position
/// down, below `before`.
#[must_use]
pub fn of_address(
    address: &Address,
    topic: Option<&B256>,
    blocks: &Span,
    before: Option<LogPosition>,
    limit: u64,
) -> Statement<LogRow> {
    let select = Select::default()
        .condition(format!("address = {}", fixed_string(20, "address")), Predicate::among("address", &[address]))
        .with("address", address);
    let select = match before {
        Some(before) => select
            .blocks("block_number", &up_to(blocks, before.block_number))
            .condition(
                "(block_number, log_index) < ({before_block:UInt64}, {before_log:UInt64})",
                Predicate::Position {
                    columns: vec!["block_number", "log_index"],
                    is: Ordering::Less,
                    than: vec![before.block_number, before.log_index],
                },
            )
            .with("before_block", before.block_number)
            .with("before_log", before.log_index),
        None => select.blocks("block_number", blocks),
    };
    let select = match topic {
        Some(topic) => any_topic(select, topic),
        None => select,
    };
    select.page("logs", "block_number DESC, log_index DESC", limit)
}

/// Keeps logs with `topic` at any position; the columns of topics that a log does not have are zero.
pub(super) fn any_topic(select: Select, topic: &B256) -> Select {
    let (mut texts, mut tests) = (Vec::new(), Vec::new());
    for (count, column) in (1..).zip(TOPICS) {
        texts.push(format!("topics_count >= {count} AND {column} = {}", fixed_string(32, "topic")));
        let is_there = Predicate::AtLeast { column: "topics_count", number: count };
        tests.push(Predicate::AllOf(vec![is_there, Predicate::among(column, &[topic])]));
    }
    select.condition(format!("({})", texts.join(" OR ")), Predicate::AnyOf(tests)).with("topic", topic)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloy_primitives::{address, b256};
    use trawl_core::primitives::BlockRange;

    const TOKEN: Address = address!("0x7dcd17433742f4c0ca53122ab541d0ba67fc27df");

    fn blocks() -> Span {
        vec![BlockRange::new(1, 4).expect("ordered")].into()
    }

    #[test]
    fn one_address_reads_its_own_key_range() {
        let filter = LogFilter { addresses: vec![TOKEN], topics: Vec::new() };
        let page = LogPage::new(filter, blocks(), 1000).after(Some(LogPosition { block_number: 3, log_index: 7 }));
        insta::assert_snapshot!(page.statement().sql, @r"
        SELECT address, block_number, log_index, transaction_index, transaction_hash, block_hash, block_timestamp, topics_count, topic0, topic1, topic2, topic3, data
        FROM logs
        WHERE address = toFixedString(unhex({address:String}), 20)
          AND block_number BETWEEN {first:UInt64} AND {last:UInt64}
          AND (block_number, log_index) > ({after_block:UInt64}, {after_log:UInt64})
        ORDER BY block_number, log_index
        LIMIT {limit:UInt64}
        ");
    }

    #[test]
    fn topics_count_their_positions() {
        let topic = b256!("0x00000000000000000000000000000000000000000000000000000000656d6974");
        let filter =
            LogFilter { addresses: Vec::new(), topics: vec![vec![topic], vec![topic, TOKEN.into_word()], Vec::new()] };
        let statement = LogPage::new(filter, blocks(), 1000).statement();
        insta::assert_snapshot!(statement.sql, @r"
        SELECT address, block_number, log_index, transaction_index, transaction_hash, block_hash, block_timestamp, topics_count, topic0, topic1, topic2, topic3, data
        FROM logs_by_block
        WHERE block_number BETWEEN {first:UInt64} AND {last:UInt64}
          AND topics_count >= {topics_count:UInt8}
          AND topic0 = toFixedString(unhex({topic0:String}), 32)
          AND topic1 IN {topic1:Array(FixedString(32))}
        ORDER BY block_number, log_index
        LIMIT {limit:UInt64}
        ");
        assert!(statement.parameters.contains(&("topics_count".into(), 3.into())));
    }

    #[test]
    fn gaps_are_left_out_row_by_row() {
        let gapped = vec![BlockRange::single(1), BlockRange::single(5)];
        let sql = LogPage::new(LogFilter::default(), gapped, 10).statement().sql;
        assert!(sql.contains("arrayExists(range -> block_number BETWEEN range.1 AND range.2"), "{sql}");
    }
}
