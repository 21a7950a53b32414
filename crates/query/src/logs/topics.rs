//! Plans over `log_topics`: the positions of logs with a topic, looked up before the logs themselves are fetched.
//!
//! A log costs the same to fetch wherever it lies, so the time for a rare topic depends on its own logs alone. The logs
//! of a common topic are read sequentially, without a lookup.

use crate::select::Select;
use trawl_core::primitives::{B256, BlockNumber, BlockRange, LogFilter, LogPosition, is_padded_address};
use trawl_core::schema::columns::columns;
use trawl_core::statement::Statement;

/// Positions in the first window of a lookup; each later window has four times as many, up to [`MAX_POSITIONS`].
pub const FIRST_POSITIONS: u64 = 4_096;
/// Most positions of a window: ClickHouse holds them as a set while their logs are fetched, some 40 bytes each.
pub const MAX_POSITIONS: u64 = 1 << 18;
/// Most alternatives at a position of the filter for a lookup, each in a range of its own.
const MAX_TOPICS: usize = 8;
/// A topic with one log in so many blocks is common: its logs lie in nearly every granule of `logs_by_block`.
const BLOCKS_PER_LOG: u64 = 8;

/// The alternatives at a position of the filter, few enough for a lookup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopicKey {
    /// The position, 0 to 3.
    pub position: u8,
    /// The alternatives; at least one.
    pub topics: Vec<B256>,
}

columns! {
    /// Number of logs in a window with the topics at a position, and their first and last block.
    pub struct TopicOccurrences / TopicOccurrencesView {
        /// The position in the filter.
        topic_position: u8,
        /// How many logs, at most the size of the window.
        logs: u64,
        /// Block of the first.
        first_block: u64,
        /// Block of the last.
        last_block: u64,
    }
}

/// How to find the logs of some blocks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Search {
    /// Read all logs.
    Through,
    /// Read the positions of a topic, which lie in these blocks; `None` if there are none.
    At {
        /// Position in the filter, and the topics that are looked up at it.
        key: TopicKey,
        /// From the first position to the last.
        blocks: Option<BlockRange>,
        /// Whether no positions follow.
        is_last: bool,
    },
}

impl TopicKey {
    /// The positions of a filter that can be looked up.
    #[must_use]
    pub fn of(filter: &LogFilter) -> Vec<Self> {
        let few = |topics: &&Vec<B256>| (1..=MAX_TOPICS).contains(&topics.len());
        let positions = (0..4).zip(&filter.topics).filter(|(_, topics)| few(topics));
        positions.map(|(position, topics)| Self { position, topics: topics.clone() }).collect()
    }

    /// Whether `logs_by_topic` has its logs in one range: a single topic, which may be an address.
    #[must_use]
    pub fn is_padded_address(&self) -> bool {
        self.position > 0 && self.topics.len() == 1 && is_padded_address(&self.topics[0])
    }

    /// The range of `logs_by_topic` of settled blocks.
    pub(crate) fn in_order(&self, select: Select) -> Select {
        self.bind(select.settled_condition(self.range(0)))
    }

    fn parameter(&self, alternative: usize) -> String {
        format!("position{}_{alternative}", self.position)
    }

    /// The condition of one alternative: a range of the key.
    fn range(&self, alternative: usize) -> String {
        let (parameter, position) = (self.parameter(alternative), self.position);
        format!("topic = toFixedString(unhex({{{parameter}:String}}), 32) AND topic_position = {position}")
    }

    /// Adds the condition that a row of `logs_by_block` is at a position of the topic in these blocks.
    pub(crate) fn keep(&self, select: Select, blocks: BlockRange) -> Select {
        let ranges: Vec<String> =
            (0..self.topics.len()).map(|alternative| format!("({})", self.range(alternative))).collect();
        let positions = format!(
            "SELECT block_number, log_index FROM log_topics WHERE ({}) AND block_number BETWEEN {{first_position:UInt64}} AND {{last_position:UInt64}}",
            ranges.join(" OR ")
        );
        let select = select
            .settled_condition(format!("(block_number, log_index) GLOBAL IN ({positions})"))
            .with("first_position", blocks.first())
            .with("last_position", blocks.last());
        self.bind(select)
    }

    fn bind(&self, select: Select) -> Select {
        let named =
            |select: Select, (alternative, topic): (usize, &B256)| select.with(self.parameter(alternative), topic);
        self.topics.iter().enumerate().fold(select, named)
    }
}

/// The next `window` positions after `after` in `blocks` for each of `keys`.
#[must_use]
pub fn positions(
    keys: &[TopicKey],
    blocks: BlockRange,
    after: Option<LogPosition>,
    window: u64,
) -> Statement<TopicOccurrences> {
    let follows = if after.is_some() {
        "\n  AND (block_number, log_index) > ({after_block:UInt64}, {after_log:UInt64})"
    } else {
        ""
    };
    let page = |key: &TopicKey, alternative| {
        format!(
            "SELECT block_number, log_index\nFROM log_topics\nWHERE {}\n  AND block_number BETWEEN {{first:UInt64}} AND {{last:UInt64}}{follows}\nORDER BY block_number, log_index\nLIMIT {{window:UInt64}}",
            key.range(alternative)
        )
    };
    let count = |key: &TopicKey| {
        let pages: Vec<String> = (0..key.topics.len()).map(|alternative| page(key, alternative)).collect();
        let merged = match pages.as_slice() {
            [one] => one.clone(),
            several => format!(
                "SELECT block_number, log_index\nFROM (\n({})\n)\nORDER BY block_number, log_index\nLIMIT {{window:UInt64}}",
                several.join(")\nUNION ALL\n(")
            ),
        };
        format!(
            "SELECT toUInt8({}) AS topic_position, count() AS logs, min(block_number) AS first_block, max(block_number) AS last_block\nFROM (\n{merged}\n)",
            key.position
        )
    };
    let sql = keys.iter().map(count).collect::<Vec<_>>().join("\nUNION ALL\n");
    let first = after.map_or(blocks.first(), |after| after.block_number.max(blocks.first()));
    let select = Select::default().with("first", first).with("last", blocks.last()).with("window", window);
    let select = match after {
        Some(after) => select.with("after_block", after.block_number).with("after_log", after.log_index),
        None => select,
    };
    keys.iter().fold(select, |select, key| key.bind(select)).statement(sql)
}

/// The key with the fewest logs; among keys with a full window, the one whose last position is highest.
#[must_use]
pub fn rarest<'k, 'r>(
    keys: &'k [TopicKey],
    found: &'r [TopicOccurrences],
) -> Option<(&'r TopicOccurrences, &'k TopicKey)> {
    let row = found.iter().min_by_key(|row| (row.logs, BlockNumber::MAX - row.last_block))?;
    Some((row, keys.iter().find(|key| key.position == row.topic_position)?))
}

impl Search {
    /// Chooses the rarest of `keys` by the result of [`positions`] for a `window`.
    #[must_use]
    pub fn choose(keys: &[TopicKey], found: &[TopicOccurrences], window: u64) -> Self {
        let Some((row, key)) = rarest(keys, found) else { return Self::Through };
        let is_last = row.logs < window;
        let blocks = BlockRange::new(row.first_block, row.last_block).filter(|_| row.logs > 0);
        if !is_last && blocks.is_some_and(|blocks| blocks.count() < row.logs.saturating_mul(BLOCKS_PER_LOG)) {
            return Self::Through;
        }
        Self::At { key: key.clone(), blocks, is_last }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys() -> Vec<TopicKey> {
        let topic = B256::repeat_byte;
        TopicKey::of(&LogFilter {
            addresses: Vec::new(),
            topics: vec![vec![topic(1)], Vec::new(), vec![topic(2), topic(3)], vec![topic(4); MAX_TOPICS + 1]],
        })
    }

    fn row(topic_position: u8, logs: u64, first_block: u64, last_block: u64) -> TopicOccurrences {
        TopicOccurrences { topic_position, logs, first_block, last_block }
    }

    #[test]
    fn each_alternative_is_a_range_of_its_own() {
        assert_eq!(keys().iter().map(|key| (key.position, key.topics.len())).collect::<Vec<_>>(), [(0, 1), (2, 2)]);
        let blocks = BlockRange::new(5, 900).expect("ordered");
        let after = Some(LogPosition { block_number: 7, log_index: 3 });
        insta::assert_snapshot!(positions(&keys(), blocks, after, 100).sql, @r"
        SELECT toUInt8(0) AS topic_position, count() AS logs, min(block_number) AS first_block, max(block_number) AS last_block
        FROM (
        SELECT block_number, log_index
        FROM log_topics
        WHERE topic = toFixedString(unhex({position0_0:String}), 32) AND topic_position = 0
          AND block_number BETWEEN {first:UInt64} AND {last:UInt64}
          AND (block_number, log_index) > ({after_block:UInt64}, {after_log:UInt64})
        ORDER BY block_number, log_index
        LIMIT {window:UInt64}
        )
        UNION ALL
        SELECT toUInt8(2) AS topic_position, count() AS logs, min(block_number) AS first_block, max(block_number) AS last_block
        FROM (
        SELECT block_number, log_index
        FROM (
        (SELECT block_number, log_index
        FROM log_topics
        WHERE topic = toFixedString(unhex({position2_0:String}), 32) AND topic_position = 2
          AND block_number BETWEEN {first:UInt64} AND {last:UInt64}
          AND (block_number, log_index) > ({after_block:UInt64}, {after_log:UInt64})
        ORDER BY block_number, log_index
        LIMIT {window:UInt64})
        UNION ALL
        (SELECT block_number, log_index
        FROM log_topics
        WHERE topic = toFixedString(unhex({position2_1:String}), 32) AND topic_position = 2
          AND block_number BETWEEN {first:UInt64} AND {last:UInt64}
          AND (block_number, log_index) > ({after_block:UInt64}, {after_log:UInt64})
        ORDER BY block_number, log_index
        LIMIT {window:UInt64})
        )
        ORDER BY block_number, log_index
        LIMIT {window:UInt64}
        )
        ");
    }

    #[test]
    fn the_rarest_is_looked_up_and_a_common_one_is_read_sequentially() {
        let at = |position: usize, first, last, is_last| Search::At {
            key: keys()[position].clone(),
            blocks: BlockRange::new(first, last),
            is_last,
        };
        assert_eq!(Search::choose(&keys(), &[row(0, 100, 5, 900), row(2, 3, 8, 9)], 100), at(1, 8, 9, true));
        assert_eq!(
            Search::choose(&keys(), &[row(0, 100, 5, 90_000), row(2, 100, 5, 900)], 100),
            at(0, 5, 90_000, false)
        );
        assert_eq!(Search::choose(&keys(), &[row(0, 100, 5, 50), row(2, 100, 5, 60)], 100), Search::Through);
        assert_eq!(Search::choose(&[], &[], 100), Search::Through);
        let none = Search::choose(&keys(), &[row(0, 0, 0, 0), row(2, 100, 5, 60)], 100);
        assert_eq!(none, Search::At { key: keys()[0].clone(), blocks: None, is_last: true });
    }
}
