//! Creates the role of readers on a ClickHouse server.

use super::version::MigrateError;
use crate::schema::reader_account::READER_ACCOUNT;
use crate::store::{StoreError, Writer};

/// ClickHouse's codes where users and roles cannot be stored or changed: answers of the embedded engine.
const NOWHERE_TO_KEEP: [i32; 2] = [495, 514];

impl Writer {
    /// Makes the role `trawl_reader`, which may read this database and its text views, with its limits. What is there
    /// stays as it is; the two are added to it.
    ///
    /// # Errors
    ///
    /// If there are no roles, the user may not make any, or ClickHouse refuses a statement.
    pub async fn make_reader_account(&self) -> Result<(), MigrateError> {
        for node in self.on_each_replica() {
            node.make_own_reader_account().await?;
        }
        Ok(())
    }

    /// [`Writer::make_reader_account`] on this server.
    async fn make_own_reader_account(&self) -> Result<(), MigrateError> {
        for step in READER_ACCOUNT {
            let run = async {
                self.execute_step(step.sql).await?;
                if step.name == "grant_database" { self.grant_text_views(step.sql).await } else { Ok(()) }
            };
            run.await.map_err(|source| match source {
                StoreError::Refused { code, .. } if NOWHERE_TO_KEEP.contains(&code) => MigrateError::NoRoles,
                StoreError::NotAllowed { message } => MigrateError::MayNotMakeRoles { message },
                source => MigrateError::Step { name: step.name, source },
            })?;
        }
        Ok(())
    }
}
