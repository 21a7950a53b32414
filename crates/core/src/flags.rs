//! Command-line flags that `trawl-api` and `trawl-ingest` share. Above all floors: only `main` uses this module.

use std::path::PathBuf;

use clap::Args;

pub mod exit_codes;
pub mod renamed;
pub mod units;

use crate::store::{Compression, StoreAddress};

/// Address and credentials of ClickHouse. Each flag has an environment variable of its own; where other tools have
/// one for the same purpose, theirs works too.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "ClickHouse")]
pub struct StoreFlags {
    /// ClickHouse HTTP endpoint (also CLICKHOUSE_URL) [default: http://127.0.0.1:8123]. trawl-api takes several
    /// endpoints of the same database, separated by commas, and uses the next one when one fails.
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

/// The flags of ClickHouse cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreFlagsError {
    /// The file of `--clickhouse-password-file` cannot be read.
    #[error("cannot read the password from {}", path.display())]
    PasswordFile {
        /// Value of `--clickhouse-password-file`.
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// An address is not one of HTTP.
    #[error("--clickhouse-url {url}: write http://host:8123, or https://")]
    NotHttp {
        /// The address without what may be secret.
        url: String,
    },
    /// A program that writes was given several addresses.
    #[error(
        "--clickhouse-url has {0} addresses, but a program that writes needs exactly one: only trawl-api takes several"
    )]
    SeveralAddresses(usize),
}

impl StoreFlags {
    /// The one address; reads the password file if one is named.
    ///
    /// # Errors
    ///
    /// If there are several, or the password file cannot be read.
    pub fn address(&self) -> Result<StoreAddress, StoreFlagsError> {
        let mut addresses = self.addresses()?;
        match addresses.len() {
            1 => Ok(addresses.remove(0)),
            several => Err(StoreFlagsError::SeveralAddresses(several)),
        }
    }

    /// The file of the password, if one is named.
    #[must_use]
    pub fn password_file(&self) -> Option<&std::path::Path> {
        self.clickhouse_password_file.as_deref()
    }

    /// The addresses, one at least; reads the password file if one is named.
    ///
    /// # Errors
    ///
    /// If the password file cannot be read.
    pub fn addresses(&self) -> Result<Vec<StoreAddress>, StoreFlagsError> {
        let password = match &self.clickhouse_password_file {
            Some(path) => std::fs::read_to_string(path)
                .map_err(|source| StoreFlagsError::PasswordFile { path: path.clone(), source })?
                .lines()
                .next()
                .map(str::to_owned),
            None => self.clickhouse_password.clone().or_else(|| well_known("CLICKHOUSE_PASSWORD")),
        };
        let given = |flag: &Option<String>, name, default: &str| {
            flag.clone().or_else(|| well_known(name)).unwrap_or_else(|| default.into())
        };
        let urls = given(&self.clickhouse_url, "CLICKHOUSE_URL", "http://127.0.0.1:8123");
        let address = |url: &str| StoreAddress {
            url: url.trim().into(),
            database: self.clickhouse_database.clone(),
            user: given(&self.clickhouse_user, "CLICKHOUSE_USER", "default"),
            password: password.clone().unwrap_or_default(),
            compression: Compression::Auto,
        };
        urls.trim_end_matches(',').split(',').map(|url| has_http(address(url))).collect()
    }
}

/// The address, if HTTP is spoken there and it names a host.
fn has_http(address: StoreAddress) -> Result<StoreAddress, StoreFlagsError> {
    let is_http = ["http://", "https://"].iter().any(|scheme| address.url.starts_with(scheme));
    if is_http && !address.host().is_empty() {
        return Ok(address);
    }
    let scheme = address.url.split_once("://").map_or("", |(scheme, _)| scheme);
    let url = if scheme.is_empty() { address.host().to_owned() } else { format!("{scheme}://{}", address.host()) };
    Err(StoreFlagsError::NotHttp { url })
}

impl StoreFlagsError {
    /// Whether the command line has to change, and not a file.
    #[must_use]
    pub fn is_usage(&self) -> bool {
        matches!(self, Self::NotHttp { .. } | Self::SeveralAddresses(_))
    }
}

/// An environment variable that other tools read too; an empty value means unset.
#[must_use]
pub fn well_known(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}
