//! Command-line flags that `trawl-api` and `trawl-ingest` share. Above all floors: only `main` uses this module.

use std::path::PathBuf;

use clap::Args;

pub mod renamed;
pub mod units;

use crate::store::{Compression, StoreAddress};

/// Address and credentials of ClickHouse. Each flag has an environment variable of its own; where other tools have
/// one for the same purpose, theirs works too.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "ClickHouse")]
pub struct StoreFlags {
    /// ClickHouse HTTP endpoint (also CLICKHOUSE_URL) [default: http://127.0.0.1:8123].
    #[arg(long, env = "TRAWL_CLICKHOUSE_URL", global = true)]
    clickhouse_url: Option<String>,
    /// Database with the tables.
    #[arg(long, env = "TRAWL_CLICKHOUSE_DATABASE", default_value = "trawl", global = true)]
    clickhouse_database: String,
    /// User (also CLICKHOUSE_USER) [default: default].
    #[arg(long, env = "TRAWL_CLICKHOUSE_USER", global = true)]
    clickhouse_user: Option<String>,
    /// Password (also CLICKHOUSE_PASSWORD).
    #[arg(long, env = "TRAWL_CLICKHOUSE_PASSWORD", hide_env_values = true, global = true)]
    clickhouse_password: Option<String>,
    /// File whose first line is the password.
    #[arg(long, env = "TRAWL_CLICKHOUSE_PASSWORD_FILE", global = true)]
    clickhouse_password_file: Option<PathBuf>,
}

/// The file of `--clickhouse-password-file` cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("cannot read the password from {}", path.display())]
pub struct PasswordFileError {
    path: PathBuf,
    source: std::io::Error,
}

impl StoreFlags {
    /// The address; reads the password file if one is named.
    ///
    /// # Errors
    ///
    /// If the password file cannot be read.
    pub fn address(&self) -> Result<StoreAddress, PasswordFileError> {
        let password = match &self.clickhouse_password_file {
            Some(path) => std::fs::read_to_string(path)
                .map_err(|source| PasswordFileError { path: path.clone(), source })?
                .lines()
                .next()
                .map(str::to_owned),
            None => self.clickhouse_password.clone().or_else(|| well_known("CLICKHOUSE_PASSWORD")),
        };
        let given = |flag: &Option<String>, name, default: &str| {
            flag.clone().or_else(|| well_known(name)).unwrap_or_else(|| default.into())
        };
        Ok(StoreAddress {
            url: given(&self.clickhouse_url, "CLICKHOUSE_URL", "http://127.0.0.1:8123"),
            database: self.clickhouse_database.clone(),
            user: given(&self.clickhouse_user, "CLICKHOUSE_USER", "default"),
            password: password.unwrap_or_default(),
            compression: Compression::Auto,
        })
    }
}

/// An environment variable that other tools read too; an empty value means unset.
#[must_use]
pub fn well_known(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}
