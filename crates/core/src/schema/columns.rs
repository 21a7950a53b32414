//! One declaration for a row: its struct, the builder that makes record batches of it, and the view that reads them.

use arrow::array::RecordBatch;

/// Rows of a table or of a query's result.
pub trait Columns: Sized {
    /// Borrowed, checked columns of a record batch.
    type View<'a>;

    /// Column names, in the order of declaration.
    fn names() -> &'static [&'static str];
    /// `(name, ClickHouse type)` of every column; `LowCardinality` is left out.
    fn clickhouse_types() -> Vec<(&'static str, String)>;
    /// Checks that `batch` has these columns with these types.
    ///
    /// # Errors
    ///
    /// Names the first column that is missing or has another type.
    fn view(batch: &RecordBatch) -> Result<Self::View<'_>, ColumnMismatch>;
    /// The row at a position as values of its own; panics beyond the end.
    fn row(view: &Self::View<'_>, row: usize) -> Self;
    /// The columns as SQL, comma-separated.
    fn select_list() -> String {
        Self::names().join(", ")
    }
}

/// Rows that a table stores.
pub trait Table: Columns {
    /// The tables that store such rows, each in an order of its own.
    const NAMES: &'static [&'static str];
    /// Collects rows into a record batch.
    type Builder: Default + Send;

    /// Adds a row.
    fn push(builder: &mut Self::Builder, row: Self);
    /// The rows so far as one batch.
    fn finish(builder: Self::Builder) -> RecordBatch;
}

/// A result does not have the expected columns.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("column `{name}` is {found} where {expected} was expected: is the schema of another version?")]
pub struct ColumnMismatch {
    /// Name of the first column that differs.
    pub name: &'static str,
    /// The expected ClickHouse type.
    pub expected: String,
    /// The Arrow type in the batch, or `missing`.
    pub found: String,
}

/// Declares a row struct and its view.
#[macro_export]
macro_rules! columns {
    (
        $(#[$meta:meta])*
        pub struct $Row:ident / $View:ident {
            $($(#[$field_meta:meta])* $name:ident: $type:ty,)*
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct $Row {
            $($(#[$field_meta])* pub $name: $type,)*
        }

        #[doc = concat!("Columns of [`", stringify!($Row), "`] in a record batch.")]
        #[derive(Debug)]
        pub struct $View<'a> {
            $($(#[$field_meta])* pub $name: <$type as $crate::schema::Column>::View<'a>,)*
        }

        impl $crate::schema::Columns for $Row {
            type View<'a> = $View<'a>;

            fn names() -> &'static [&'static str] {
                &[$(stringify!($name)),*]
            }
            fn clickhouse_types() -> Vec<(&'static str, String)> {
                vec![$((stringify!($name), <$type as $crate::schema::Column>::clickhouse_type())),*]
            }
            fn view(batch: &arrow::array::RecordBatch) -> Result<$View<'_>, $crate::schema::ColumnMismatch> {
                Ok($View {
                    $($name: $crate::schema::columns::column::<$type>(batch, stringify!($name))?,)*
                })
            }
            fn row(view: &Self::View<'_>, row: usize) -> Self {
                use $crate::schema::Column as _;
                $Row { $($name: <$type>::own(<$type>::get(&view.$name, row)),)* }
            }
        }
    };
}
pub use columns;

/// Declares the rows of a table: what [`columns!`] declares, and a builder.
#[macro_export]
macro_rules! table {
    (
        $(#[$meta:meta])*
        pub struct $Row:ident / $View:ident / $Builder:ident in $($table:literal)+ {
            $($(#[$field_meta:meta])* $name:ident: $type:ty,)*
        }
    ) => {
        $crate::schema::columns::columns! {
            $(#[$meta])*
            pub struct $Row / $View {
                $($(#[$field_meta])* $name: $type,)*
            }
        }

        #[doc = concat!("Collects rows of [`", stringify!($Row), "`].")]
        #[derive(Debug, Default)]
        pub struct $Builder {
            $($name: <$type as $crate::schema::Column>::Builder,)*
        }

        impl $crate::schema::Table for $Row {
            const NAMES: &'static [&'static str] = &[$($table),+];
            type Builder = $Builder;

            fn push(builder: &mut $Builder, row: Self) {
                $(<$type as $crate::schema::Column>::append(&mut builder.$name, row.$name);)*
            }
            fn finish(builder: $Builder) -> arrow::array::RecordBatch {
                $crate::schema::columns::record_batch(vec![
                    $($crate::schema::columns::named::<$type>(stringify!($name), builder.$name)),*
                ])
            }
        }
    };
}
pub use table;

use super::Column;
use arrow::array::ArrayRef;
use arrow::datatypes::{Field, Schema};
use std::sync::Arc;

/// For the macro: finds and checks one column.
///
/// # Errors
///
/// If the column is missing or has another type.
pub fn column<'a, T: Column>(batch: &'a RecordBatch, name: &'static str) -> Result<T::View<'a>, ColumnMismatch> {
    let array = batch.column_by_name(name);
    array.and_then(|array| T::view(array.as_ref())).ok_or_else(|| ColumnMismatch {
        name,
        expected: T::clickhouse_type(),
        found: array.map_or_else(|| "missing".into(), |array| array.data_type().to_string()),
    })
}

/// For the macro: one finished column with its field.
pub fn named<T: Column>(name: &'static str, builder: T::Builder) -> (Field, ArrayRef) {
    (Field::new(name, T::arrow_type(), T::is_nullable()), T::finish(builder))
}

/// For the macro: columns of equal length as a batch.
pub fn record_batch(columns: Vec<(Field, ArrayRef)>) -> RecordBatch {
    let (fields, arrays): (Vec<_>, Vec<_>) = columns.into_iter().unzip();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).expect("every row fills every column")
}
