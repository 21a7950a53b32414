//! Sums of the logs, transfers or transactions of an address, by periods of the calendar
//! (docs/reference/http-contract.md#activity).

use super::{JsonWriter, Object};
use trawl_core::calendar::{Period, date};
use trawl_core::primitives::{B256, BlockNumber, U256};

pub mod failures;
pub mod flows;

/// A period of the calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CalendarPeriod {
    /// Its first day, in days since 1970.
    pub first: u64,
    /// Its last day.
    pub last: u64,
    /// Whether it is over, and all its blocks are loaded and within the requested range.
    pub is_complete: bool,
}

impl CalendarPeriod {
    fn write(&self, point: &mut Object<'_>) {
        point.key("date").string(&date(self.first));
        point.key("date_to").string(&date(self.last));
        point.key("is_complete").bool(self.is_complete);
    }
}

/// Days that follow one another, by their numbers since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DayRange {
    /// The first of them.
    pub first: u64,
    /// The last of them.
    pub last: u64,
}

/// The members of a point after its period.
pub trait Sums {
    /// Writes the members.
    fn write(&self, point: &mut Object<'_>);
}

/// Logs of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Events {
    /// Their first topic; none for anonymous ones.
    pub topic0: Option<B256>,
    /// The event, if it is known.
    pub signature: Option<String>,
    /// Number of these logs.
    pub logs: u64,
}

impl Sums for Events {
    fn write(&self, point: &mut Object<'_>) {
        point.key("topic0").option(self.topic0.as_ref(), |writer, hash| writer.hex(hash.as_slice()));
        point.key("signature").option(self.signature.as_deref(), JsonWriter::string);
        point.key("logs_count").number(self.logs);
    }
}

/// Transfers of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transfers {
    /// Number of these transfers.
    pub transfers: u64,
    /// Those from the zero address.
    pub mints: u64,
    /// Those to the zero address.
    pub burns: u64,
    /// Their sum in the smallest unit; none if one of them has no amount, or the sum does not fit 256 bits.
    pub amount: Option<U256>,
    /// Distinct senders, without the zero address; none while the period has blocks that can still change.
    pub senders: Option<u64>,
    /// Distinct recipients, without the zero address; none while the period has blocks that can still change.
    pub receivers: Option<u64>,
}

impl Sums for Transfers {
    fn write(&self, point: &mut Object<'_>) {
        point.key("transfers_count").number(self.transfers);
        point.key("mints_count").number(self.mints);
        point.key("burns_count").number(self.burns);
        point.key("amount").option(self.amount, JsonWriter::decimal_256);
        point.key("senders_count").option(self.senders, JsonWriter::number);
        point.key("receivers_count").option(self.receivers, JsonWriter::number);
    }
}

/// Transactions that called a method.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Methods {
    /// The first four bytes of their input; none for shorter ones.
    pub selector: Option<[u8; 4]>,
    /// The function, if it is known.
    pub signature: Option<String>,
    /// Number of these transactions.
    pub transactions: u64,
    /// Those that failed; none if that is not known of one.
    pub failed: Option<u64>,
    /// Gas that they used, and wei that they paid for it; none if that is not known of one.
    pub gas: Option<(U256, U256)>,
}

impl Sums for Methods {
    fn write(&self, point: &mut Object<'_>) {
        point.key("method_id").option(self.selector, |writer, selector| writer.hex(&selector));
        point.key("signature").option(self.signature.as_deref(), JsonWriter::string);
        point.key("transactions_count").number(self.transactions);
        point.key("failed_count").option(self.failed, JsonWriter::number);
        point.key("gas_used").option(self.gas.map(|gas| gas.0), JsonWriter::decimal_256);
        point.key("fees").option(self.gas.map(|gas| gas.1), JsonWriter::decimal_256);
    }
}

/// Transactions of the chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transactions {
    /// Number of these transactions.
    pub transactions: u64,
    /// Those that failed; none if that is not known of one.
    pub failed: Option<u64>,
    /// Gas that they used, and wei that they paid for it; none if that is not known of one.
    pub gas: Option<(U256, U256)>,
    /// The same of those that failed.
    pub failed_gas: Option<(U256, U256)>,
    /// Wei for each gas that a tenth, half and nine tenths of them paid at most, to 1 %; none if that is not known of
    /// one.
    pub prices: Option<[U256; 3]>,
    /// Accounts that sent one.
    pub senders: u64,
    /// Those that sent their first one; none if a nonce is not known.
    pub new_senders: Option<u64>,
}

impl Sums for Transactions {
    fn write(&self, point: &mut Object<'_>) {
        point.key("transactions_count").number(self.transactions);
        point.key("failed_count").option(self.failed, JsonWriter::number);
        point.key("gas_used").option(self.gas.map(|gas| gas.0), JsonWriter::decimal_256);
        point.key("fees").option(self.gas.map(|gas| gas.1), JsonWriter::decimal_256);
        point.key("failed_gas_used").option(self.failed_gas.map(|gas| gas.0), JsonWriter::decimal_256);
        point.key("failed_fees").option(self.failed_gas.map(|gas| gas.1), JsonWriter::decimal_256);
        for (key, at) in [("gas_price_p10", 0), ("gas_price_p50", 1), ("gas_price_p90", 2)] {
            point.key(key).option(self.prices.map(|prices| prices[at]), JsonWriter::decimal_256);
        }
        point.key("senders_count").number(self.senders);
        point.key("new_senders_count").option(self.new_senders, JsonWriter::number);
    }
}

/// The points of a chart; `loaded` are the days on which nothing happened where there is no point.
#[must_use]
pub fn write_points<S: Sums>(period: Period, points: &[(CalendarPeriod, S)], loaded: &[DayRange]) -> Vec<u8> {
    let mut writer = JsonWriter::new();
    writer.object(|chart| write_chart(chart, period, points, loaded));
    writer.into_bytes()
}

/// The points of a chart, and the last block that they are sums of; none where there is no such block.
#[must_use]
pub fn write_points_up_to<S: Sums>(
    period: Period,
    points: &[(CalendarPeriod, S)],
    loaded: &[DayRange],
    last: Option<BlockNumber>,
) -> Vec<u8> {
    let mut writer = JsonWriter::new();
    writer.object(|chart| {
        write_chart(chart, period, points, loaded);
        chart.key("block_number").option(last, JsonWriter::number);
    });
    writer.into_bytes()
}

fn write_chart<S: Sums>(chart: &mut Object<'_>, period: Period, points: &[(CalendarPeriod, S)], loaded: &[DayRange]) {
    chart.key("items").array(|items| {
        for (stretch, sums) in points {
            items.item().object(|point| {
                stretch.write(point);
                sums.write(point);
            });
        }
    });
    chart.key("loaded").array(|ranges| {
        for days in loaded {
            ranges.item().object(|range| {
                range.key("date").string(&date(days.first));
                range.key("date_to").string(&date(days.last));
            });
        }
    });
    chart.key("resolution").string(period.name());
}
