//! Figures of days, of the Etherscan-compatible interface.

use super::super::JsonWriter;
use trawl_core::calendar::date;

/// Seconds of a day.
const DAY: u64 = 86_400;

/// A figure of a day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Figure {
    /// A number, and its name.
    Number(&'static str, u64),
    /// A number as text, and its name.
    Text(&'static str, String),
}

/// Writes the figures of a day, in days since 1970.
pub fn write_day(writer: &mut JsonWriter, day: u64, figures: &[Figure]) {
    writer.object(|item| {
        item.key("UTCDate").string(&date(day));
        item.key("unixTimeStamp").decimal(day * DAY);
        for figure in figures {
            match figure {
                Figure::Number(name, number) => item.key(name).number(*number),
                Figure::Text(name, text) => item.key(name).string(text),
            }
        }
    });
}

/// A number with three digits after the point, and commas between its thousands.
#[must_use]
pub fn grouped_thousands(number: f64) -> String {
    let text = format!("{number:.3}");
    let (whole, rest) = text.split_once('.').unwrap_or((&text, "000"));
    let mut grouped = String::new();
    for (position, digit) in whole.chars().enumerate() {
        if position > 0 && (whole.len() - position) % 3 == 0 {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    format!("{grouped}.{rest}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_as_etherscan_prints_them() {
        for (number, text) in
            [(0.0, "0.000"), (999.9994, "999.999"), (2_408.028, "2,408.028"), (1e9, "1,000,000,000.000")]
        {
            assert_eq!(grouped_thousands(number), text);
        }
    }
}
