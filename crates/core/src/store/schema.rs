//! The schema in the database: its version, migrations, what is left out, views and accounts.

pub(crate) mod analysts;
mod comments;
mod expected_schema;
pub(crate) mod left_out;
pub(crate) mod migrate;
pub(crate) mod plan;
pub(crate) mod reader_account;
mod settings;
pub(crate) mod text_views;
pub(crate) mod version;
