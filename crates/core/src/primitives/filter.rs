//! What an eth_getLogs filter selects, apart from the range of blocks.

use super::{Address, B256, BlockNumber};

/// The words allowed at one topic position; empty means any word.
pub type TopicFilter = Vec<B256>;

/// Which logs are wanted. Conditions of different kinds must all hold; words within one list are alternatives.
///
/// <https://ethereum.github.io/execution-apis/api-documentation/> (Filter)
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LogFilter {
    /// Emitters; empty means any. Sorted, without repeats.
    pub addresses: Vec<Address>,
    /// One list per position, at most four. A log must have at least as many topics as there are positions here,
    /// so a trailing position without words still asks for a topic.
    pub topics: Vec<TopicFilter>,
}

impl LogFilter {
    /// Whether neither an address nor a topic narrows the answer.
    #[must_use]
    pub fn selects_everything(&self) -> bool {
        self.addresses.is_empty() && self.topics.iter().all(Vec::is_empty)
    }
}

/// A log's place in the chain; ordered as logs are answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct LogPosition {
    /// Height of the block.
    pub block_number: BlockNumber,
    /// Position in the block.
    pub log_index: u64,
}
