//! Integers as nodes write them: `"0x1f"`, or a plain JSON number.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, Error, Visitor};
use trawl_core::primitives::{B256, U256};

/// An unsigned integer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Quantity<T>(pub T);

/// Integer types a quantity can be read into.
pub(super) trait UnsignedInteger: Sized {
    /// From hexadecimal digits without prefix; at least one.
    fn from_digits(digits: &str) -> Option<Self>;
    /// From a JSON number.
    fn from_number(number: u64) -> Option<Self>;
}

macro_rules! unsigned {
    ($($type:ty)*) => {$(
        impl UnsignedInteger for $type {
            fn from_digits(digits: &str) -> Option<Self> {
                // A sign is a digit to the parser, and none here.
                (!digits.starts_with('+')).then(|| <$type>::from_str_radix(digits, 16).ok()).flatten()
            }
            fn from_number(number: u64) -> Option<Self> {
                number.try_into().ok()
            }
        }
    )*};
}

unsigned! { u8 u32 u64 }

impl UnsignedInteger for U256 {
    fn from_digits(digits: &str) -> Option<Self> {
        (digits.len() <= 64 && digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
            .then(|| U256::from_str_radix(digits, 16).ok())
            .flatten()
    }
    fn from_number(number: u64) -> Option<Self> {
        Some(U256::from(number))
    }
}

impl<'de, T: UnsignedInteger> Deserialize<'de> for Quantity<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader<T>(PhantomData<T>);
        impl<T: UnsignedInteger> Visitor<'_> for Reader<T> {
            type Value = Quantity<T>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(formatter, "a quantity of at most {} bits, such as \"0x1f\"", size_of::<T>() * 8)
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
                let digits = text.strip_prefix("0x").filter(|digits| !digits.is_empty());
                digits
                    .and_then(T::from_digits)
                    .map(Quantity)
                    .ok_or_else(|| E::invalid_value(serde::de::Unexpected::Str(text), &self))
            }
            fn visit_u64<E: Error>(self, number: u64) -> Result<Self::Value, E> {
                T::from_number(number)
                    .map(Quantity)
                    .ok_or_else(|| E::invalid_value(serde::de::Unexpected::Unsigned(number), &self))
            }
        }
        deserializer.deserialize_any(Reader(PhantomData))
    }
}

/// A slot or what it holds. Leading zeros may be left out, and so may `0x`, as in genesis files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Word(pub B256);

impl<'de> Deserialize<'de> for Word {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        let digits = text.strip_prefix("0x").unwrap_or(&text);
        let word = if digits.is_empty() { Some(U256::ZERO) } else { U256::from_digits(digits) };
        word.map(|word| Self(word.into()))
            .ok_or_else(|| D::Error::invalid_value(serde::de::Unexpected::Str(&text), &"at most 64 hexadecimal digits"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read<T: UnsignedInteger>(json: &str) -> Option<T> {
        serde_json::from_str::<Quantity<T>>(json).ok().map(|quantity| quantity.0)
    }

    #[test]
    fn only_hexadecimal_text_and_numbers_are_quantities() {
        assert_eq!(read::<u64>(r#""0xff""#), Some(255));
        assert_eq!(read::<u64>("255"), Some(255));
        assert_eq!(read::<u8>(r#""0x100""#), None);
        assert_eq!(read::<U256>(&format!("\"0x{}\"", "f".repeat(64))), Some(U256::MAX));
        for bad in [r#""""#, r#""0x""#, r#""ff""#, r#""0xg""#, r#""0x+1""#, r#""-0x1""#, "-1", "1.5", "null", "true"] {
            assert_eq!(read::<u64>(bad), None, "{bad}");
            assert_eq!(read::<U256>(bad), None, "{bad}");
        }
        assert_eq!(read::<U256>(&format!("\"0x1{}\"", "0".repeat(64))), None);
    }
}
