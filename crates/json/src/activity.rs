//! What the logs, transfers or transactions of an address add up to, by periods of the calendar
//! (docs/reference/http-contract.md#activity).

use super::address::Addresses;
use super::dates::{Period, date};
use super::token_transfers::Tokens;
use super::{JsonWriter, Object};
use trawl_core::primitives::{Address, B256, BlockNumber, U256};

/// A period of the calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stretch {
    /// Its first day, in days since 1970.
    pub first: u64,
    /// Its last day.
    pub last: u64,
    /// Whether it is over, and all its blocks are loaded and asked for.
    pub is_complete: bool,
}

impl Stretch {
    fn write(&self, point: &mut Object<'_>) {
        point.key("date").string(&date(self.first));
        point.key("date_to").string(&date(self.last));
        point.key("is_complete").bool(self.is_complete);
    }
}

/// What stands in a point behind its period.
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
    /// How many they are.
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
    /// How many they are.
    pub transfers: u64,
    /// Those from the zero address.
    pub mints: u64,
    /// Those to the zero address.
    pub burns: u64,
    /// What they moved in the smallest unit; none if one of them has no amount, or the sum does not fit 256 bits.
    pub amount: Option<U256>,
}

impl Sums for Transfers {
    fn write(&self, point: &mut Object<'_>) {
        point.key("transfers_count").number(self.transfers);
        point.key("mints_count").number(self.mints);
        point.key("burns_count").number(self.burns);
        point.key("amount").option(self.amount, JsonWriter::decimal_256);
    }
}

/// Transactions that called a method.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Methods {
    /// The first four bytes of their input; none for shorter ones.
    pub selector: Option<[u8; 4]>,
    /// The function, if it is known.
    pub signature: Option<String>,
    /// How many they are.
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
    /// How many they are.
    pub transactions: u64,
    /// Those that failed; none if that is not known of one.
    pub failed: Option<u64>,
    /// Gas that they used, and wei that they paid for it; none if that is not known of one.
    pub gas: Option<(U256, U256)>,
    /// The same of those that failed.
    pub failed_gas: Option<(U256, U256)>,
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
        point.key("senders_count").number(self.senders);
        point.key("new_senders_count").option(self.new_senders, JsonWriter::number);
    }
}

/// The points of a chart.
#[must_use]
pub fn write_points<S: Sums>(period: Period, points: &[(Stretch, S)]) -> Vec<u8> {
    let mut writer = JsonWriter::new();
    writer.object(|chart| write_chart(chart, period, points));
    writer.into_bytes()
}

/// The points of a chart, and the last block that they are sums of; none where there is no such block.
#[must_use]
pub fn write_points_up_to<S: Sums>(period: Period, points: &[(Stretch, S)], last: Option<BlockNumber>) -> Vec<u8> {
    let mut writer = JsonWriter::new();
    writer.object(|chart| {
        write_chart(chart, period, points);
        chart.key("block_number").option(last, JsonWriter::number);
    });
    writer.into_bytes()
}

fn write_chart<S: Sums>(chart: &mut Object<'_>, period: Period, points: &[(Stretch, S)]) {
    chart.key("items").array(|items| {
        for (stretch, sums) in points {
            items.item().object(|point| {
                stretch.write(point);
                sums.write(point);
            });
        }
    });
    chart.key("resolution").string(period.name());
}

/// What an address received from another and sent to it, of one token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flow {
    /// The other address.
    pub counterparty: Address,
    /// The token.
    pub token: Address,
    /// ERC-20, ERC-721 or ERC-1155.
    pub token_type: String,
    /// How many transfers were received and sent.
    pub transfers: [u64; 2],
    /// What they moved in the smallest unit; none if the sum does not fit 256 bits.
    pub amounts: [Option<U256>; 2],
}

impl Flow {
    fn write(&self, item: &mut Object<'_>, addresses: &Addresses, tokens: &Tokens) {
        let ([received, sent], [received_amount, sent_amount]) = (self.transfers, self.amounts);
        addresses.write(item.key("address"), &self.counterparty);
        tokens.write(item.key("token"), &self.token, &self.token_type);
        item.key("token_type").string(&self.token_type);
        item.key("received_count").number(received);
        item.key("received_amount").option(received_amount, JsonWriter::decimal_256);
        item.key("sent_count").number(sent);
        item.key("sent_amount").option(sent_amount, JsonWriter::decimal_256);
    }
}

/// The greatest flows of an address, how many there are in all, and whether that is of all blocks asked for.
#[must_use]
pub fn write_flows(
    flows: &[Flow],
    (all, is_complete): (usize, bool),
    addresses: &Addresses,
    tokens: &Tokens,
) -> Vec<u8> {
    let mut writer = JsonWriter::new();
    writer.object(|answer| {
        answer.key("items").array(|items| {
            flows.iter().for_each(|flow| items.item().object(|item| flow.write(item, addresses, tokens)));
        });
        answer.key("items_in_all").number(all as u64);
        answer.key("is_complete").bool(is_complete);
    });
    writer.into_bytes()
}
