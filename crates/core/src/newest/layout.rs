//! The columns of a table. Blocks share them: thousands of copies would not stay in the processor's caches, and each
//! read looks columns up in every block.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use arrow::datatypes::{Field, SchemaRef};
use arrow::error::ArrowError;

/// Columns by position and by name.
#[derive(Debug)]
pub(super) struct Layout {
    schema: SchemaRef,
    positions: HashMap<String, usize>,
}

/// The layout of each table that the newest blocks have: no more than there are such tables.
static SHARED: LazyLock<Mutex<HashMap<&'static str, Arc<Layout>>>> = LazyLock::new(Mutex::default);

impl Layout {
    /// The layout of a table whose rows have this schema; that of the blocks before, unless another program wrote them.
    pub fn shared(table: &'static str, schema: &SchemaRef) -> Arc<Self> {
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(layout) = shared.get(table).filter(|layout| layout.schema == *schema) {
            return Arc::clone(layout);
        }
        let layout = Arc::new(Self::of(schema));
        shared.insert(table, Arc::clone(&layout));
        layout
    }

    fn of(schema: &SchemaRef) -> Self {
        let names = schema.fields().iter().enumerate();
        let positions = names.map(|(position, field)| (field.name().clone(), position)).collect();
        Self { schema: Arc::clone(schema), positions }
    }

    /// Where a column is.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.positions.get(name).copied()
    }

    /// Where a column is.
    ///
    /// # Errors
    ///
    /// If there is no such column.
    pub fn require(&self, name: &str) -> Result<usize, ArrowError> {
        self.position(name).ok_or_else(|| ArrowError::SchemaError(format!("no column {name}")))
    }

    /// The column at a position.
    pub fn field(&self, position: usize) -> &Arc<Field> {
        &self.schema.fields()[position]
    }
}

#[cfg(test)]
mod tests {
    use arrow::datatypes::{DataType, Schema};

    use super::*;

    fn schema(names: &[&str]) -> SchemaRef {
        let fields: Vec<Field> = names.iter().map(|name| Field::new(*name, DataType::UInt64, false)).collect();
        Arc::new(Schema::new(fields))
    }

    #[test]
    fn blocks_share_the_columns_of_a_table() {
        let first = Layout::shared("layout_test", &schema(&["a", "b"]));
        assert!(Arc::ptr_eq(&first, &Layout::shared("layout_test", &schema(&["a", "b"]))));
        let other = Layout::shared("layout_test", &schema(&["b", "c", "a"]));
        assert_eq!((first.position("b"), other.position("b"), other.position("x")), (Some(1), Some(0), None));
        assert!(other.require("x").is_err() && other.field(1).name() == "c");
    }
}
