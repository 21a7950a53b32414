//! Writes JSON into a growing buffer: literals, hexadecimal and decimal numbers, objects and arrays.

pub(crate) mod missing_columns;

use std::io::Write;

use trawl_core::primitives::{Timestamp, U256};

/// Placeholder for the digits of a hash.
const HASH_PLACEHOLDER: &[u8; 67] = b"\"0x0000000000000000000000000000000000000000000000000000000000000000";

/// The highest integer up to which doubles have all (RFC 8259, 6).
const MAX_SAFE_INTEGER: u64 = (1 << 53) - 1;

/// JSON text under construction. Nothing checks that values alternate with keys but [`Object`] and [`Array`].
#[derive(Debug, Default)]
pub struct JsonWriter {
    out: Vec<u8>,
}

impl JsonWriter {
    /// An empty text.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The text so far.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        self.out
    }

    /// Takes the text so far and continues with an empty one.
    pub fn take(&mut self) -> Vec<u8> {
        let next = Vec::with_capacity(self.out.capacity());
        std::mem::replace(&mut self.out, next)
    }

    /// Bytes written and not taken.
    #[must_use]
    pub fn len(&self) -> usize {
        self.out.len()
    }

    /// Whether there is nothing to take.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.out.is_empty()
    }

    /// JSON text, unchanged.
    #[inline]
    pub fn raw(&mut self, json: impl AsRef<[u8]>) {
        self.out.extend_from_slice(json.as_ref());
    }

    /// [`JsonWriter::raw`] without a copy if the buffer is empty.
    pub fn whole(&mut self, text: Vec<u8>) {
        if self.out.is_empty() { self.out = text } else { self.raw(text) }
    }

    /// Writes the literal `null`.
    pub fn null(&mut self) {
        self.raw("null");
    }

    /// `true` or `false`.
    pub fn bool(&mut self, value: bool) {
        self.raw(if value { "true" } else { "false" });
    }

    /// A JSON number; text in decimal digits where clients that read numbers as doubles would lose some.
    pub fn number(&mut self, value: u64) {
        if value <= MAX_SAFE_INTEGER { self.digits(value) } else { self.decimal(value) }
    }

    /// Decimal digits, for formats other than JSON.
    pub fn digits(&mut self, value: u64) {
        self.raw(itoa::Buffer::new().format(value));
    }

    /// A JSON number with the digits that identify the double; `null` for what JSON cannot hold.
    pub fn float(&mut self, value: f64) {
        match serde_json::Number::from_f64(value) {
            // Writing to a vector cannot fail.
            Some(number) => drop(write!(self.out, "{number}")),
            None => self.null(),
        }
    }

    /// A JSON string, escaped.
    pub fn string(&mut self, value: &str) {
        // Writing to a vector cannot fail, and a string is always JSON.
        let _ = serde_json::to_writer(&mut self.out, value);
    }

    /// `"0x…"`, two digits a byte, lower case.
    pub fn hex(&mut self, bytes: &[u8]) {
        self.out.push(b'"');
        self.bare_hex(bytes);
        self.out.push(b'"');
    }

    /// [`JsonWriter::hex`] for a hash or an address: the length is known, so the digits are filled in place.
    #[inline]
    pub fn fixed_hex<const BYTES: usize>(&mut self, bytes: &[u8; BYTES]) {
        const { assert!(BYTES <= 32) };
        let start = self.out.len() + 3;
        self.out.extend_from_slice(&HASH_PLACEHOLDER[..2 * BYTES + 3]);
        self.out.push(b'"');
        const_hex::encode_to_slice(bytes, &mut self.out[start..][..2 * BYTES]).expect("two digits a byte");
    }

    /// [`JsonWriter::hex`] without quotation marks, for formats other than JSON.
    pub fn bare_hex(&mut self, bytes: &[u8]) {
        let start = self.out.len() + 2;
        let end = start + 2 * bytes.len();
        self.out.extend_from_slice(b"0x");
        self.out.resize(end, 0);
        const_hex::encode_to_slice(bytes, &mut self.out[start..end]).expect("two digits a byte");
    }

    /// `"0x…"` without leading zeros; zero is `"0x0"`.
    pub fn quantity(&mut self, value: u64) {
        let zeros = (value.leading_zeros() / 4).min(15);
        let (high, low) = (digits((value >> 32) as u32), digits(value as u32));
        // A copy of a fixed length is faster; the buffer is then truncated after the digits.
        let shifted = (u128::from(high) << 64 | u128::from(low)) << (8 * zeros);
        self.out.extend_from_slice(b"\"0x");
        self.out.extend_from_slice(&shifted.to_be_bytes());
        self.out.truncate(self.out.len() - zeros as usize);
        self.out.push(b'"');
    }

    /// A quantity of up to 256 bits.
    pub fn quantity_256(&mut self, value: U256) {
        let _ = write!(self.out, "\"{value:#x}\"");
    }

    /// An integer as a string of decimal digits.
    pub fn decimal(&mut self, value: u64) {
        self.out.push(b'"');
        self.digits(value);
        self.out.push(b'"');
    }

    /// An integer of up to 256 bits as a string of decimal digits.
    pub fn decimal_256(&mut self, value: U256) {
        let _ = write!(self.out, "\"{value}\"");
    }

    /// `"2024-02-17T08:49:36.000000Z"`: always six fractional digits.
    pub fn timestamp(&mut self, value: Timestamp) {
        match jiff::Timestamp::from_microsecond(value.micros()) {
            Ok(time) => drop(write!(self.out, "\"{}\"", time.strftime("%Y-%m-%dT%H:%M:%S.%6fZ"))),
            Err(_) => self.null(),
        }
    }

    /// The output of `write`, or `null`.
    pub fn option<T>(&mut self, value: Option<T>, write: impl FnOnce(&mut Self, T)) {
        match value {
            Some(value) => write(self, value),
            None => self.null(),
        }
    }

    /// Writes `{…}`, whose members `fill` writes.
    pub fn object(&mut self, fill: impl FnOnce(&mut Object<'_>)) {
        self.out.push(b'{');
        fill(&mut Object { writer: self, first: true });
        self.out.push(b'}');
    }

    /// Writes `[…]`, whose items `fill` writes.
    pub fn array(&mut self, fill: impl FnOnce(&mut Array<'_>)) {
        self.out.push(b'[');
        fill(&mut Array { writer: self, first: true });
        self.out.push(b']');
    }
}

/// The eight hexadecimal digits of a number, the first in the highest byte. Made in a register: a table's short writes
/// would have to be read again at once.
fn digits(value: u32) -> u64 {
    let spread = [(16, 0x0000_ffff_0000_ffff), (8, 0x00ff_00ff_00ff_00ff), (4, 0x0f0f_0f0f_0f0f_0f0f)];
    let nibbles = spread.iter().fold(u64::from(value), |value, (shift, mask)| (value << shift | value) & mask);
    let are_letters = (nibbles + 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101;
    nibbles + 0x3030_3030_3030_3030 + are_letters * u64::from(b'a' - b'0' - 10)
}

/// An object under construction.
#[derive(Debug)]
pub struct Object<'w> {
    writer: &'w mut JsonWriter,
    first: bool,
}

impl Object<'_> {
    /// Writes a key, which needs no escaping, and returns the writer for its value.
    pub fn key(&mut self, key: &str) -> &mut JsonWriter {
        if !std::mem::replace(&mut self.first, false) {
            self.writer.out.push(b',');
        }
        self.writer.out.push(b'"');
        self.writer.raw(key);
        self.writer.raw("\":");
        self.writer
    }

    /// The same for a key that may be any text.
    pub fn text_key(&mut self, key: &str) -> &mut JsonWriter {
        if !std::mem::replace(&mut self.first, false) {
            self.writer.out.push(b',');
        }
        self.writer.string(key);
        self.writer.raw(":");
        self.writer
    }

    /// Adds the members of an object that is JSON text; nothing of an empty text.
    pub fn members_of(&mut self, object: &[u8]) {
        self.splice(object.strip_prefix(b"{").and_then(|object| object.strip_suffix(b"}")).unwrap_or(b""));
    }

    /// Adds members from JSON text without the braces around them.
    pub fn splice(&mut self, members: &[u8]) {
        if members.is_empty() {
            return;
        }
        if !std::mem::replace(&mut self.first, false) {
            self.writer.out.push(b',');
        }
        self.writer.raw(members);
    }
}

/// An array under construction.
#[derive(Debug)]
pub struct Array<'w> {
    writer: &'w mut JsonWriter,
    first: bool,
}

impl Array<'_> {
    /// Returns the writer for the next item.
    pub fn item(&mut self) -> &mut JsonWriter {
        if !std::mem::replace(&mut self.first, false) {
            self.writer.out.push(b',');
        }
        self.writer
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    fn written(write: impl FnOnce(&mut JsonWriter)) -> Value {
        let mut writer = JsonWriter::new();
        write(&mut writer);
        serde_json::from_slice(&writer.into_bytes()).expect("valid JSON")
    }

    #[test]
    fn a_number_that_a_double_does_not_have_is_text() {
        assert_eq!(written(|w| w.number((1 << 53) - 1)), json!(9_007_199_254_740_991_u64));
        assert_eq!(written(|w| w.number(1 << 53)), json!("9007199254740992"));
        assert_eq!(written(|w| w.number(u64::MAX)), json!("18446744073709551615"));
    }

    proptest! {
        #[test]
        fn every_text_is_a_key(text: String, other: String) {
            let found = written(|writer| writer.object(|object| {
                object.text_key(&text).string(&other);
                object.key("after").number(1);
            }));
            let expected = json!({text: other, "after": 1});
            prop_assert!(found["after"] == 1 && found == expected);
        }

        #[test]
        fn every_value_is_json_that_reads_back(bytes: Vec<u8>, number: u64, text: String, limbs: [u64; 4]) {
            let big = U256::from_limbs(limbs);
            prop_assert_eq!(written(|w| w.hex(&bytes)), json!(const_hex::encode_prefixed(&bytes)));
            let word = U256::from_limbs(limbs).to_be_bytes::<32>();
            prop_assert_eq!(written(|w| w.fixed_hex(&word)), json!(const_hex::encode_prefixed(word)));
            prop_assert_eq!(written(|w| w.digits(number)), json!(number));
            let exact = number >> 11;
            prop_assert_eq!(written(|w| w.number(exact)), json!(exact));
            prop_assert_eq!(written(|w| w.decimal(number)), json!(number.to_string()));
            prop_assert_eq!(written(|w| w.quantity(number)), json!(format!("{number:#x}")));
            prop_assert_eq!(written(|w| w.decimal_256(big)), json!(big.to_string()));
            prop_assert_eq!(written(|w| w.quantity_256(big)), json!(format!("{big:#x}")));
            prop_assert_eq!(written(|w| w.string(&text)), json!(text));
        }

        /// Read back by std: serde_json's reader may be off by one in the last digit.
        #[test]
        fn floats_are_the_shortest_text_that_reads_back(double: f64) {
            let mut writer = JsonWriter::new();
            writer.float(double);
            let text = String::from_utf8(writer.into_bytes()).expect("text");
            prop_assert!(serde_json::from_str::<Value>(&text).is_ok());
            prop_assert_eq!(text.parse::<f64>(), Ok(double));
        }
    }

    #[test]
    fn times_have_six_fractional_digits() {
        let at = |seconds| Timestamp::from_seconds(seconds).expect("in range");
        assert_eq!(written(|w| w.timestamp(at(0))), json!("1970-01-01T00:00:00.000000Z"));
        assert_eq!(written(|w| w.timestamp(at(1_708_159_776))), json!("2024-02-17T08:49:36.000000Z"));
        assert_eq!(written(|w| w.timestamp(Timestamp::from_micros(1))), json!("1970-01-01T00:00:00.000001Z"));
    }

    #[test]
    fn quantities_have_no_leading_zeros() {
        for bits in 0..64 {
            for number in [u64::MAX >> bits, 1 << bits, 0x0123_4567_89ab_cdef >> bits, 0xfedc_ba98_7654_3210 >> bits] {
                assert_eq!(written(|w| w.quantity(number)), json!(format!("{number:#x}")));
            }
        }
    }

    #[test]
    fn zero_is_a_digit() {
        assert_eq!(written(|w| w.quantity(0)), json!("0x0"));
        assert_eq!(written(|w| w.quantity_256(U256::ZERO)), json!("0x0"));
        assert_eq!(written(|w| w.hex(&[])), json!("0x"));
        assert_eq!(written(|w| w.float(0.0)), json!(0.0));
    }

    #[test]
    fn commas_separate_values() {
        let value = written(|w| {
            w.object(|object| {
                object.key("a").array(|array| {
                    array.item().number(1);
                    array.item().null();
                });
                object.key("b").bool(true);
                object.key("c").object(|_| {});
                object.key("d").array(|_| {});
            });
        });
        assert_eq!(value, json!({"a": [1, null], "b": true, "c": {}, "d": []}));
    }
}
