//! The statements of this release that create tables.

use crate::schema::hot::HOT_TABLES;
use crate::schema::migrations::{CREATE_SCHEMA_MIGRATIONS, MIGRATIONS, Migration};

/// All of them by the name of their table, and those of steps that create none.
pub(super) fn statements() -> impl Iterator<Item = (String, String)> {
    let steps = MIGRATIONS.iter().flat_map(Migration::steps).map(|step| (step.name.to_owned(), step.sql.to_owned()));
    let hot = HOT_TABLES.iter().map(|table| (table.name(), table.create_statement()));
    let own = [("schema_migrations".to_owned(), CREATE_SCHEMA_MIGRATIONS.to_owned())];
    steps.chain(hot).chain(own)
}
