//! Lines of CSV as RFC 4180 has them.

use super::write_cell;
use crate::JsonWriter;
use trawl_core::primitives::{Address, U256};

/// A line of CSV.
pub(super) struct Line<'w> {
    writer: &'w mut JsonWriter,
    is_first: bool,
}

impl<'w> Line<'w> {
    pub fn new(writer: &'w mut JsonWriter) -> Self {
        Self { writer, is_first: true }
    }

    fn cell(&mut self) -> &mut JsonWriter {
        if !std::mem::replace(&mut self.is_first, false) {
            self.writer.raw(",");
        }
        self.writer
    }

    pub fn text(&mut self, text: &str) {
        write_cell(self.cell(), text);
    }

    pub fn number(&mut self, number: impl Into<Option<u64>>) {
        let number: Option<u64> = number.into();
        self.text(&number.map(|number| number.to_string()).unwrap_or_default());
    }

    pub fn wide(&mut self, number: Option<U256>) {
        self.text(&number.map(|number| number.to_string()).unwrap_or_default());
    }

    pub fn hex(&mut self, bytes: &[u8]) {
        self.cell().bare_hex(bytes);
    }

    pub fn address(&mut self, address: impl Into<Option<Address>>) {
        let address: Option<Address> = address.into();
        self.text(&address.map(|address| address.to_checksum(None)).unwrap_or_default());
    }

    /// Writes a time of Unix microseconds as `2024-02-17 08:49:36.000000Z`.
    pub fn time(&mut self, micros: i64) {
        let time = jiff::Timestamp::from_microsecond(micros).ok();
        self.text(&time.map(|time| time.strftime("%Y-%m-%d %H:%M:%S.%6fZ").to_string()).unwrap_or_default());
    }

    /// Writes a time of Unix microseconds as spreadsheets read it, `2024-02-17 08:49:36` in UTC.
    pub fn date(&mut self, micros: i64) {
        let time = jiff::Timestamp::from_microsecond(micros).ok();
        self.text(&time.map(|time| time.strftime("%Y-%m-%d %H:%M:%S").to_string()).unwrap_or_default());
    }

    /// On which side an address is.
    pub fn side(&mut self, address: &Address, from: Address, to: Option<Address>) {
        self.text(if *address == from {
            "OUT"
        } else if Some(*address) == to {
            "IN"
        } else {
            ""
        });
    }

    /// Whether something failed.
    pub fn outcome(&mut self, has_failed: Option<bool>) {
        self.text(has_failed.map_or("", |has_failed| if has_failed { "error" } else { "ok" }));
    }

    /// Writes text that others chose, so that no spreadsheet takes it for a formula (CWE-1236).
    pub fn literal(&mut self, text: &str) {
        match text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠']) {
            true => self.text(&format!("'{text}")),
            false => self.text(text),
        }
    }

    pub fn end(self) {
        self.writer.raw("\r\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_those_of_rfc_4180() {
        let mut writer = JsonWriter::new();
        let mut line = Line::new(&mut writer);
        line.number(7);
        line.number(None::<u64>);
        line.time(1_708_159_776_000_000);
        line.text("a, \"b\"");
        line.hex(&[0xab]);
        line.wide(None);
        line.literal("=1+1");
        line.end();
        let text = String::from_utf8(writer.into_bytes()).expect("text");
        assert_eq!(text, "7,,2024-02-17 08:49:36.000000Z,\"a, \"\"b\"\"\",0xab,,'=1+1\r\n");
    }
}
