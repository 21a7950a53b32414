//! Floor 1: SQL text with typed parameters and the columns of its result.
//!
//! The text never contains a value: values are sent as ClickHouse parameters, `{name:Type}` in the text.

use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::marker::PhantomData;
use std::time::Duration;

use alloy_primitives::Selector;
use serde::Serialize;

use crate::newest::{Merge, NewestRead};
use crate::primitives::{Address, B256, BlockRange, HotRange, U256};

mod address_page;

pub use address_page::AddressPage;

/// The value of a `{name:Type}` placeholder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Parameter {
    /// `UInt64`, or a narrower type of integers.
    Number(u64),
    /// Text; hashes and addresses travel as hexadecimal digits and go through `unhex`.
    Text(String),
    /// `Array(UInt64)`, of heights and positions.
    Numbers(Vec<u64>),
    /// `Array(String)`; hashes and addresses among them as hexadecimal digits.
    Texts(Vec<String>),
    /// `Array(Tuple(UInt64, UInt64))`, both ends inclusive.
    Ranges(Vec<(u64, u64)>),
    /// `Array(Tuple(UInt64, UInt64, UInt64))`: both ends inclusive, and a generation.
    Generations(Vec<(u64, u64, u64)>),
    /// `Array(FixedString(20))`. Such an array is a constant set: `IN` uses keys with it, and a `Distributed` table
    /// asks the shards of its values alone. Hexadecimal digits would need a sub-query to become one.
    Addresses(Vec<Address>),
    /// `Array(FixedString(32))`, a set as well.
    Hashes(Vec<B256>),
    /// `Array(FixedString(4))`, a set as well.
    Selectors(Vec<Selector>),
    /// `Array(UInt256)`, of token ids and wei.
    Amounts(Vec<U256>),
}

impl Parameter {
    /// The value as ClickHouse reads it, if it is of a kind that does not travel as text or numbers.
    #[must_use]
    pub fn escaped(&self) -> Option<String> {
        let items: Vec<String> = match self {
            Self::Addresses(addresses) => addresses.iter().map(|address| quoted(address.as_slice())).collect(),
            Self::Hashes(hashes) => hashes.iter().map(|hash| quoted(hash.as_slice())).collect(),
            Self::Selectors(selectors) => selectors.iter().map(|selector| quoted(selector.as_slice())).collect(),
            Self::Amounts(amounts) => amounts.iter().map(U256::to_string).collect(),
            _ => return None,
        };
        Some(format!("[{}]", items.join(",")))
    }
}

/// Bytes as a string of ClickHouse's text form
/// (<https://clickhouse.com/docs/sql-reference/syntax#string>). A field of a form may have 128 KiB there
/// (`http_max_field_value_size`), which a thousand hashes stay below.
fn quoted(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 + 4 * bytes.len());
    text.push('\'');
    for byte in bytes {
        match byte {
            0 => text.push_str("\\0"),
            byte if byte.is_ascii_alphanumeric() => text.push(char::from(*byte)),
            byte => write!(text, "\\x{byte:02x}").expect("memory"),
        }
    }
    text.push('\'');
    text
}

impl From<u64> for Parameter {
    fn from(value: u64) -> Self {
        Self::Number(value)
    }
}

impl From<&str> for Parameter {
    fn from(value: &str) -> Self {
        Self::Text(value.into())
    }
}

impl From<&Address> for Parameter {
    fn from(value: &Address) -> Self {
        Self::Text(const_hex::encode(value))
    }
}

impl From<&B256> for Parameter {
    fn from(value: &B256) -> Self {
        Self::Text(const_hex::encode(value))
    }
}

impl From<&[String]> for Parameter {
    fn from(values: &[String]) -> Self {
        Self::Texts(values.to_vec())
    }
}

impl From<&[B256]> for Parameter {
    fn from(values: &[B256]) -> Self {
        Self::Hashes(values.to_vec())
    }
}

impl From<&[Address]> for Parameter {
    fn from(values: &[Address]) -> Self {
        Self::Addresses(values.to_vec())
    }
}

impl From<&[Selector]> for Parameter {
    fn from(values: &[Selector]) -> Self {
        Self::Selectors(values.to_vec())
    }
}

impl From<Vec<String>> for Parameter {
    fn from(values: Vec<String>) -> Self {
        Self::Texts(values)
    }
}

impl From<&[BlockRange]> for Parameter {
    fn from(ranges: &[BlockRange]) -> Self {
        Self::Ranges(ranges.iter().map(|range| (range.first(), range.last())).collect())
    }
}

impl From<&[HotRange]> for Parameter {
    fn from(ranges: &[HotRange]) -> Self {
        let triple = |range: &HotRange| (range.blocks.first(), range.blocks.last(), range.generation);
        Self::Generations(ranges.iter().map(triple).collect())
    }
}

/// Settings for a statement that reads one contiguous range and stops after a page.
///
/// One thread, because a second reads ahead of the LIMIT; no lazy materialization, because it reads the keys
/// of a contiguous range twice; no buffers before parts are merged, because each is up to 16 MiB of rows that wait for
/// the client (over six parts a statement holds 20 MB without them and 118 MB with them). Small blocks, because a block
/// is what both sides hold in memory, and one that fits the caches of a processor is read and written no slower than
/// one of 65,409 rows.
pub const PAGE_SETTINGS: &[(&str, &str)] = &[
    ("max_threads", "1"),
    ("query_plan_optimize_lazy_materialization", "0"),
    ("optimize_read_in_order", "1"),
    ("read_in_order_use_buffering", "0"),
    ("max_block_size", "8192"),
];

/// Settings for a statement that sums over a range of a key: groups are made as rows arrive in the order of the key, so
/// that it keeps one group and not all of them.
pub const SUM_SETTINGS: &[(&str, &str)] =
    &[("max_threads", "1"), ("optimize_aggregation_in_order", "1"), ("max_block_size", "8192")];

/// Settings for a statement that reads a whole table on all cores, without a time limit.
pub const SCAN_SETTINGS: &[(&str, &str)] = &[("max_execution_time", "0")];

/// Longest wait for the first rows of a scan; a broken connection is noticed long before.
const SCAN_TIMEOUT: Duration = Duration::from_secs(24 * 60 * 60);

/// What a read is for: the value of ClickHouse's setting `workload`. `trawl-engine` has slots for each; a server
/// schedules them as its operator says, by default all alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Workload {
    /// A page, or less.
    Short,
    /// State that a call needs.
    Call,
    /// A read of any length.
    Scan,
    /// A read on behalf of what writes.
    Ingest,
}

impl Workload {
    /// The value of the setting.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Short => "short",
            Self::Call => "call",
            Self::Scan => "scan",
            Self::Ingest => "ingest",
        }
    }

    /// Settings for statements whose planning costs more than their rows. What ClickHouse compiles holds the constants
    /// of a statement, such as the newest block, so that a page that several clients read would be compiled at each
    /// head: 30 to 130 ms of a core. Two steps of the plan cost a tenth of a page and gain nothing for it. Long reads
    /// are quicker by up to a tenth with what is compiled.
    #[must_use]
    pub const fn settings(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Short | Self::Call => &[
                ("compile_expressions", "0"),
                ("query_plan_merge_expressions", "0"),
                ("query_plan_remove_unused_columns", "0"),
            ],
            Self::Scan | Self::Ingest => &[],
        }
    }
}

/// A read. `R` declares the columns of its result.
pub struct Statement<R> {
    /// SQL with `{name:Type}` for each of `parameters`.
    pub sql: Cow<'static, str>,
    /// The text where tables are on shards, if another one lets ClickHouse leave some of them out.
    pub on_shards: Option<Cow<'static, str>>,
    /// Values of its placeholders.
    pub parameters: Vec<(Cow<'static, str>, Parameter)>,
    /// ClickHouse settings for this statement alone.
    pub settings: &'static [(&'static str, &'static str)],
    /// What it is for.
    pub workload: Workload,
    /// Longest wait for rows, if it differs from that of the reader.
    pub timeout: Option<Duration>,
    /// Whether the statement reads one range in key order, so that ClickHouse streams any number of rows. The rows of
    /// other statements are merged or sorted, and their LIMIT bounds the memory of ClickHouse.
    pub is_one_range: bool,
    /// The same read of blocks in memory, if there are any.
    pub newest: Option<NewestRead>,
    /// Whether there are rows in tables to be read: without any, the text is not sent.
    pub is_in_tables: bool,
    /// Whether the rows of tables are of settled blocks alone, which stay as they are while nothing is lost or loaded
    /// again.
    pub is_settled: bool,
    /// The read of tables as a page of one address, if it is one: several of them may be read together.
    pub address_page: Option<Box<AddressPage>>,
    columns: PhantomData<fn() -> R>,
}

impl<R> Statement<R> {
    /// A statement with the settings of a page and no parameters yet.
    #[must_use]
    pub fn page(sql: impl Into<Cow<'static, str>>) -> Self {
        Self {
            sql: sql.into(),
            on_shards: None,
            parameters: Vec::new(),
            settings: PAGE_SETTINGS,
            workload: Workload::Short,
            timeout: None,
            is_one_range: false,
            newest: None,
            is_in_tables: true,
            is_settled: false,
            address_page: None,
            columns: PhantomData,
        }
    }

    /// A statement with the settings of a scan and no parameters yet. Not for requests of clients.
    #[must_use]
    pub fn scan(sql: impl Into<Cow<'static, str>>) -> Self {
        Self { settings: SCAN_SETTINGS, workload: Workload::Ingest, timeout: Some(SCAN_TIMEOUT), ..Self::page(sql) }
    }

    /// Says what the statement is for.
    #[must_use]
    pub fn on_behalf_of(self, workload: Workload) -> Self {
        Self { workload, ..self }
    }

    /// Has another text where tables are on shards, which has the same rows and placeholders.
    #[must_use]
    pub fn on_shards(self, sql: impl Into<Cow<'static, str>>) -> Self {
        Self { on_shards: Some(sql.into()), ..self }
    }

    /// The read where tables are on shards, if it has another text there.
    #[must_use]
    pub fn for_shards(&self) -> Option<Self> {
        let sql = self.on_shards.clone()?;
        Some(Self { sql, ..self.clone() })
    }

    /// Sets the value of a placeholder.
    #[must_use]
    pub fn with(mut self, name: impl Into<Cow<'static, str>>, value: impl Into<Parameter>) -> Self {
        self.parameters.push((name.into(), value.into()));
        self
    }

    /// A read whose newest rows come first as two: that of blocks in memory, and that of tables, which does not depend
    /// on how many rows the first has. `None` for any other read.
    #[must_use]
    pub fn newest_first(&self) -> Option<(Self, Self)> {
        self.newest.as_ref().filter(|newest| newest.merge == Merge::Before)?;
        let newest = Self { is_in_tables: false, ..self.clone() };
        Some((newest, Self { newest: None, ..self.clone() }))
    }

    /// Names the read: what has the same digest has the same text and the same values.
    #[must_use]
    pub fn digest(&self) -> B256 {
        let read = serde_json::to_vec(&(&self.sql, &self.parameters)).expect("text and numbers");
        alloy_primitives::keccak256(read)
    }
}

impl<R> fmt::Debug for Statement<R> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Statement").field("sql", &self.sql).field("parameters", &self.parameters).finish()
    }
}

impl<R> Clone for Statement<R> {
    fn clone(&self) -> Self {
        Self {
            sql: self.sql.clone(),
            on_shards: self.on_shards.clone(),
            parameters: self.parameters.clone(),
            settings: self.settings,
            workload: self.workload,
            timeout: self.timeout,
            is_one_range: self.is_one_range,
            newest: self.newest.clone(),
            is_in_tables: self.is_in_tables,
            is_settled: self.is_settled,
            address_page: self.address_page.clone(),
            columns: PhantomData,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_counts_in_the_digest() {
        let read = |sql: &'static str| Statement::<()>::page(sql);
        let digests = [
            read("SELECT 1"),
            read("SELECT 2"),
            read("SELECT 1").with("one", 1),
            read("SELECT 1").with("one", "1"),
            read("SELECT 1").with("two", 1),
            read("SELECT 1").with("one", 1).with("two", 1),
        ]
        .map(|statement| statement.digest());
        for (number, digest) in digests.iter().enumerate() {
            assert!(!digests[..number].contains(digest), "{number}");
        }
        assert_eq!(digests[2], read("SELECT 1").with("one", 1).digest());
    }
}
