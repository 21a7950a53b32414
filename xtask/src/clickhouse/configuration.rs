//! The configuration file of a server.

use std::path::{Path, PathBuf};

use anyhow::Context as _;

use super::ServerFlags;

/// Users when none are given.
const USERS: &str = "<clickhouse>
  <profiles><default/></profiles>
  <quotas><default/></quotas>
  <users>
    <default>
      <password/>
      <networks><ip>127.0.0.1</ip></networks>
      <profile>default</profile>
      <quota>default</quota>
      <access_management>1</access_management>
    </default>
  </users>
</clickhouse>
";

/// Writes the configuration into the server's directory and returns its path.
pub fn write(flags: &ServerFlags) -> anyhow::Result<PathBuf> {
    let directory = &flags.data_dir;
    let users = match &flags.users {
        Some(users) => users.canonicalize().with_context(|| users.display().to_string())?,
        None => file(&directory.join("users.xml"), USERS)?,
    };
    let further = match &flags.config {
        Some(config) => std::fs::read_to_string(config).with_context(|| config.display().to_string())?,
        None => String::new(),
    };
    let text = format!(
        "<clickhouse>
  <users_config>{}</users_config>
  <mark_cache_size>268435456</mark_cache_size>
  <query_log>
    <database>system</database>
    <table>query_log</table>
    <flush_interval_milliseconds>500</flush_interval_milliseconds>
  </query_log>
{further}
</clickhouse>
",
        users.display()
    );
    file(&directory.join("config.xml"), &text)
}

fn file(path: &Path, text: &str) -> anyhow::Result<PathBuf> {
    std::fs::write(path, text).with_context(|| path.display().to_string())?;
    Ok(path.to_owned())
}
