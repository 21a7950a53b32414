//! Conversion between Rust types and columns, independent of tables.
//!
//! Rows travel as Arrow record batches, both to and from ClickHouse. Each Rust type here has one
//! Arrow type and one ClickHouse type: <https://clickhouse.com/docs/interfaces/formats/ArrowStream>.

use std::sync::Arc;

use alloy_primitives::{Address, Bytes, FixedBytes, U256};
use arrow::array::{Array, ArrayRef, AsArray, BinaryArray, FixedSizeBinaryArray, PrimitiveArray};
use arrow::buffer::{Buffer, OffsetBuffer, ScalarBuffer};
use arrow::datatypes::{
    ArrowPrimitiveType, DataType, TimeUnit, TimestampMicrosecondType, UInt8Type, UInt32Type, UInt64Type,
};

use crate::primitives::Timestamp;

/// A value that a column can hold.
pub trait Column: Sized {
    /// Collects values into an array.
    type Builder: Default;
    /// A checked array, cheap to index.
    type View<'a>;
    /// One value of a view.
    type Item<'a>;

    /// ClickHouse's name for the type, as `system.columns` prints it (`LowCardinality` left out).
    fn clickhouse_type() -> String;
    /// The Arrow type.
    fn arrow_type() -> DataType;
    /// Whether the column may hold NULL.
    fn is_nullable() -> bool {
        false
    }
    /// Adds a value.
    fn append(builder: &mut Self::Builder, value: Self);
    /// Adds a placeholder under a NULL.
    fn append_default(builder: &mut Self::Builder);
    /// The values so far as an array.
    fn finish(builder: Self::Builder) -> ArrayRef;
    /// Checks that `array` has this type.
    fn view(array: &dyn Array) -> Option<Self::View<'_>>;
    /// The value at `row`; panics beyond the end, like a slice.
    fn get<'a>(view: &Self::View<'a>, row: usize) -> Self::Item<'a>;
    /// A value of a view as a value of its own.
    fn own(item: Self::Item<'_>) -> Self;
}

macro_rules! integer {
    ($($rust:ty, $arrow:ty, $clickhouse:literal;)*) => {$(
        impl Column for $rust {
            type Builder = Vec<$rust>;
            type View<'a> = &'a [$rust];
            type Item<'a> = $rust;

            fn clickhouse_type() -> String {
                $clickhouse.into()
            }
            fn arrow_type() -> DataType {
                <$arrow>::DATA_TYPE
            }
            fn append(builder: &mut Self::Builder, value: Self) {
                builder.push(value);
            }
            fn append_default(builder: &mut Self::Builder) {
                builder.push(0);
            }
            fn finish(builder: Self::Builder) -> ArrayRef {
                Arc::new(PrimitiveArray::<$arrow>::new(ScalarBuffer::from(builder), None))
            }
            fn view(array: &dyn Array) -> Option<Self::View<'_>> {
                array.as_primitive_opt::<$arrow>().map(|array| &array.values()[..])
            }
            fn get<'a>(view: &Self::View<'a>, row: usize) -> Self::Item<'a> {
                view[row]
            }
            fn own(item: Self::Item<'_>) -> Self {
                item
            }
        }
    )*};
}

integer! {
    u8, UInt8Type, "UInt8";
    u32, UInt32Type, "UInt32";
    u64, UInt64Type, "UInt64";
}

impl Column for Timestamp {
    type Builder = Vec<i64>;
    type View<'a> = &'a [i64];
    type Item<'a> = Timestamp;

    fn clickhouse_type() -> String {
        "DateTime64(6, 'UTC')".into()
    }
    fn arrow_type() -> DataType {
        DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()))
    }
    fn append(builder: &mut Self::Builder, value: Self) {
        builder.push(value.micros());
    }
    fn append_default(builder: &mut Self::Builder) {
        builder.push(0);
    }
    fn finish(builder: Self::Builder) -> ArrayRef {
        let array = PrimitiveArray::<TimestampMicrosecondType>::new(ScalarBuffer::from(builder), None);
        Arc::new(array.with_timezone("UTC"))
    }
    fn view(array: &dyn Array) -> Option<Self::View<'_>> {
        array.as_primitive_opt::<TimestampMicrosecondType>().map(|array| &array.values()[..])
    }
    fn get<'a>(view: &Self::View<'a>, row: usize) -> Self::Item<'a> {
        Timestamp::from_micros(view[row])
    }
    fn own(item: Self::Item<'_>) -> Self {
        item
    }
}

/// An array of `N`-byte values, as one run of bytes.
#[derive(Debug, Clone, Copy)]
pub struct FixedView<'a, const N: usize>(&'a [u8]);

impl<'a, const N: usize> FixedView<'a, N> {
    fn of(array: &'a FixedSizeBinaryArray) -> Option<Self> {
        (usize::try_from(array.value_length()) == Ok(N)).then(|| Self(array.value_data()))
    }

    /// The bytes at `row`; panics beyond the end.
    #[must_use]
    pub fn bytes(&self, row: usize) -> &'a [u8; N] {
        self.0[row * N..][..N].try_into().expect("N bytes")
    }
}

fn fixed_array(length: usize, values: Vec<u8>) -> ArrayRef {
    let length = i32::try_from(length).expect("a few bytes");
    Arc::new(FixedSizeBinaryArray::new(length, Buffer::from_vec(values), None))
}

impl<const N: usize> Column for FixedBytes<N> {
    type Builder = Vec<u8>;
    type View<'a> = FixedView<'a, N>;
    type Item<'a> = &'a FixedBytes<N>;

    fn clickhouse_type() -> String {
        format!("FixedString({N})")
    }
    fn arrow_type() -> DataType {
        DataType::FixedSizeBinary(i32::try_from(N).expect("a few bytes"))
    }
    fn append(builder: &mut Self::Builder, value: Self) {
        builder.extend_from_slice(&value.0);
    }
    fn append_default(builder: &mut Self::Builder) {
        builder.extend_from_slice(&[0; N]);
    }
    fn finish(builder: Self::Builder) -> ArrayRef {
        fixed_array(N, builder)
    }
    fn view(array: &dyn Array) -> Option<Self::View<'_>> {
        array.as_fixed_size_binary_opt().and_then(FixedView::of)
    }
    fn get<'a>(view: &Self::View<'a>, row: usize) -> Self::Item<'a> {
        view.bytes(row).into()
    }
    fn own(item: Self::Item<'_>) -> Self {
        *item
    }
}

impl Column for Address {
    type Builder = Vec<u8>;
    type View<'a> = FixedView<'a, 20>;
    type Item<'a> = Address;

    fn clickhouse_type() -> String {
        FixedBytes::<20>::clickhouse_type()
    }
    fn arrow_type() -> DataType {
        FixedBytes::<20>::arrow_type()
    }
    fn append(builder: &mut Self::Builder, value: Self) {
        builder.extend_from_slice(value.as_slice());
    }
    fn append_default(builder: &mut Self::Builder) {
        FixedBytes::<20>::append_default(builder);
    }
    fn finish(builder: Self::Builder) -> ArrayRef {
        fixed_array(20, builder)
    }
    fn view(array: &dyn Array) -> Option<Self::View<'_>> {
        FixedBytes::<20>::view(array)
    }
    fn get<'a>(view: &Self::View<'a>, row: usize) -> Self::Item<'a> {
        Address::from(view.bytes(row))
    }
    fn own(item: Self::Item<'_>) -> Self {
        item
    }
}

/// 256-bit integers are 32 bytes, little-endian.
impl Column for U256 {
    type Builder = Vec<u8>;
    type View<'a> = FixedView<'a, 32>;
    type Item<'a> = U256;

    fn clickhouse_type() -> String {
        "UInt256".into()
    }
    fn arrow_type() -> DataType {
        DataType::FixedSizeBinary(32)
    }
    fn append(builder: &mut Self::Builder, value: Self) {
        builder.extend_from_slice(&value.to_le_bytes::<32>());
    }
    fn append_default(builder: &mut Self::Builder) {
        builder.extend_from_slice(&[0; 32]);
    }
    fn finish(builder: Self::Builder) -> ArrayRef {
        fixed_array(32, builder)
    }
    fn view(array: &dyn Array) -> Option<Self::View<'_>> {
        FixedBytes::<32>::view(array)
    }
    fn get<'a>(view: &Self::View<'a>, row: usize) -> Self::Item<'a> {
        U256::from_le_bytes(*view.bytes(row))
    }
    fn own(item: Self::Item<'_>) -> Self {
        item
    }
}

/// Values of varying length and where each ends.
#[derive(Debug, Default)]
pub struct BytesBuilder {
    values: Vec<u8>,
    ends: Vec<i32>,
}

impl BytesBuilder {
    fn append(&mut self, value: &[u8]) {
        self.values.extend_from_slice(value);
        // A batch is cut long before its bytes reach 2 GiB: `ingest` bounds batches, and a block fits in one.
        self.ends.push(i32::try_from(self.values.len()).expect("a batch holds less than 2 GiB"));
    }

    fn finish(self) -> ArrayRef {
        Arc::new(BinaryArray::new(offsets(self.ends), Buffer::from_vec(self.values), None))
    }
}

pub(super) fn offsets(ends: Vec<i32>) -> OffsetBuffer<i32> {
    let mut offsets = Vec::with_capacity(ends.len() + 1);
    offsets.push(0);
    offsets.extend(ends);
    OffsetBuffer::new(ScalarBuffer::from(offsets))
}

impl Column for Bytes {
    type Builder = BytesBuilder;
    type View<'a> = &'a BinaryArray;
    type Item<'a> = &'a [u8];

    fn clickhouse_type() -> String {
        "String".into()
    }
    fn arrow_type() -> DataType {
        DataType::Binary
    }
    fn append(builder: &mut Self::Builder, value: Self) {
        builder.append(&value);
    }
    fn append_default(builder: &mut Self::Builder) {
        builder.append(&[]);
    }
    fn finish(builder: Self::Builder) -> ArrayRef {
        builder.finish()
    }
    fn view(array: &dyn Array) -> Option<Self::View<'_>> {
        array.as_binary_opt::<i32>()
    }
    fn get<'a>(view: &Self::View<'a>, row: usize) -> Self::Item<'a> {
        view.value(row)
    }
    fn own(item: Self::Item<'_>) -> Self {
        Self::copy_from_slice(item)
    }
}

/// Text is ClickHouse's `String` too; bytes that are not UTF-8 read as the empty text. No column of ours holds such.
impl Column for String {
    type Builder = BytesBuilder;
    type View<'a> = &'a BinaryArray;
    type Item<'a> = &'a str;

    fn clickhouse_type() -> String {
        Bytes::clickhouse_type()
    }
    fn arrow_type() -> DataType {
        Bytes::arrow_type()
    }
    fn append(builder: &mut Self::Builder, value: Self) {
        builder.append(value.as_bytes());
    }
    fn append_default(builder: &mut Self::Builder) {
        builder.append(&[]);
    }
    fn finish(builder: Self::Builder) -> ArrayRef {
        builder.finish()
    }
    fn view(array: &dyn Array) -> Option<Self::View<'_>> {
        Bytes::view(array)
    }
    fn get<'a>(view: &Self::View<'a>, row: usize) -> Self::Item<'a> {
        std::str::from_utf8(view.value(row)).unwrap_or_default()
    }
    fn own(item: Self::Item<'_>) -> Self {
        item.into()
    }
}
