//! Columns of the types that writers of chain data use.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BinaryArray, BooleanArray, Int32Array, Int64Array, StringArray, UInt32Array, UInt64Array,
};
use arrow::datatypes::{DataType, Int32Type, Int64Type, UInt32Type, UInt64Type};

use super::cell::Cell;

/// A column of the types that writers of chain data use.
pub(super) enum Column {
    Binary(BinaryArray),
    Text(StringArray),
    U32(UInt32Array),
    U64(UInt64Array),
    I32(Int32Array),
    I64(Int64Array),
    Flag(BooleanArray),
    Inexact(ArrayRef),
    Other(ArrayRef),
}

impl Column {
    /// The array as one of the types that are distinguished.
    pub(super) fn new(array: &ArrayRef) -> Self {
        match array.data_type() {
            DataType::Binary => Self::Binary(array.as_binary().clone()),
            DataType::Utf8 => Self::Text(array.as_string().clone()),
            DataType::UInt32 => Self::U32(array.as_primitive::<UInt32Type>().clone()),
            DataType::UInt64 => Self::U64(array.as_primitive::<UInt64Type>().clone()),
            DataType::Int32 => Self::I32(array.as_primitive::<Int32Type>().clone()),
            DataType::Int64 => Self::I64(array.as_primitive::<Int64Type>().clone()),
            DataType::Boolean => Self::Flag(array.as_boolean().clone()),
            DataType::Float32 | DataType::Float64 => Self::Inexact(Arc::clone(array)),
            _ => Self::Other(Arc::clone(array)),
        }
    }

    /// The cell of `row`, which is in the column.
    pub(super) fn cell(&self, row: usize) -> Cell<'_> {
        let signed = |number: i64| u64::try_from(number).map_or(Cell::Other, Cell::Number);
        match self {
            Self::Binary(array) if array.is_valid(row) => Cell::Bytes(array.value(row)),
            Self::Text(array) if array.is_valid(row) => Cell::Text(array.value(row)),
            Self::U32(array) if array.is_valid(row) => Cell::Number(array.value(row).into()),
            Self::U64(array) if array.is_valid(row) => Cell::Number(array.value(row)),
            Self::I32(array) if array.is_valid(row) => signed(array.value(row).into()),
            Self::I64(array) if array.is_valid(row) => signed(array.value(row)),
            Self::Flag(array) if array.is_valid(row) => Cell::Flag(array.value(row)),
            Self::Inexact(array) if array.is_valid(row) => Cell::Inexact,
            Self::Other(array) if array.is_valid(row) => Cell::Other,
            _ => Cell::Null,
        }
    }
}
