//! Logs of one address, with a topic at any position.

use super::{Part, ScanSpec, address_value, rows_after};
use crate::logs::any_topic;
use crate::select::Select;
use trawl_core::newest::Predicate;
use trawl_core::primitives::{Address, B256, LogPosition};
use trawl_core::readable::Span;
use trawl_core::schema::{LogRow, LogView};
use trawl_core::statement::Statement;

/// The logs that an address emitted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddressLogScan {
    /// Contract that emitted the logs.
    pub address: Address,
    /// Only logs with this topic, at any of the four positions.
    pub topic: Option<B256>,
}

const KEY: &[&str] = &["block_number", "log_index"];

impl ScanSpec for AddressLogScan {
    type Row = LogRow;
    type Position = LogPosition;
    const PART: Part = Part::Receipts;

    fn table(&self) -> &'static str {
        "logs"
    }

    fn statement(&self, blocks: &Span, after: Option<LogPosition>, limit: u64) -> Statement<LogRow> {
        let text = format!("address = {}", address_value("address"));
        let select = Select::default()
            .condition(text, Predicate::among("address", &[self.address]))
            .with("address", &self.address);
        let select = rows_after(select, KEY, blocks, after);
        let select = match &self.topic {
            Some(topic) => any_topic(select, topic),
            None => select,
        };
        select.page(self.table(), &KEY.join(", "), limit)
    }

    fn position(logs: &LogView<'_>, row: usize) -> LogPosition {
        LogPosition { block_number: logs.block_number[row], log_index: logs.log_index[row].into() }
    }

    /// Logs without the topic are passed over one by one.
    fn passes_over(&self) -> bool {
        self.topic.is_some()
    }

    fn lists(&self) -> Vec<&[Address]> {
        vec![std::slice::from_ref(&self.address)]
    }
}
