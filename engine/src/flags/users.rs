//! Who may use the engine: flags of users, and passwords that lie in files.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use clap::Args;
use trawl_engine::account::{Account, Accounts, Digest, Role};
use trawl_engine::chdb::configuration::DatabasePattern;

use crate::flags::readers;

/// The owner and the reader.
#[derive(Debug, Args)]
#[command(next_help_heading = "Users")]
pub struct UserFlags {
    /// User with all rights.
    #[arg(long, env = "TRAWL_ENGINE_USER", default_value = "default")]
    user: String,
    /// Password of --user.
    #[arg(long, env = "TRAWL_ENGINE_PASSWORD", default_value = "", hide_env_values = true, hide_default_value = true)]
    password: String,
    /// File whose first line is the password of --user.
    #[arg(long, env = "TRAWL_ENGINE_PASSWORD_FILE")]
    password_file: Option<PathBuf>,
    /// User for `trawl-api`: may only read, and name the workload of its statements.
    #[arg(long, env = "TRAWL_ENGINE_API_USER")]
    api_user: Option<String>,
    /// Password of --api-user.
    #[arg(long, env = "TRAWL_ENGINE_API_PASSWORD", requires = "api_user", hide_env_values = true)]
    api_password: Option<String>,
    /// File whose first line is the password of --api-user.
    #[arg(long, env = "TRAWL_ENGINE_API_PASSWORD_FILE", requires = "api_user")]
    api_password_file: Option<PathBuf>,
    /// User for analysts: may only read, within limits.
    #[arg(long, env = "TRAWL_READER_USER")]
    reader_user: Option<String>,
    /// Password of --reader-user.
    #[arg(long, env = "TRAWL_READER_PASSWORD", requires = "reader_user", hide_env_values = true)]
    reader_password: Option<String>,
    /// File whose first line is the password of --reader-user.
    #[arg(long, env = "TRAWL_READER_PASSWORD_FILE", requires = "reader_user")]
    reader_password_file: Option<PathBuf>,
    /// File with further readers: on each line a name, a blank, and the password or `sha256:` with its SHA-256 in
    /// hexadecimal digits.
    #[arg(long, env = "TRAWL_READERS", value_name = "FILE")]
    readers: Option<PathBuf>,
    /// User who may read what readers read, within their limits, and create, fill and drop tables and views in
    /// --modeler-databases.
    #[arg(long, env = "TRAWL_MODELER_USER")]
    modeler_user: Option<String>,
    /// Password of --modeler-user.
    #[arg(long, env = "TRAWL_MODELER_PASSWORD", requires = "modeler_user", hide_env_values = true)]
    modeler_password: Option<String>,
    /// File whose first line is the password of --modeler-user.
    #[arg(long, env = "TRAWL_MODELER_PASSWORD_FILE", requires = "modeler_user")]
    modeler_password_file: Option<PathBuf>,
    /// Databases of --modeler-user, which readers see too, separated by commas; `*` at the end of a name stands for any
    /// ending.
    #[arg(long, env = "TRAWL_MODELER_DATABASES", default_value = "analytics*", value_delimiter = ',')]
    modeler_databases: Vec<DatabasePattern>,
    /// Databases that --api-user and readers see, separated by commas; `*` at the end of a name stands for any ending.
    #[arg(long, env = "TRAWL_READER_DATABASES", default_value = "trawl*", value_delimiter = ',')]
    pub reader_databases: Vec<DatabasePattern>,
}

impl UserFlags {
    /// The users; reads the files of their passwords.
    ///
    /// # Errors
    ///
    /// If a file cannot be read or has no password, a user beside the owner has none, or two have the same name.
    pub fn accounts(&self) -> anyhow::Result<Accounts> {
        let password = match &self.password_file {
            Some(path) => first_line(path)?,
            None => self.password.clone(),
        };
        let mut accounts = vec![account(&self.user, &password, Role::Owner)];
        let (file, password) = (self.api_password_file.as_deref(), self.api_password.as_deref());
        let api = second(self.api_user.as_deref(), file, password, Role::Api);
        accounts.extend(api.context("--api-user needs --api-password-file (or TRAWL_ENGINE_API_PASSWORD)")?);
        let (file, password) = (self.reader_password_file.as_deref(), self.reader_password.as_deref());
        let reader = second(self.reader_user.as_deref(), file, password, Role::Reader);
        accounts.extend(reader.context("--reader-user needs --reader-password-file (or TRAWL_READER_PASSWORD)")?);
        let (file, password) = (self.modeler_password_file.as_deref(), self.modeler_password.as_deref());
        let modeler = second(self.modeler_user.as_deref(), file, password, Role::Modeler);
        accounts.extend(modeler.context("--modeler-user needs --modeler-password-file (or TRAWL_MODELER_PASSWORD)")?);
        if let Some(path) = &self.readers {
            accounts.extend(readers::read(path)?);
        }
        Ok(Accounts::new(accounts)?)
    }

    /// The databases that a modeler may change: none without one.
    ///
    /// # Errors
    ///
    /// If they could be a chain's, or the engine's own.
    pub fn modelled(&self) -> anyhow::Result<Vec<DatabasePattern>> {
        if self.modeler_user.is_none() {
            return Ok(Vec::new());
        }
        let mut others: Vec<DatabasePattern> = self.reader_databases.clone();
        others.extend(self.reader_databases.iter().map(DatabasePattern::texts));
        for name in ["default", "system", "information_schema", "INFORMATION_SCHEMA"] {
            others.push(name.parse()?);
        }
        for pattern in &self.modeler_databases {
            if let Some(other) = others.iter().find(|other| pattern.overlaps(other)) {
                bail!(
                    "--modeler-databases {pattern} and {other} have names in common: a modeler may drop what is in its databases"
                );
            }
        }
        Ok(self.modeler_databases.clone())
    }
}

fn account(user: &str, password: &str, role: Role) -> Account {
    Account { user: user.into(), digest: Digest::of(password), role }
}

/// A user beside the owner, if there is one.
fn second(
    user: Option<&str>,
    file: Option<&Path>,
    password: Option<&str>,
    role: Role,
) -> anyhow::Result<Option<Account>> {
    let Some(user) = user else { return Ok(None) };
    let password = match (file, password) {
        (Some(path), _) => first_line(path)?,
        (None, Some(password)) => password.into(),
        (None, None) => bail!("the user `{user}` has no password"),
    };
    Ok(Some(account(user, &password, role)))
}

fn first_line(path: &Path) -> anyhow::Result<String> {
    let text =
        std::fs::read_to_string(path).with_context(|| format!("cannot read the password from {}", path.display()))?;
    match text.lines().next() {
        Some(line) if !line.is_empty() => Ok(line.into()),
        _ => bail!("the first line of {} is empty: it must be the password", path.display()),
    }
}
