//! Makes the database of text views beside a chain's database.

use crate::schema::text_views::{SourceColumn, SourceView, TEXT_DATABASE};
use crate::store::error::UNKNOWN_DATABASE;
use crate::store::{StoreError, Writer};

/// What the database of text views is.
const COMMENT: &str = "views of another database as text and numbers, replaced by each trawl-ingest migrate";

impl Writer {
    /// The name of the database of text views.
    pub(super) fn text_database(&self) -> String {
        format!("{}{TEXT_DATABASE}", self.address.database)
    }

    /// Makes a text view of each view, and drops those whose views are gone. A user who may not, and a database of that
    /// name with something else in it, get a warning.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses a statement.
    pub(crate) async fn make_text_views(&self) -> Result<(), StoreError> {
        match self.replace_text_views().await {
            Err(refusal @ StoreError::NotAllowed { .. }) => {
                let database = self.text_database();
                tracing::warn!(%refusal, database, "views as text are not created; docs/operate/clickhouse-server.md \
                                                    has the required grants");
                Ok(())
            }
            other => other,
        }
    }

    async fn replace_text_views(&self) -> Result<(), StoreError> {
        let database = self.text_database();
        let query = self.address.server().query_raw(include_str!("../../../../../sql/queries/objects_of_database.sql"));
        let there: Vec<(String, String)> = query.param("database", &database).fetch_all().await?;
        if there.iter().any(|(_, engine)| engine != "View") {
            tracing::warn!(database, "the database has other tables, so views as text are not created in it");
            return Ok(());
        }
        let create = format!("CREATE DATABASE IF NOT EXISTS {{database:Identifier}} COMMENT '{COMMENT}'");
        self.execute(&create, &[("database", database.as_str().into())]).await?;
        let views = self.views().await?;
        let statements = views.iter().filter_map(|view| view.text_view(&self.address.database));
        self.execute_all(statements).await?;
        for (name, _) in there.iter().filter(|(name, _)| !views.iter().any(|view| view.shown_as() == Some(name))) {
            let parameters = [("database", database.as_str().into()), ("name", name.as_str().into())];
            self.execute("DROP VIEW IF EXISTS {database:Identifier}.{name:Identifier} SYNC", &parameters).await?;
        }
        Ok(())
    }

    /// The views of this database, with their columns.
    pub(super) async fn views(&self) -> Result<Vec<SourceView>, StoreError> {
        let query = self.address.client().query_raw(include_str!("../../../../../sql/queries/view_columns.sql"));
        let rows: Vec<(String, String, String, String, String)> = query.fetch_all().await?;
        let mut views: Vec<SourceView> = Vec::new();
        for (view, view_comment, name, of, comment) in rows {
            if views.last().is_none_or(|last| last.name != view) {
                views.push(SourceView { name: view, comment: view_comment, columns: Vec::new() });
            }
            if let Some(last) = views.last_mut() {
                last.columns.push(SourceColumn { name, of, comment });
            }
        }
        Ok(views)
    }

    /// Lets readers of a ClickHouse server read the text views, if there are any: `grant` is of the current database.
    pub(crate) async fn grant_text_views(&self, grant: &str) -> Result<(), StoreError> {
        let client = self.address.server().with_database(self.text_database());
        match client.query_raw(grant).execute().await.map_err(StoreError::from) {
            Err(StoreError::Refused { code: UNKNOWN_DATABASE, .. }) => Ok(()),
            other => other,
        }
    }
}
