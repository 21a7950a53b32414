//! Values as Arrow columns: bytes stay bytes, text is text, and numbers wider than 64 bits are decimal text.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, BinaryBuilder, BooleanBuilder, FixedSizeBinaryBuilder, RecordBatch, StringBuilder,
    TimestampMicrosecondBuilder, UInt64Builder,
};
use arrow::datatypes::{DataType, Field as Column, Schema, SchemaRef, TimeUnit};

use super::metadata;
use crate::error::Problem;
use trawl_json::scan_rows::{Field, Kind, Value};

/// Bytes of an address.
const ADDRESS_BYTES: i32 = 20;
/// Bytes of a hash or another EVM word.
const WORD_BYTES: i32 = 32;

/// The Arrow schema of these fields; each column is nullable and says what it is.
pub(super) fn schema(fields: &[Field]) -> SchemaRef {
    let column = |field: &Field| {
        let ty = match field.kind {
            Kind::Number => DataType::UInt64,
            Kind::Wide | Kind::Text => DataType::Utf8,
            Kind::Address => DataType::FixedSizeBinary(ADDRESS_BYTES),
            Kind::Word => DataType::FixedSizeBinary(WORD_BYTES),
            Kind::Bytes => DataType::Binary,
            Kind::Time => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
            Kind::Flag => DataType::Boolean,
        };
        let column = Column::new(field.column, ty, true);
        let column = if field.kind == Kind::Wide { metadata::wide(column) } else { metadata::of_type(&column) };
        metadata::in_unit(column, field.unit)
    };
    Arc::new(Schema::new(fields.iter().map(column).collect::<Vec<_>>()))
}

enum Builder {
    Number(UInt64Builder),
    Text(StringBuilder),
    Fixed(FixedSizeBinaryBuilder),
    Bytes(BinaryBuilder),
    Time(TimestampMicrosecondBuilder),
    Flag(BooleanBuilder),
}

impl Builder {
    fn new(kind: Kind) -> Self {
        match kind {
            Kind::Number => Self::Number(UInt64Builder::new()),
            Kind::Wide | Kind::Text => Self::Text(StringBuilder::new()),
            Kind::Address => Self::Fixed(FixedSizeBinaryBuilder::new(ADDRESS_BYTES)),
            Kind::Word => Self::Fixed(FixedSizeBinaryBuilder::new(WORD_BYTES)),
            Kind::Bytes => Self::Bytes(BinaryBuilder::new()),
            Kind::Time => Self::Time(TimestampMicrosecondBuilder::new().with_timezone("UTC")),
            Kind::Flag => Self::Flag(BooleanBuilder::new()),
        }
    }

    fn push(&mut self, value: Value<'_>) {
        match (self, value) {
            (Self::Number(column), Value::Number(number)) => column.append_value(number),
            (Self::Text(column), Value::Text(text)) => column.append_value(text),
            (Self::Text(column), Value::Wide(number)) => column.append_value(number.to_string()),
            (Self::Fixed(column), Value::Address(address)) => fixed(column, address.as_slice()),
            (Self::Fixed(column), Value::Word(bytes)) => fixed(column, bytes.as_slice()),
            (Self::Bytes(column), Value::Bytes(bytes)) => column.append_value(bytes),
            (Self::Time(column), Value::Time(time)) => column.append_value(time.micros()),
            (Self::Flag(column), Value::Flag(flag)) => column.append_value(flag),
            (Self::Number(column), _) => column.append_null(),
            (Self::Text(column), _) => column.append_null(),
            (Self::Fixed(column), _) => column.append_null(),
            (Self::Bytes(column), _) => column.append_null(),
            (Self::Time(column), _) => column.append_null(),
            (Self::Flag(column), _) => column.append_null(),
        }
    }

    fn finish(self) -> ArrayRef {
        match self {
            Self::Number(mut column) => Arc::new(column.finish()),
            Self::Text(mut column) => Arc::new(column.finish()),
            Self::Fixed(mut column) => Arc::new(column.finish()),
            Self::Bytes(mut column) => Arc::new(column.finish()),
            Self::Time(mut column) => Arc::new(column.finish()),
            Self::Flag(mut column) => Arc::new(column.finish()),
        }
    }
}

fn fixed(column: &mut FixedSizeBinaryBuilder, bytes: &[u8]) {
    if column.append_value(bytes).is_err() {
        column.append_null();
    }
}

/// Collects rows, value by value.
pub(super) struct Builders {
    columns: Vec<Builder>,
    next: usize,
}

impl Builders {
    /// Empty columns for these fields.
    pub fn new(fields: &[Field]) -> Self {
        Self { columns: fields.iter().map(|field| Builder::new(field.kind)).collect(), next: 0 }
    }

    /// Appends the next value: values of a row come in the order of its fields, then those of the next row.
    pub fn push(&mut self, value: Value<'_>) {
        self.columns[self.next].push(value);
        self.next = (self.next + 1) % self.columns.len();
    }

    /// The collected rows as a record batch.
    ///
    /// # Errors
    ///
    /// When the columns do not have the types of `schema`.
    pub fn finish(self, schema: SchemaRef) -> Result<RecordBatch, Problem> {
        let arrays = self.columns.into_iter().map(Builder::finish).collect();
        RecordBatch::try_new(schema, arrays).map_err(|error| Problem::not_encoded(&error))
    }
}
