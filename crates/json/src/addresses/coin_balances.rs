//! The balances of an account over time (docs/reference/http-contract.md#coin-balances).

use crate::JsonWriter;
use trawl_core::calendar::date;
use trawl_core::primitives::{BlockNumber, Timestamp, U256};

/// A balance after a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CoinBalance {
    /// Height of the block that changed it.
    pub block: BlockNumber,
    /// Its time; `None` if it is not known.
    pub time: Option<Timestamp>,
    /// Wei before it.
    pub before: U256,
    /// Wei after it.
    pub value: U256,
}

impl CoinBalance {
    /// Writes the balance and by how much it differs from the one before.
    pub fn write(&self, writer: &mut JsonWriter) {
        writer.object(|item| {
            item.key("block_number").number(self.block);
            item.key("block_timestamp").option(self.time, JsonWriter::timestamp);
            write_difference(item.key("delta"), self.before, self.value);
            // Rows are per block: which of its transactions changed the balance is not among them.
            item.key("transaction_hash").null();
            item.key("value").decimal_256(self.value);
        });
    }
}

/// Writes what is added to one amount to give another, as text of decimal digits, perhaps with a minus sign.
pub fn write_difference(writer: &mut JsonWriter, before: U256, after: U256) {
    match after.checked_sub(before) {
        Some(more) => writer.decimal_256(more),
        None => writer.string(&format!("-{}", before - after)),
    }
}

/// Writes balances at the ends of days, given by days since 1970.
pub fn write_days(days: u64, ends: &[(u64, U256)]) -> Vec<u8> {
    let mut writer = JsonWriter::new();
    writer.object(|answer| {
        answer.key("days").number(days);
        answer.key("items").array(|items| {
            for (day, value) in ends {
                items.item().object(|item| {
                    item.key("date").string(&date(*day));
                    item.key("value").decimal_256(*value);
                });
            }
        });
    });
    writer.into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_have_a_sign() {
        let written = |before: U256, after: U256| {
            let mut writer = JsonWriter::new();
            write_difference(&mut writer, before, after);
            String::from_utf8(writer.into_bytes()).expect("text")
        };
        assert_eq!(written(U256::from(5), U256::from(7)), "\"2\"");
        assert_eq!(written(U256::from(7), U256::from(5)), "\"-2\"");
        assert_eq!(written(U256::MAX, U256::ZERO), format!("\"-{}\"", U256::MAX));
        assert_eq!(written(U256::ZERO, U256::ZERO), "\"0\"");
    }
}
