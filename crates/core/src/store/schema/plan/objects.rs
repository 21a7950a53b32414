//! Views, functions and the dictionary that are missing or differ from those of this release.
//!
//! ClickHouse keeps a statement in a form of its own, so both are compared as it writes them.

use std::collections::BTreeMap;

use futures_util::{StreamExt, TryStreamExt, stream};

use crate::schema::OptionalTable;
use crate::schema::analysts::{FUNCTIONS, reads_left_out, stages};
use crate::schema::migrations::Step;
use crate::schema::text_views::SourceView;
use crate::store::schema::comments::literal;
use crate::store::{StoreError, Writer};

/// Maximum number of concurrent statements.
const CONCURRENCY: usize = 8;
/// ClickHouse's code of a statement that it does not know: the embedded engine has no `CHECK GRANT`, and its owner may
/// do everything.
const SYNTAX_ERROR: i32 = 62;

/// A view to compare: its name, and the statement that creates it.
struct ViewStatement {
    name: String,
    sql: String,
}

impl Writer {
    /// The statements about views of this server, of a database without the tables `left_out`.
    pub(super) async fn planned_views(&self, left_out: &[OptionalTable]) -> Result<Vec<String>, StoreError> {
        let mut planned = self.missing_functions().await?;
        let is_lacking = |view: &str| reads_left_out(view, left_out);
        let database = self.address.database.as_str();
        let there = self.statements_of(database).await?;
        let (lacking, made): (Vec<&Step>, Vec<&Step>) = stages().flatten().partition(|step| is_lacking(step.name));
        let lacking = lacking.iter().filter(|step| there.contains_key(step.name));
        planned.extend(lacking.map(|step| format!("DROP VIEW {} SYNC", step.name)));
        let made = made.iter().map(|step| ViewStatement { name: step.name.into(), sql: step.sql.into() });
        let differing = self.differing(made.collect(), &there, database).await?;
        let names: Vec<String> = differing.iter().map(|view| view.name.clone()).collect();
        planned.extend(differing.into_iter().map(|view| view.sql));
        planned.extend(self.planned_text_views(&names, &is_lacking).await?);
        Ok(planned)
    }

    /// Those that this account may create: `migrate` leaves out others too.
    async fn missing_functions(&self) -> Result<Vec<String>, StoreError> {
        let query = self.address.server().query_raw(include_str!("../../../../../../sql/queries/own_functions.sql"));
        let there: Vec<String> = query.fetch_all().await?;
        let missing = FUNCTIONS.iter().filter(|function| !there.iter().any(|name| name == function.name));
        let missing: Vec<String> = missing.map(|function| function.sql.to_owned()).collect();
        let may = missing.is_empty() || self.may("CREATE FUNCTION ON *.*").await?;
        Ok(if may { missing } else { Vec::new() })
    }

    /// The statements about views as text. Those of views that are made anew have the columns of these, which are not
    /// there yet.
    async fn planned_text_views(
        &self,
        made_anew: &[String],
        is_lacking: &(dyn Fn(&str) -> bool + Sync),
    ) -> Result<Vec<String>, StoreError> {
        let database = self.text_database();
        let query =
            self.address.server().query_raw(include_str!("../../../../../../sql/queries/objects_of_database.sql"));
        let objects: Vec<(String, String)> = query.param("database", &database).fetch_all().await?;
        let rights = format!("CREATE DATABASE, CREATE VIEW, DROP VIEW ON `{database}`.*");
        if objects.iter().any(|(_, engine)| engine != "View") || !self.may(&rights).await? {
            return Ok(Vec::new());
        }
        let there = self.statements_of(&database).await?;
        let views: Vec<SourceView> = self.views().await?.into_iter().filter(|view| !is_lacking(&view.name)).collect();
        let of_database = &self.address.database;
        let shown = views.iter().filter(|view| !made_anew.contains(&view.name));
        let shown = shown.filter_map(|view| {
            Some(ViewStatement { name: view.shown_as()?.into(), sql: view.text_view(of_database)? })
        });
        let differing = self.differing(shown.collect(), &there, &database).await?.into_iter().map(|view| view.sql);
        let anew = made_anew.iter().filter_map(|view| Some((view, shown_as(view)?)));
        let anew = anew.map(|(view, shown)| {
            format!("CREATE OR REPLACE VIEW `{database}`.`{shown}` AS SELECT … FROM `{of_database}`.`{view}`")
        });
        let is_shown = |name: &str| {
            let mut names = views.iter().map(|view| view.name.as_str()).chain(made_anew.iter().map(String::as_str));
            names.any(|view| shown_as(view) == Some(name))
        };
        let gone = there.keys().filter(|name| !is_shown(name));
        let gone = gone.map(|name| format!("DROP VIEW `{database}`.`{name}` SYNC"));
        Ok(differing.chain(anew).chain(gone).collect())
    }

    /// Which of these views are missing or created by another statement.
    async fn differing(
        &self,
        expected: Vec<ViewStatement>,
        there: &BTreeMap<String, String>,
        database: &str,
    ) -> Result<Vec<ViewStatement>, StoreError> {
        let differing = |view: ViewStatement| async move {
            let Some(found) = there.get(&view.name) else { return Ok::<_, StoreError>(Some(view)) };
            let formatted = self.formatted(&view.sql).await?;
            let texts =
                [&self.address.database, database].iter().fold([found.clone(), formatted], |texts, database| {
                    texts.map(|text| without_database(&text, database))
                });
            Ok((texts[0] != texts[1]).then_some(view))
        };
        let looked: Vec<Option<ViewStatement>> =
            stream::iter(expected).map(differing).buffered(CONCURRENCY).try_collect::<Vec<_>>().await?;
        Ok(looked.into_iter().flatten().collect())
    }

    /// The statements that created the views of a database, by name.
    async fn statements_of(&self, database: &str) -> Result<BTreeMap<String, String>, StoreError> {
        let query =
            self.address.server().query_raw(include_str!("../../../../../../sql/queries/statements_of_objects.sql"));
        let rows: Vec<(String, String)> = query.param("database", database).fetch_all().await?;
        Ok(rows.into_iter().map(|(name, statement)| (name, comparable(&statement))).collect())
    }

    /// A statement as ClickHouse writes it. It is part of the text, as parameters are of limited length.
    async fn formatted(&self, sql: &str) -> Result<String, StoreError> {
        let query = self.address.server().query_raw(&format!("SELECT formatQuerySingleLine({})", literal(sql)));
        Ok(comparable(&query.fetch_one::<String>().await?))
    }

    /// Whether the account has these rights.
    async fn may(&self, rights: &str) -> Result<bool, StoreError> {
        let query = self.address.server().query_raw(&format!("CHECK GRANT {rights}"));
        match query.fetch_one::<u8>().await.map_err(StoreError::from) {
            Ok(is_granted) => Ok(is_granted == 1),
            Err(StoreError::Refused { code: SYNTAX_ERROR, .. }) => Ok(true),
            Err(error) => Err(error),
        }
    }
}

fn shown_as(view: &str) -> Option<&str> {
    SourceView::shown_name(view)
}

/// A statement without `OR REPLACE`, and without the account that the dictionary reads as.
fn comparable(statement: &str) -> String {
    let statement = statement.replacen("CREATE OR REPLACE ", "CREATE ", 1);
    let account = statement.split_once("(CLICKHOUSE(USER ").and_then(|(before, rest)| {
        let (_, after) = rest.split_once(" TABLE ")?;
        Some(format!("{before}(CLICKHOUSE(TABLE {after}"))
    });
    account.unwrap_or(statement)
}

/// A statement without the name of the database in front of its tables, quoted or not.
fn without_database(statement: &str, database: &str) -> String {
    statement.replace(&format!("`{database}`."), "").replace(&format!("{database}."), "")
}
