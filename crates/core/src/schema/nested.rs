//! Columns of values that may be absent, and of lists.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, ListArray, make_array};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{DataType, Field};

use super::column::{Column, offsets};

/// Values, and which of them are not NULL.
#[derive(Debug, Default)]
pub struct OptionBuilder<B> {
    values: B,
    valid: Vec<bool>,
}

/// Values and, if any is NULL, which.
#[derive(Debug)]
pub struct OptionView<'a, V> {
    values: V,
    nulls: Option<&'a NullBuffer>,
}

impl<T: Column> Column for Option<T> {
    type Builder = OptionBuilder<T::Builder>;
    type View<'a> = OptionView<'a, T::View<'a>>;
    type Item<'a> = Option<T::Item<'a>>;

    fn clickhouse_type() -> String {
        format!("Nullable({})", T::clickhouse_type())
    }
    fn arrow_type() -> DataType {
        T::arrow_type()
    }
    fn is_nullable() -> bool {
        true
    }
    fn append(builder: &mut Self::Builder, value: Self) {
        builder.valid.push(value.is_some());
        match value {
            Some(value) => T::append(&mut builder.values, value),
            None => T::append_default(&mut builder.values),
        }
    }
    fn append_default(builder: &mut Self::Builder) {
        Self::append(builder, None);
    }
    fn finish(builder: Self::Builder) -> ArrayRef {
        let data = T::finish(builder.values).into_data().into_builder();
        let data = data.nulls(Some(NullBuffer::from(builder.valid))).build();
        make_array(data.expect("as many validity bits as values"))
    }
    fn view(array: &dyn Array) -> Option<Self::View<'_>> {
        Some(OptionView { values: T::view(array)?, nulls: array.nulls() })
    }
    fn get<'a>(view: &Self::View<'a>, row: usize) -> Self::Item<'a> {
        view.nulls.is_none_or(|nulls| nulls.is_valid(row)).then(|| T::get(&view.values, row))
    }
    fn own(item: Self::Item<'_>) -> Self {
        item.map(T::own)
    }
}

/// Items of all lists in one run, and where each list ends.
#[derive(Debug, Default)]
pub struct ListBuilder<B> {
    items: B,
    ends: Vec<i32>,
    count: i32,
}

/// Lists of a column.
#[derive(Debug)]
pub struct ListView<'a, V> {
    offsets: &'a [i32],
    items: V,
}

/// The items of one list.
#[derive(Debug)]
pub struct Items<'v, 'a, T: Column> {
    items: &'v T::View<'a>,
    range: std::ops::Range<usize>,
}

impl<'a, T: Column> Iterator for Items<'_, 'a, T> {
    type Item = T::Item<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        self.range.next().map(|at| T::get(self.items, at))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.range.size_hint()
    }
}

impl<T: Column> ExactSizeIterator for Items<'_, '_, T> {}

impl<'a, V> ListView<'a, V> {
    /// The items of the list at `row`; panics beyond the end.
    pub fn items<'v, T: Column<View<'a> = V>>(&'v self, row: usize) -> Items<'v, 'a, T> {
        let index = |at: usize| usize::try_from(self.offsets[at]).expect("offsets are not negative");
        Items { items: &self.items, range: index(row)..index(row + 1) }
    }
}

impl<T: Column> Column for Vec<T> {
    type Builder = ListBuilder<T::Builder>;
    type View<'a> = ListView<'a, T::View<'a>>;
    type Item<'a> = Vec<T::Item<'a>>;

    fn clickhouse_type() -> String {
        format!("Array({})", T::clickhouse_type())
    }
    fn arrow_type() -> DataType {
        DataType::List(Arc::new(Field::new("item", T::arrow_type(), T::is_nullable())))
    }
    fn append(builder: &mut Self::Builder, value: Self) {
        for item in value {
            T::append(&mut builder.items, item);
            builder.count += 1;
        }
        builder.ends.push(builder.count);
    }
    fn append_default(builder: &mut Self::Builder) {
        builder.ends.push(builder.count);
    }
    fn finish(builder: Self::Builder) -> ArrayRef {
        let field = Arc::new(Field::new("item", T::arrow_type(), T::is_nullable()));
        Arc::new(ListArray::new(field, offsets(builder.ends), T::finish(builder.items), None))
    }
    fn view(array: &dyn Array) -> Option<Self::View<'_>> {
        let list = array.as_list_opt::<i32>()?;
        Some(ListView { offsets: list.value_offsets(), items: T::view(list.values().as_ref())? })
    }
    fn get<'a>(view: &Self::View<'a>, row: usize) -> Self::Item<'a> {
        view.items::<T>(row).collect()
    }
    fn own(item: Self::Item<'_>) -> Self {
        item.into_iter().map(T::own).collect()
    }
}
