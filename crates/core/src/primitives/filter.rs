//! The address and topic conditions of an `eth_getLogs` filter.

use super::{Address, B256, BlockNumber};

/// The values allowed at one topic position; empty means any value.
pub type TopicFilter = Vec<B256>;

/// Which logs a filter selects. Conditions of different kinds must all hold; values within one list are alternatives.
///
/// <https://ethereum.github.io/execution-apis/api-documentation/> (Filter)
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LogFilter {
    /// Emitters; empty means any. Sorted, without repeats.
    pub addresses: Vec<Address>,
    /// One list per position, at most four. A log must have at least as many topics as there are positions here,
    /// so a trailing position without values still requires a topic.
    pub topics: Vec<TopicFilter>,
}

/// Whether a topic may be an address: twelve zero bytes, and no small number after them. `logs_by_topic` has these.
#[must_use]
pub fn is_padded_address(topic: &B256) -> bool {
    topic[..12] == [0; 12] && topic[12..20] != [0; 8]
}

impl LogFilter {
    /// Whether neither an address nor a topic restricts the selection.
    #[must_use]
    pub fn selects_everything(&self) -> bool {
        self.addresses.is_empty() && self.topics.iter().all(Vec::is_empty)
    }
}

/// The position of a log in the chain, in the order of responses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct LogPosition {
    /// Height of the block.
    pub block_number: BlockNumber,
    /// Position in the block.
    pub log_index: u64,
}
