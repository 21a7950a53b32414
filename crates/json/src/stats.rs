//! Figures about the chain (docs/reference/http-contract.md#figures).

pub mod chain_facts;
pub mod charts;
pub mod indexing_status;

use super::{JsonWriter, Object};
use crate::tokens::prices::{Decimal, TokenPrice};
use trawl_core::calendar::date;
use trawl_core::primitives::{Timestamp, U256};

/// Figures about the chain; `None` is what is not known.
#[derive(Debug, Clone, Default)]
pub struct Stats {
    /// Blocks of the chain.
    pub blocks: Option<u64>,
    /// Transactions in them.
    pub transactions: Option<u64>,
    /// Gas they used.
    pub gas_used: Option<U256>,
    /// Milliseconds from block to block.
    pub block_time: Option<f64>,
    /// Transactions on the day of the newest block.
    pub transactions_today: Option<u64>,
    /// Gas used on that day.
    pub gas_used_today: Option<U256>,
    /// What was paid for gas: slow, average, fast.
    pub gas_prices: Option<[PaidGasPrice; 3]>,
    /// The time of the newest block.
    pub updated_at: Option<Timestamp>,
    /// Milliseconds until the next block is due.
    pub update_in: Option<u64>,
    /// Gas used of the gas that could be, in percent.
    pub utilization: Option<f64>,
    /// The price of the chain's coin.
    pub coin: Option<TokenPrice>,
}

/// What a transaction paid for gas.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PaidGasPrice {
    /// Wei for each gas.
    pub wei: U256,
    /// Wei of them that were the base fee of its block; `None` where the block has none, or it is not known.
    pub base_fee: Option<U256>,
}

/// How gas prices are written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum GasPriceForm {
    /// Each price is a number of gwei.
    #[default]
    Numbers,
    /// Each price is an object with the base fee and the rest.
    Objects,
}

/// Members of which the tables say nothing.
const UNKNOWN: [&str; 6] = [
    "total_addresses",
    "coin_price_change_percentage",
    "static_gas_price",
    "tvl",
    "secondary_coin_image",
    "secondary_coin_price",
];

impl Stats {
    /// The figures as JSON text.
    #[must_use]
    pub fn write(&self, form: GasPriceForm) -> Vec<u8> {
        let coin = |read: fn(&TokenPrice) -> &Option<Decimal>| self.coin.as_ref().and_then(|coin| read(coin).as_ref());
        let image = self.coin.as_ref().and_then(|coin| coin.icon_url.as_deref());
        let market_cap = self.coin.as_ref().and_then(|coin| coin.market_cap(None, None));
        let mut writer = JsonWriter::new();
        writer.object(|stats| {
            stats.key("total_blocks").option(self.blocks, JsonWriter::decimal);
            stats.key("total_transactions").option(self.transactions, JsonWriter::decimal);
            stats.key("total_gas_used").option(self.gas_used, JsonWriter::decimal_256);
            stats.key("average_block_time").option(self.block_time, JsonWriter::float);
            stats.key("transactions_today").option(self.transactions_today, JsonWriter::decimal);
            stats.key("gas_used_today").option(self.gas_used_today, JsonWriter::decimal_256);
            stats.key("gas_prices").option(self.gas_prices, |writer, prices| {
                writer.object(|object| {
                    for (name, price) in SPEEDS.into_iter().zip(prices) {
                        price.write(object.key(name), form);
                    }
                });
            });
            stats.key("gas_price_updated_at").option(self.updated_at, JsonWriter::timestamp);
            stats.key("gas_prices_update_in").option(self.update_in, JsonWriter::number);
            stats.key("network_utilization_percentage").option(self.utilization, JsonWriter::float);
            let price = coin(|coin| &coin.exchange_rate).map(Decimal::text);
            stats.key("coin_price").option(price, JsonWriter::string);
            stats.key("coin_image").option(image, JsonWriter::string);
            stats.key("market_cap").option(market_cap.as_deref(), JsonWriter::string);
            UNKNOWN.iter().for_each(|name| stats.key(name).null());
        });
        writer.into_bytes()
    }
}

/// How soon a transaction is in a block.
const SPEEDS: [&str; 3] = ["slow", "average", "fast"];

/// What was paid for gas in gwei, by itself; `None` is not known.
#[must_use]
pub fn write_gas_prices(prices: Option<[PaidGasPrice; 3]>) -> Vec<u8> {
    let mut writer = JsonWriter::new();
    writer.object(|object| {
        let prices = prices.map_or([None; 3], |prices| prices.map(Some));
        for (name, price) in SPEEDS.into_iter().zip(prices) {
            object.key(name).option(price, |writer, price| price.write(writer, GasPriceForm::Numbers));
        }
    });
    writer.into_bytes()
}

/// Wei in gwei.
fn gwei(wei: U256) -> f64 {
    f64::from(wei) / 1e9
}

impl PaidGasPrice {
    /// Wei above the base fee.
    fn priority_fee(&self) -> Option<U256> {
        self.wei.checked_sub(self.base_fee?)
    }

    /// In objects, how long a transaction waits for such a price and what it costs in money are not known.
    fn write(&self, writer: &mut JsonWriter, form: GasPriceForm) {
        match form {
            GasPriceForm::Numbers => writer.float(gwei(self.wei)),
            GasPriceForm::Objects => writer.object(|price| {
                price.key("price").float(gwei(self.wei));
                price.key("base_fee").option(self.base_fee.map(gwei), JsonWriter::float);
                price.key("priority_fee").option(self.priority_fee().map(gwei), JsonWriter::float);
                price.key("wei").decimal_256(self.wei);
                price.key("priority_fee_wei").option(self.priority_fee(), JsonWriter::decimal_256);
                price.key("time").null();
                price.key("fiat_price").null();
            }),
        }
    }
}

/// The transactions of each day.
#[must_use]
pub fn write_transactions_chart(days: impl IntoIterator<Item = (u64, Option<u64>)>) -> Vec<u8> {
    let mut writer = JsonWriter::new();
    writer.object(|chart| {
        chart.key("chart_data").array(|items| {
            for (day, count) in days {
                items.item().object(|item| {
                    item.key("date").string(&date(day));
                    item.key("transactions_count").option(count, JsonWriter::number);
                });
            }
        });
    });
    writer.into_bytes()
}

/// The price of the coin on the day it was stated for.
#[must_use]
pub fn write_market_chart(coin: Option<&TokenPrice>, day: Option<u64>) -> Vec<u8> {
    let decimal = |value: &Option<Decimal>| value.as_ref().map(|value| value.text().to_owned());
    let price = coin.and_then(|coin| decimal(&coin.exchange_rate));
    let market_cap = coin.and_then(|coin| coin.market_cap(None, None));
    let supply = coin.and_then(|coin| decimal(&coin.circulating_supply));
    let text = |object: &mut Object<'_>, name: &str, value: Option<&str>| {
        object.key(name).option(value, JsonWriter::string);
    };
    let mut writer = JsonWriter::new();
    writer.object(|chart| {
        text(chart, "available_supply", supply.as_deref());
        chart.key("chart_data").array(|items| {
            if let (Some(price), Some(day)) = (&price, day) {
                items.item().object(|item| {
                    text(item, "date", Some(&date(day)));
                    text(item, "closing_price", Some(price));
                    text(item, "market_cap", market_cap.as_deref());
                });
            }
        });
    });
    writer.into_bytes()
}

/// The transactions of 24 hours and what they paid; `None` is what is not known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LastDay {
    /// Number of transactions.
    pub transactions: Option<u64>,
    /// Wei that they paid for gas.
    pub fees: Option<U256>,
}

impl LastDay {
    /// Wei that a transaction paid for gas on average; `None` also without transactions.
    #[must_use]
    pub fn average_fee(&self) -> Option<U256> {
        self.fees?.checked_div(U256::from(self.transactions?))
    }

    /// The figures as JSON text.
    #[must_use]
    pub fn write(&self) -> Vec<u8> {
        let mut writer = JsonWriter::new();
        writer.object(|stats| {
            stats.key("transactions_count_24h").option(self.transactions, JsonWriter::decimal);
            stats.key("transaction_fees_sum_24h").option(self.fees, JsonWriter::decimal_256);
            stats.key("transaction_fees_avg_24h").option(self.average_fee(), JsonWriter::decimal_256);
            // No transactions but those of blocks are known.
            stats.key("pending_transactions_count").string("0");
        });
        writer.into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn gas_prices_are_numbers_or_objects() {
        let price =
            |wei: u64, base_fee: Option<u64>| PaidGasPrice { wei: U256::from(wei), base_fee: base_fee.map(U256::from) };
        let gas_prices =
            Some([price(7_000_000_000, None), price(1_500_000_000, Some(1_000_000_000)), price(5, Some(6))]);
        let stats = Stats { gas_prices, update_in: Some(250), ..Stats::default() };
        let written = |form| serde_json::from_slice::<Value>(&stats.write(form)).expect("valid JSON");
        let numbers = written(GasPriceForm::Numbers);
        assert_eq!(numbers["gas_prices"], json!({"slow": 7.0, "average": 1.5, "fast": 5e-9}));
        assert_eq!(numbers["gas_prices_update_in"], 250);
        let alone = |prices| serde_json::from_slice::<Value>(&write_gas_prices(prices)).expect("valid JSON");
        assert_eq!(alone(gas_prices), numbers["gas_prices"]);
        assert_eq!(alone(None), json!({"slow": null, "average": null, "fast": null}));
        let objects = &written(GasPriceForm::Objects)["gas_prices"];
        let expected = json!({
            "price": 1.5, "base_fee": 1.0, "priority_fee": 0.5, "wei": "1500000000", "priority_fee_wei": "500000000",
            "time": null, "fiat_price": null,
        });
        assert_eq!(objects["average"], expected);
        let unknown = |of: &str| (objects[of]["priority_fee"].is_null(), objects[of]["priority_fee_wei"].is_null());
        assert_eq!((unknown("slow"), &objects["slow"]["base_fee"]), ((true, true), &Value::Null), "no base fee");
        assert_eq!(unknown("fast"), (true, true), "the protocol's transactions pay less than the base fee");
    }
}
