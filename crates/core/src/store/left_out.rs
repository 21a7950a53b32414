//! Orders that an operator chose to be without: which they are, how one is dropped, and how it comes back.

use std::time::Duration;

use super::error::UNKNOWN_TABLE;
use super::schema_version::MigrateError;
use super::{StoreError, Writer};
use crate::schema::migrations::{MIGRATIONS, Migration};

/// How long readers that planned with a table may still ask for it.
const NOTICE: Duration = Duration::from_secs(3);

/// What becomes of the tables that may be left out ([`OPTIONAL_TABLES`](crate::schema::OPTIONAL_TABLES)), by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Choice {
    /// Tables to drop, and to be without from now on.
    pub without: Vec<String>,
    /// Tables that were left out, to be made and filled again.
    pub with: Vec<String>,
}

impl Writer {
    /// The tables that are left out; none in a database that does not know of such a choice.
    pub(super) async fn left_out(&self) -> Result<Vec<String>, StoreError> {
        match self.address.client().query_raw("SELECT DISTINCT name FROM left_out_tables").fetch_all().await {
            Ok(names) => Ok(names),
            Err(error) => match StoreError::from(error) {
                StoreError::Refused { code: UNKNOWN_TABLE, .. } => Ok(Vec::new()),
                other => Err(other),
            },
        }
    }

    /// Does what `choice` says; the database has its tables. Returns the names of the steps that ran. Safe to repeat.
    pub(super) async fn choose(&self, choice: &Choice) -> Result<Vec<&'static str>, MigrateError> {
        let left_out = self.left_out().await?;
        for table in choice.without.iter().filter(|table| !left_out.contains(*table)) {
            let parameters = [("name", table.as_str().into())];
            self.execute("INSERT INTO left_out_tables (name) VALUES ({name:String})", &parameters).await?;
            // Programs look every few moments.
            tokio::time::sleep(NOTICE).await;
        }
        for table in &choice.without {
            self.drop_order(table).await?;
        }
        let mut done = Vec::new();
        for table in choice.with.iter().filter(|table| left_out.contains(*table)) {
            // What an interrupted attempt left.
            self.drop_order(table).await?;
            for step in MIGRATIONS.iter().flat_map(Migration::steps).filter(|step| step.is_of(table)) {
                let failed = |source| MigrateError::Step { name: step.name, source };
                self.execute_step(step.sql).await.map_err(failed)?;
                // A row that the view and this write is there twice, which readers bear.
                if let Some(fill) = step.fill_statement() {
                    self.execute_step(&fill).await.map_err(failed)?;
                }
                done.push(step.name);
            }
            let parameters = [("name", table.as_str().into())];
            self.execute("DELETE FROM left_out_tables WHERE name = {name:String}", &parameters).await?;
        }
        Ok(done)
    }

    /// The view first: inserts that meet it need its table.
    async fn drop_order(&self, table: &str) -> Result<(), StoreError> {
        for name in [format!("{table}_from_logs"), table.to_owned()] {
            let parameters = [("name", name.as_str().into())];
            self.execute("DROP TABLE IF EXISTS {name:Identifier} SYNC", &parameters).await?;
        }
        Ok(())
    }
}
