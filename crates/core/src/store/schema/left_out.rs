//! Optional tables that an operator left out: their names, how a table is dropped, and how it is restored.

use std::time::Duration;

use super::version::MigrateError;
use crate::schema::OptionalTable;
use crate::schema::migrations::{MIGRATIONS, Migration, VIEWS};
use crate::store::error::UNKNOWN_TABLE;
use crate::store::{ClusterLayout, StoreError, Writer};

/// How long readers may still query a table after it is marked as left out.
const READER_GRACE: Duration = Duration::from_secs(3);

/// Changes to the set of optional tables.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Choice {
    /// Tables to drop, and to leave out from now on.
    pub without: Vec<OptionalTable>,
    /// Tables to create and fill again.
    pub with: Vec<OptionalTable>,
}

impl Writer {
    /// The tables that are left out; none in a database without the list.
    pub(crate) async fn left_out(&self) -> Result<Vec<OptionalTable>, StoreError> {
        let query = self.address.client().query_raw("SELECT DISTINCT name FROM left_out_tables");
        match query.fetch_all::<String>().await {
            Ok(names) => Ok(names.iter().filter_map(|name| OptionalTable::from_name(name)).collect()),
            Err(error) => match StoreError::from(error) {
                StoreError::Refused { code: UNKNOWN_TABLE, .. } => Ok(Vec::new()),
                other => Err(other),
            },
        }
    }

    /// Says that a table is not there; safe to repeat.
    pub(crate) async fn remember_left_out(&self, table: OptionalTable) -> Result<(), StoreError> {
        self.execute("INSERT INTO left_out_tables (name) VALUES ({name:String})", &[("name", table.name().into())])
            .await
    }

    /// Applies `choice` to a database with all its tables. Returns the names of the steps that ran. Safe to repeat.
    pub(crate) async fn choose(
        &self,
        choice: &Choice,
        layout: Option<&ClusterLayout>,
    ) -> Result<Vec<&'static str>, MigrateError> {
        let left_out = self.left_out().await?;
        for &table in choice.without.iter().filter(|table| !left_out.contains(*table)) {
            self.remember_left_out(table).await?;
            // Programs read the list in short intervals.
            tokio::time::sleep(READER_GRACE).await;
        }
        for &table in &choice.without {
            self.drop_order(table).await?;
        }
        let mut done = Vec::new();
        for &table in choice.with.iter().filter(|table| left_out.contains(*table)) {
            // Remainders of an interrupted attempt.
            self.drop_order(table).await?;
            for step in MIGRATIONS.iter().flat_map(Migration::steps).filter(|step| step.is_of(table.name())) {
                let failed = |source| MigrateError::Step { name: step.name, source };
                self.create(layout, step.name, step.sql).await.map_err(failed)?;
                // A row that both the view and this statement write is stored twice, which readers tolerate.
                if let Some(fill) = step.fill_statement() {
                    self.execute_step(&fill).await.map_err(failed)?;
                }
                done.push(step.name);
            }
            let parameters = [("name", table.name().into())];
            self.execute("DELETE FROM left_out_tables WHERE name = {name:String}", &parameters).await?;
        }
        Ok(done)
    }

    /// Drops a view before its table: an insert that triggers the view needs the table.
    async fn drop_order(&self, table: OptionalTable) -> Result<(), StoreError> {
        for name in VIEWS.iter().map(|view| format!("{table}{view}")).chain([table.name().to_owned()]) {
            let parameters = [("name", name.as_str().into())];
            let drop = "DROP TABLE IF EXISTS {name:Identifier} SYNC";
            for node in self.on_each_replica().into_iter().chain(self.replicas_of(table.name())) {
                node.execute(drop, &parameters).await?;
            }
        }
        Ok(())
    }
}
