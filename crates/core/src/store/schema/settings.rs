//! Corrects settings of existing tables to those of this release.

use std::collections::BTreeMap;

use super::expected_schema::statements;
use crate::schema::settings::{changeable_settings, name_on_engine, stored_settings};
use crate::store::{StoreError, Writer};

impl Writer {
    /// Changes settings of tables that differ from those of this release; what an operator set besides stays. Only
    /// metadata changes.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses a statement.
    pub(crate) async fn correct_settings(&self) -> Result<(), StoreError> {
        for (node, sql) in self.setting_corrections().await? {
            node.execute(&sql, &[]).await?;
        }
        Ok(())
    }

    /// The statements for this, each with a writer of the database that it runs in.
    pub(crate) async fn setting_corrections(&self) -> Result<Vec<(Self, String)>, StoreError> {
        let mut corrections = Vec::new();
        for node in self.with_local_databases() {
            let query = node.address.client().query_raw(include_str!("../../../../../sql/queries/engines.sql"));
            let engines: BTreeMap<String, String> = query.fetch_all::<(String, String)>().await?.into_iter().collect();
            for (table, create) in statements() {
                let Some(engine) = engines.get(&table) else { continue };
                let changes = changes(&create, engine);
                if !changes.is_empty() {
                    let alter = format!("ALTER TABLE {table} MODIFY SETTING {}", changes.join(", "));
                    corrections.push((node.clone(), alter));
                }
            }
        }
        Ok(corrections)
    }
}

/// Missing settings of a table, as clauses of `MODIFY SETTING`.
fn changes(create: &str, engine_full: &str) -> Vec<String> {
    let found = stored_settings(engine_full);
    let expected = changeable_settings(create).into_iter();
    let differs = expected.filter(|(name, value)| found.get(name) != Some(value));
    differs.map(|(name, value)| format!("{} = {value}", name_on_engine(engine_full, &name))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_differs_is_changed() {
        let create = "CREATE TABLE t\nSETTINGS\n    index_granularity = 8,\n    a = 1,\n    b = 2\nCOMMENT ''";
        assert_eq!(changes(create, "MergeTree ORDER BY k SETTINGS index_granularity = 9, a = 1, own = 7"), ["b = 2"]);
        assert!(changes(create, "MergeTree ORDER BY k SETTINGS b = 2, a = 1").is_empty());
    }
}
