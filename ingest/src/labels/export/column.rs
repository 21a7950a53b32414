//! A column of an export. Versions of the export differ in how they spell values: bytes are binary or hexadecimal text,
//! identifiers text or 16 bytes, numbers integers, decimals or text.

use std::borrow::Cow;
use std::path::Path;

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::{
    ArrowPrimitiveType, DataType, Decimal128Type, Int32Type, Int64Type, TimeUnit, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt32Type, UInt64Type,
};

use super::error::{ExportError, Location};

/// Identifier of a row: the 16 bytes of a UUID.
pub(super) type RowId = [u8; 16];

/// A column of some rows.
pub(super) struct Column<'b> {
    pub array: &'b ArrayRef,
    pub table: &'static str,
    pub name: &'static str,
    pub file: &'b Path,
}

impl<'b> Column<'b> {
    pub fn location(&self) -> Box<Location> {
        Box::new(Location { file: self.file.into(), table: self.table, column: self.name })
    }

    fn of_type(&self, expected: &'static str) -> ExportError {
        ExportError::Type { at: self.location(), found: self.array.data_type().to_string(), expected }
    }

    pub fn holds(&self, found: &str, expected: &'static str) -> ExportError {
        ExportError::Value { at: self.location(), found: found.chars().take(60).collect(), expected }
    }

    /// The cell of a row that must not be null.
    pub fn known<T>(&self, cell: Result<Option<T>, ExportError>) -> Result<T, ExportError> {
        cell?.ok_or_else(|| self.holds("null", "a value"))
    }

    pub fn text(&self, row: usize) -> Result<Option<&'b str>, ExportError> {
        match self.array.data_type() {
            DataType::Null => Ok(None),
            _ if self.array.is_null(row) => Ok(None),
            DataType::Utf8 => Ok(Some(self.array.as_string::<i32>().value(row))),
            DataType::LargeUtf8 => Ok(Some(self.array.as_string::<i64>().value(row))),
            _ => Err(self.of_type("text")),
        }
    }

    /// JSON as text; the export writes `null` where the database has none.
    pub fn json(&self, row: usize) -> Result<Option<&'b str>, ExportError> {
        let is_stated = |text: &&str| !matches!(text.trim(), "" | "null");
        match self.array.data_type() {
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Null => Ok(self.text(row)?.filter(is_stated)),
            _ => Err(self.of_type("JSON as text")),
        }
    }

    /// Bytes, or their digits after `0x` or `\x`.
    pub fn bytes(&self, row: usize) -> Result<Option<Cow<'b, [u8]>>, ExportError> {
        match self.array.data_type() {
            DataType::Null => Ok(None),
            _ if self.array.is_null(row) => Ok(None),
            DataType::Binary => Ok(Some(self.array.as_binary::<i32>().value(row).into())),
            DataType::LargeBinary => Ok(Some(self.array.as_binary::<i64>().value(row).into())),
            DataType::FixedSizeBinary(_) => Ok(Some(self.array.as_fixed_size_binary().value(row).into())),
            DataType::Utf8 | DataType::LargeUtf8 => {
                let text = self.text(row)?.unwrap_or_default();
                let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("\\x"));
                let bytes = digits.and_then(|digits| const_hex::decode(digits).ok());
                bytes.map(|bytes| Some(bytes.into())).ok_or_else(|| self.holds(text, "bytes in hexadecimal digits"))
            }
            _ => Err(self.of_type("bytes or text")),
        }
    }

    /// Bytes of one length.
    pub fn fixed<const N: usize>(&self, row: usize) -> Result<[u8; N], ExportError> {
        let bytes = self.known(self.bytes(row))?;
        let found = || format!("{} bytes", bytes.len());
        bytes.as_ref().try_into().map_err(|_| self.holds(&found(), "as many bytes as such a value has"))
    }

    pub fn id(&self, row: usize) -> Result<RowId, ExportError> {
        if !matches!(self.array.data_type(), DataType::Utf8 | DataType::LargeUtf8) {
            return self.fixed(row);
        }
        let text = self.known(self.text(row))?;
        let digits: String = text.chars().filter(|letter| *letter != '-').collect();
        let mut id = [0; 16];
        const_hex::decode_to_slice(digits, &mut id).map_err(|_| self.holds(text, "a UUID"))?;
        Ok(id)
    }

    pub fn integer(&self, row: usize) -> Result<Option<i64>, ExportError> {
        let wide: i128 = match self.array.data_type() {
            DataType::Null => return Ok(None),
            _ if self.array.is_null(row) => return Ok(None),
            DataType::Int32 => self.number::<Int32Type>(row).into(),
            DataType::Int64 => self.number::<Int64Type>(row).into(),
            DataType::UInt32 => self.number::<UInt32Type>(row).into(),
            DataType::UInt64 => self.number::<UInt64Type>(row).into(),
            DataType::Decimal128(_, 0) => self.number::<Decimal128Type>(row),
            DataType::Utf8 | DataType::LargeUtf8 => {
                let text = self.text(row)?.unwrap_or_default();
                text.parse().map_err(|_| self.holds(text, "an integer"))?
            }
            _ => return Err(self.of_type("an integer, a decimal or text")),
        };
        i64::try_from(wide).map(Some).map_err(|_| self.holds(&wide.to_string(), "an integer of 64 bits"))
    }

    fn number<T: ArrowPrimitiveType>(&self, row: usize) -> T::Native {
        self.array.as_primitive::<T>().value(row)
    }

    pub fn flag(&self, row: usize) -> Result<Option<bool>, ExportError> {
        match self.array.data_type() {
            DataType::Null => Ok(None),
            _ if self.array.is_null(row) => Ok(None),
            DataType::Boolean => Ok(Some(self.array.as_boolean().value(row))),
            _ => Err(self.of_type("a boolean")),
        }
    }

    /// A time, in microseconds since 1970.
    pub fn time(&self, row: usize) -> Result<Option<i64>, ExportError> {
        let micros = match self.array.data_type() {
            DataType::Null => return Ok(None),
            _ if self.array.is_null(row) => return Ok(None),
            DataType::Timestamp(TimeUnit::Second, _) => {
                self.number::<TimestampSecondType>(row).saturating_mul(1_000_000)
            }
            DataType::Timestamp(TimeUnit::Millisecond, _) => {
                self.number::<TimestampMillisecondType>(row).saturating_mul(1_000)
            }
            DataType::Timestamp(TimeUnit::Microsecond, _) => self.number::<TimestampMicrosecondType>(row),
            DataType::Timestamp(TimeUnit::Nanosecond, _) => self.number::<TimestampNanosecondType>(row) / 1_000,
            _ => return Err(self.of_type("a time")),
        };
        Ok(Some(micros))
    }
}
