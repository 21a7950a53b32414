//! Makes the functions, the dictionary and the views for people who write SQL.

use super::version::MigrateError;
use crate::schema::analysts::{FUNCTIONS, reads_left_out, stages};
use crate::schema::migrations::Step;
use crate::store::{StoreError, Writer};

impl Writer {
    /// Makes them, or makes them anew. Views of a table that is left out are dropped. Functions belong to the whole
    /// server: one that is there already stays, and a user who may not make any gets a warning.
    ///
    /// # Errors
    ///
    /// If ClickHouse refuses a view or the dictionary.
    pub(crate) async fn make_views(&self) -> Result<(), MigrateError> {
        for function in FUNCTIONS {
            match self.execute_step(function.sql).await {
                Ok(()) => {}
                Err(refusal @ StoreError::NotAllowed { .. }) => {
                    tracing::warn!(%refusal, "SQL functions are not created; docs/reference/sql.md has their \
                                              expressions");
                    break;
                }
                Err(failure) => return Err(MigrateError::Step { name: function.name, source: failure }),
            }
        }
        let left_out = self.left_out().await?;
        for stage in stages() {
            let (lacking, made): (Vec<&Step>, Vec<&Step>) =
                stage.iter().partition(|step| reads_left_out(step.name, &left_out));
            for step in lacking {
                let parameters = [("name", step.name.into())];
                let dropped = self.execute("DROP VIEW IF EXISTS {name:Identifier} SYNC", &parameters).await;
                dropped.map_err(|source| MigrateError::Step { name: step.name, source })?;
            }
            let name = made.first().map_or("views", |step| step.name);
            let done = self.execute_all(made.iter().map(|step| step.sql.to_owned())).await;
            done.map_err(|source| MigrateError::Step { name, source })?;
        }
        let readable = self.make_dictionary_readable().await;
        readable.map_err(|source| MigrateError::Step { name: "token_facts", source })?;
        self.make_text_views().await.map_err(|source| MigrateError::Step { name: "text views", source })
    }

    /// Runs the statement of a view of an event ([`event_view`](crate::schema::event_view::event_view)), unless
    /// something else has its name. Whether it was made.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement.
    pub async fn make_event_view(&self, name: &str, statement: &str) -> Result<bool, StoreError> {
        let query =
            self.address.client().query_raw(include_str!("../../../../../sql/queries/other_objects_of_name.sql"));
        let others: u64 = query.param("name", name).fetch_one().await?;
        if others == 0 {
            for node in self.on_each_replica() {
                node.execute_step(statement).await?;
                node.make_text_views().await?;
            }
        }
        Ok(others == 0)
    }
}
