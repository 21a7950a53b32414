//! Rows of wide scans: the fields of each kind, declared once for all formats, and their JSON and CSV.
//!
//! JSON names and spells values as the Ethereum JSON-RPC specification does; CSV has the names of the tables.

use super::JsonWriter;
use trawl_core::primitives::{Address, B256, Timestamp, U256};
use trawl_core::schema::Columns;

pub mod accounting;
mod csv_line;
pub mod exports;
pub mod holders;
mod internal_transactions;
pub mod movements;
mod token_transfers;
mod transactions;

/// Type of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// An integer of up to 64 bits.
    Number,
    /// An integer of up to 256 bits.
    Wide,
    /// 20 bytes, an account or a contract.
    Address,
    /// 32 bytes, a hash or a topic.
    Word,
    /// Any number of bytes.
    Bytes,
    /// Text in UTF-8.
    Text,
    /// A moment in microseconds of Unix time.
    Time,
    /// Yes or no.
    Flag,
}

/// A value of a row: of the kind of its field, or null.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value<'a> {
    /// Absent or unknown.
    Null,
    /// An integer of up to 64 bits.
    Number(u64),
    /// A large integer.
    Wide(U256),
    /// 20 bytes, an account or a contract.
    Address(Address),
    /// 32 bytes, a hash or a topic.
    Word(B256),
    /// Any number of bytes, borrowed from the row.
    Bytes(&'a [u8]),
    /// Text in UTF-8, borrowed from the row.
    Text(&'a str),
    /// A moment in microseconds of Unix time.
    Time(Timestamp),
    /// Yes or no.
    Flag(bool),
}

impl<'a> Value<'a> {
    /// The value, or null.
    fn of<T>(value: Option<T>, wrap: impl FnOnce(T) -> Self) -> Self {
        value.map_or(Self::Null, wrap)
    }

    /// Empty text is null.
    fn non_empty(text: &'a str) -> Self {
        if text.is_empty() { Self::Null } else { Self::Text(text) }
    }
}

/// A member of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    /// Its name in JSON.
    pub name: &'static str,
    /// Its column name in tabular formats.
    pub column: &'static str,
    /// Type of its values, where they are not null.
    pub kind: Kind,
    /// What its numbers count, where that is not in the name.
    pub unit: Option<&'static str>,
}

const fn field(name: &'static str, column: &'static str, kind: Kind) -> Field {
    Field { name, column, kind, unit: None }
}

impl Field {
    /// The same with a unit.
    const fn in_unit(self, unit: &'static str) -> Self {
        Self { unit: Some(unit), ..self }
    }
}

/// Rows that scans show.
pub trait ScanRow: Columns {
    /// The fields, in order.
    const FIELDS: &'static [Field];

    /// The hash of the block of a row, if the row has it.
    fn block_hash(rows: &Self::View<'_>, row: usize) -> Option<B256>;
    /// Passes the values of a row to `put`: one for each field, in order. `block_hash` is that of its block.
    fn values<'a>(rows: &Self::View<'a>, row: usize, block_hash: B256, put: &mut dyn FnMut(Value<'a>));
}

/// A row as an object.
pub fn write_item<R: ScanRow>(writer: &mut JsonWriter, rows: &R::View<'_>, row: usize, block_hash: B256) {
    writer.object(|item| {
        let mut fields = R::FIELDS.iter();
        R::values(rows, row, block_hash, &mut |value| {
            if let Some(field) = fields.next() {
                write_json(item.key(field.name), value);
            }
        });
    });
}

fn write_json(writer: &mut JsonWriter, value: Value<'_>) {
    match value {
        Value::Null => writer.null(),
        Value::Number(number) => writer.quantity(number),
        Value::Wide(number) => writer.quantity_256(number),
        Value::Address(address) => writer.hex(address.as_slice()),
        Value::Word(word) => writer.hex(word.as_slice()),
        Value::Bytes(bytes) => writer.hex(bytes),
        Value::Text(text) => writer.string(text),
        Value::Time(time) => writer.quantity(time.seconds()),
        Value::Flag(flag) => writer.bool(flag),
    }
}

/// The names of the columns that [`write_csv`] writes, as a line.
#[must_use]
pub fn csv_header<R: ScanRow>() -> String {
    let names: Vec<&str> = R::FIELDS.iter().map(|field| field.column).collect();
    format!("{}\n", names.join(","))
}

/// A row as a line of CSV: numbers in decimal digits, seconds since 1970, bytes in hexadecimal digits, `true` or
/// `false`; null is empty.
pub fn write_csv<R: ScanRow>(writer: &mut JsonWriter, rows: &R::View<'_>, row: usize, block_hash: B256) {
    let mut is_first = true;
    R::values(rows, row, block_hash, &mut |value| {
        if !std::mem::replace(&mut is_first, false) {
            writer.raw(",");
        }
        match value {
            Value::Null => {}
            Value::Number(number) => writer.digits(number),
            Value::Wide(number) => writer.raw(number.to_string()),
            Value::Address(address) => writer.bare_hex(address.as_slice()),
            Value::Word(word) => writer.bare_hex(word.as_slice()),
            Value::Bytes(bytes) => writer.bare_hex(bytes),
            Value::Text(text) => write_cell(writer, text),
            Value::Time(time) => writer.digits(time.seconds()),
            Value::Flag(flag) => writer.bool(flag),
        }
    });
    writer.raw("\n");
}

/// Text as a cell of CSV: in quotation marks where it could be taken for more than one (RFC 4180).
pub fn write_cell(writer: &mut JsonWriter, text: &str) {
    if text.contains([',', '"', '\n', '\r', '#']) {
        writer.raw("\"");
        writer.raw(text.replace('"', "\"\""));
        writer.raw("\"");
    } else {
        writer.raw(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_one_cell() {
        let cell = |text: &str| {
            let mut writer = JsonWriter::new();
            write_cell(&mut writer, text);
            String::from_utf8(writer.into_bytes()).expect("text")
        };
        assert_eq!(cell("Reverted"), "Reverted");
        assert_eq!(cell("out of gas: have 1, want 2"), "\"out of gas: have 1, want 2\"");
        assert_eq!(cell("a \"b\"\nc"), "\"a \"\"b\"\"\nc\"");
    }
}
