//! Charts and counters as the statistics service of this API family gives them
//! (docs/reference/http-contract.md#statistics-service).

use crate::{Array, JsonWriter, Object};
use trawl_core::calendar::{Period, date};
use trawl_core::primitives::U256;

/// What a chart or a counter is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Info {
    /// Its name in paths.
    pub id: &'static str,
    /// Heading, as pages show it.
    pub title: &'static str,
    /// What it counts.
    pub description: &'static str,
    /// Unit of the values, such as `gwei`; none for counts, gas and coins.
    pub units: Option<&'static str>,
}

const fn info(id: &'static str, title: &'static str, description: &'static str, units: Option<&'static str>) -> Info {
    Info { id, title, description, units }
}

/// The charts about blocks.
pub const OF_BLOCKS: &[Info] = &[
    info("newBlocks", "New blocks", "Blocks of the period", None),
    info("averageBlockSize", "Average block size", "Average size of a block in bytes", Some("Bytes")),
    info("averageGasLimit", "Average gas limit", "Average gas limit of a block", None),
    info("networkUtilization", "Network utilization", "Gas used as a share of the gas limit", Some("%")),
    info("gasUsedGrowth", "Growth of gas used", "Gas used by all blocks so far", None),
];

/// The charts about transactions.
pub const OF_TRANSACTIONS: &[Info] = &[
    info("newTxns", "New transactions", "Transactions of the period", None),
    info("txnsGrowth", "Growth of transactions", "Transactions of all blocks so far", None),
    info("txnsFee", "Transaction fees", "Fees that transactions paid for gas, in coins of 18 decimals", None),
    info(
        "averageTxnFee",
        "Average transaction fee",
        "Average fee that a transaction paid for gas, in coins of 18 decimals",
        None,
    ),
];

/// The charts about what gas costs.
pub const OF_FEES: &[Info] = &[
    info("lowestBaseFee", "Lowest base fee", "The lowest base fee of a block", Some("gwei")),
    info("averageBaseFee", "Average base fee", "Average base fee of a block", Some("gwei")),
    info("highestBaseFee", "Highest base fee", "The highest base fee of a block", Some("gwei")),
    info("burntFees", "Burnt fees", "Base fees that were burnt, in coins of 18 decimals", None),
    info("priorityFees", "Priority fees", "Priority fees of transactions, in coins of 18 decimals", None),
    info("blobGasUsed", "Blob gas", "Blob gas of the period", None),
];

/// The counters, in the order of the answer.
pub const COUNTERS: [Info; 6] = [
    info("totalBlocks", "Total blocks", "Blocks of the chain", None),
    info("totalTxns", "Total transactions", "Transactions of the chain", None),
    info("averageBlockTime", "Average block time", "Average block time over the last 100 blocks", Some("s")),
    info("newTxns24h", "Transactions in 24 hours", "Transactions in the 24 hours before the newest block", None),
    info("txnsFee24h", "Fees in 24 hours", "Fees that these transactions paid for gas, in coins of 18 decimals", None),
    info(
        "averageTxnFee24h",
        "Average fee in 24 hours",
        "Average fee that one of these transactions paid for gas, in coins of 18 decimals",
        None,
    ),
];

/// The chart with an id.
#[must_use]
pub fn chart(id: &str) -> Option<&'static Info> {
    OF_BLOCKS.iter().chain(OF_TRANSACTIONS).chain(OF_FEES).find(|chart| chart.id == id)
}

/// The values of a period.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Point {
    /// Its first day, in days since 1970.
    pub first: u64,
    /// Its last day.
    pub last: u64,
    /// The value in decimal digits, in the unit of the chart.
    pub value: String,
    /// Whether the period is not over.
    pub is_approximate: bool,
}

impl Info {
    fn write_members(&self, object: &mut Object<'_>) {
        object.key("id").string(self.id);
        object.key("title").string(self.title);
        object.key("description").string(self.description);
        if let Some(units) = self.units {
            object.key("units").string(units);
        }
    }

    fn write_chart(&self, writer: &mut JsonWriter) {
        writer.object(|chart| {
            self.write_members(chart);
            chart.key("resolutions").array(|names| Period::NAMES.iter().for_each(|name| names.item().string(name)));
        });
    }

    fn write_counter(&self, writer: &mut JsonWriter, value: &str) {
        writer.object(|counter| {
            self.write_members(counter);
            counter.key("value").string(value);
        });
    }
}

fn write_points(array: &mut Array<'_>, points: &[Point]) {
    for point in points {
        array.item().object(|item| {
            item.key("date").string(&date(point.first));
            item.key("date_to").string(&date(point.last));
            item.key("value").string(&point.value);
            item.key("is_approximate").bool(point.is_approximate);
        });
    }
}

fn write_line_members(object: &mut Object<'_>, chart: &Info, points: &[Point]) {
    object.key("chart").array(|array| write_points(array, points));
    chart.write_chart(object.key("info"));
}

/// A chart with its values.
#[must_use]
pub fn write_line(chart: &Info, points: &[Point]) -> Vec<u8> {
    let mut writer = JsonWriter::new();
    writer.object(|line| write_line_members(line, chart, points));
    writer.into_bytes()
}

/// What charts there are.
#[must_use]
pub fn write_lines() -> Vec<u8> {
    let mut writer = JsonWriter::new();
    writer.object(|lines| {
        lines.key("sections").array(|sections| {
            for (id, title, charts) in [
                ("blocks", "Blocks", OF_BLOCKS),
                ("transactions", "Transactions", OF_TRANSACTIONS),
                ("fees", "Fees", OF_FEES),
            ] {
                sections.item().object(|section| {
                    section.key("id").string(id);
                    section.key("title").string(title);
                    section
                        .key("charts")
                        .array(|array| charts.iter().for_each(|chart| chart.write_chart(array.item())));
                });
            }
        });
    });
    writer.into_bytes()
}

/// An amount in coins of 18 decimals.
#[must_use]
pub fn coins(wei: U256) -> String {
    let text = alloy_primitives::utils::format_ether(wei);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The values of [`COUNTERS`]; `None` is what is not known.
pub type Counters = [Option<String>; 6];

/// The counters that are known.
#[must_use]
pub fn write_counters(values: &Counters) -> Vec<u8> {
    let mut writer = JsonWriter::new();
    writer.object(|counters| {
        counters.key("counters").array(|array| {
            for (info, value) in COUNTERS.iter().zip(values) {
                if let Some(value) = value {
                    info.write_counter(array.item(), value);
                }
            }
        });
    });
    writer.into_bytes()
}

/// Those of some counters that are known, by the names that a page has for them: proto3 leaves the others out.
fn write_named(object: &mut Object<'_>, values: &Counters, names: &[(&str, usize)]) {
    for (name, at) in names {
        if let Some((info, value)) = COUNTERS.get(*at).zip(values.get(*at).and_then(Option::as_deref)) {
            info.write_counter(object.key(name), value);
        }
    }
}

/// The figures of the first page, with the transactions of days.
#[must_use]
pub fn write_main_page(values: &Counters, new_transactions: &[Point]) -> Vec<u8> {
    let names = [("average_block_time", 2), ("total_blocks", 0), ("total_transactions", 1), ("transactions_24h", 3)];
    let mut writer = JsonWriter::new();
    writer.object(|page| {
        write_named(page, values, &names);
        page.key("daily_new_transactions")
            .object(|line| write_line_members(line, &OF_TRANSACTIONS[0], new_transactions));
    });
    writer.into_bytes()
}

/// The figures of the page of transactions.
#[must_use]
pub fn write_transactions_page(values: &Counters) -> Vec<u8> {
    let names = [
        ("transactions_fee_24h", 4),
        ("average_transactions_fee_24h", 5),
        ("transactions_24h", 3),
        ("total_transactions", 1),
    ];
    let mut writer = JsonWriter::new();
    writer.object(|page| write_named(page, values, &names));
    writer.into_bytes()
}

/// The contracts that have an ABI.
const VERIFIED_CONTRACTS: Info =
    info("totalVerifiedContracts", "Total verified contracts", "Contracts whose ABI is loaded", None);

/// The figures of the page of contracts: of contracts with an ABI there are `verified`, and others are not counted.
#[must_use]
pub fn write_contracts_page(verified: u64) -> Vec<u8> {
    let mut writer = JsonWriter::new();
    writer.object(|page| {
        VERIFIED_CONTRACTS.write_counter(page.key("total_verified_contracts"), &verified.to_string());
    });
    writer.into_bytes()
}
