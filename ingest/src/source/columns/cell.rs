//! One cell, and the values that can be read from it. Knows encodings, not meanings.

use alloy_primitives::FixedBytes;
use trawl_core::primitives::{Address, B256, Bytes, U256};

/// A cell as the file holds it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Cell<'a> {
    /// The row has no such column.
    Absent,
    /// The column is null.
    Null,
    /// Bytes that are not text.
    Bytes(&'a [u8]),
    /// Text: hexadecimal, decimal or a list.
    Text(&'a str),
    /// An integer of up to 64 bits.
    Number(u64),
    /// A boolean value.
    Flag(bool),
    /// A float, which is not exact.
    Inexact,
    /// A value of an unsupported type.
    Other,
}

/// A cell that does not hold a value of its column.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("column {column} holds {found}, not {expected}")]
pub struct CellError {
    /// The column, by its first name.
    pub column: String,
    /// Its value, truncated.
    pub found: String,
    /// The expected kind of value.
    pub expected: &'static str,
}

impl CellError {
    /// For a cell of `column`.
    pub fn new(column: &str, cell: Cell<'_>, expected: &'static str) -> Self {
        Self { column: column.into(), found: shown(cell), expected }
    }
}

/// A cell as text for messages, truncated.
fn shown(cell: Cell<'_>) -> String {
    let cut = |text: &str| text.chars().take(40).collect::<String>();
    match cell {
        Cell::Absent => "nothing".into(),
        Cell::Null => "null".into(),
        Cell::Bytes(bytes) => format!("{} bytes", bytes.len()),
        Cell::Text(text) => format!("`{}`", cut(text)),
        Cell::Number(number) => number.to_string(),
        Cell::Flag(flag) => flag.to_string(),
        Cell::Inexact => "a float".into(),
        Cell::Other => "a value of another type".into(),
    }
}

/// A value that can be read from a cell.
pub trait FromCell: Sized {
    /// For messages: `32 bytes`, `an integer` …
    const EXPECTED: &'static str;
    /// The value; `None` if the cell does not hold one.
    fn from_cell(cell: Cell<'_>) -> Option<Self>;
}

/// Decimal digits and nothing else: no sign, no space.
fn decimal<T: std::str::FromStr>(text: &str) -> Option<T> {
    (!text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit())).then(|| text.parse().ok()).flatten()
}

macro_rules! integer {
    ($($type:ty)*) => {$(
        impl FromCell for $type {
            const EXPECTED: &'static str = concat!("an integer of type ", stringify!($type));
            fn from_cell(cell: Cell<'_>) -> Option<Self> {
                match cell {
                    Cell::Number(number) => number.try_into().ok(),
                    Cell::Text(text) => decimal(text),
                    _ => None,
                }
            }
        }
    )*};
}

integer! { u8 u32 u64 }

impl FromCell for U256 {
    const EXPECTED: &'static str = "an integer of 256 bits";

    /// 32 bytes big-endian, their hexadecimal text, or decimal digits.
    fn from_cell(cell: Cell<'_>) -> Option<Self> {
        match cell {
            Cell::Number(number) => Some(Self::from(number)),
            Cell::Bytes(bytes) if bytes.len() == 32 => Some(Self::from_be_slice(bytes)),
            Cell::Text(text) if text.starts_with("0x") => {
                FixedBytes::<32>::from_cell(cell).map(|word| Self::from_be_bytes(word.0))
            }
            Cell::Text(text) => decimal(text),
            _ => None,
        }
    }
}

impl<const N: usize> FromCell for FixedBytes<N> {
    const EXPECTED: &'static str = "as many bytes as such a value has";

    fn from_cell(cell: Cell<'_>) -> Option<Self> {
        match cell {
            Cell::Bytes(bytes) => Self::try_from(bytes).ok(),
            Cell::Text(text) => {
                let mut bytes = [0; N];
                const_hex::decode_to_slice(text.strip_prefix("0x")?, &mut bytes).ok()?;
                Some(Self(bytes))
            }
            _ => None,
        }
    }
}

impl FromCell for Address {
    const EXPECTED: &'static str = "20 bytes";

    fn from_cell(cell: Cell<'_>) -> Option<Self> {
        FixedBytes::from_cell(cell).map(Self)
    }
}

impl FromCell for Bytes {
    const EXPECTED: &'static str = "bytes";

    fn from_cell(cell: Cell<'_>) -> Option<Self> {
        match cell {
            Cell::Bytes(bytes) => Some(Self::copy_from_slice(bytes)),
            Cell::Text(text) => const_hex::decode(text.strip_prefix("0x")?).ok().map(Into::into),
            _ => None,
        }
    }
}

impl FromCell for bool {
    const EXPECTED: &'static str = "true or false";

    fn from_cell(cell: Cell<'_>) -> Option<Self> {
        match cell {
            Cell::Flag(flag) => Some(flag),
            Cell::Text("true") => Some(true),
            Cell::Text("false") => Some(false),
            _ => None,
        }
    }
}

impl FromCell for Vec<B256> {
    const EXPECTED: &'static str = "a list of 32-byte values";

    /// A JSON array of texts, or texts joined with commas.
    fn from_cell(cell: Cell<'_>) -> Option<Self> {
        let Cell::Text(text) = cell else { return None };
        if text.starts_with('[') {
            return serde_json::from_str(text).ok();
        }
        text.split(',').map(|item| FixedBytes::from_cell(Cell::Text(item))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_exactly_or_not_at_all() {
        let word = [0xff; 32];
        assert_eq!(U256::from_cell(Cell::Bytes(&word)), Some(U256::MAX));
        assert_eq!(U256::from_cell(Cell::Text(&U256::MAX.to_string())), Some(U256::MAX));
        assert_eq!(U256::from_cell(Cell::Text(&format!("0x{}", "ff".repeat(32)))), Some(U256::MAX));
        for bad in ["", "-1", "+1", " 1", "1.0", "1e3", "0x1", "ff", &format!("{}0", U256::MAX)] {
            assert_eq!(U256::from_cell(Cell::Text(bad)), None, "{bad}");
        }
        assert_eq!(U256::from_cell(Cell::Inexact), None);
        assert_eq!(u32::from_cell(Cell::Number(1 << 32)), None);
        assert_eq!(u8::from_cell(Cell::Text("256")), None);
    }

    #[test]
    fn bytes_have_their_length() {
        assert_eq!(Address::from_cell(Cell::Bytes(&[7; 20])), Some(Address::repeat_byte(7)));
        assert_eq!(Address::from_cell(Cell::Bytes(&[7; 21])), None);
        assert_eq!(B256::from_cell(Cell::Text("0x12")), None);
        assert_eq!(Bytes::from_cell(Cell::Text("0x")), Some(Bytes::new()));
        assert_eq!(Bytes::from_cell(Cell::Text("0x1")), None);
        assert_eq!(Bytes::from_cell(Cell::Text("12")), None);
    }

    #[test]
    fn lists_come_in_two_spellings() {
        let word = format!("0x{}", "12".repeat(32));
        let two = vec![B256::repeat_byte(0x12); 2];
        assert_eq!(Vec::from_cell(Cell::Text(&format!("{word},{word}"))), Some(two.clone()));
        assert_eq!(Vec::from_cell(Cell::Text(&format!("[\"{word}\", \"{word}\"]"))), Some(two));
        assert_eq!(Vec::<B256>::from_cell(Cell::Text("[]")), Some(Vec::new()));
        assert_eq!(Vec::<B256>::from_cell(Cell::Text(&format!("{word},"))), None);
    }
}
