//! Accounts of a server in ClickHouse's form of `users_config`: libchdb has no `CREATE USER`.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::ensure;
use xtask::process::Server;
use xtask::{http, workspace};

use super::start;

/// Of everybody but `default`.
const PASSWORD: &str = "secret";

/// The statements of the page that grant something to a user.
pub fn grants(user: &str) -> anyhow::Result<Vec<String>> {
    let page = fs::read_to_string(workspace::root().join("docs/operate/clickhouse-server.md"))?;
    let to = format!(" TO {user};");
    let found = |line: &str| line.strip_suffix(to.as_str()).map(str::to_owned);
    let grants: Vec<String> = page.lines().filter(|line| line.starts_with("GRANT ")).filter_map(found).collect();
    ensure!(!grants.is_empty(), "the page grants {user} nothing");
    Ok(grants)
}

/// Users and profiles. `default` may do nothing but start the server, as where it is switched off; `operator` may do
/// everything.
pub struct Accounts {
    users: String,
    profiles: String,
}

/// What the server's own first statement needs.
const STARTS_THE_SERVER: [&str; 3] =
    ["GRANT SYSTEM LISTEN ON *.*", "GRANT READ ON FILE", "GRANT CREATE TEMPORARY TABLE ON *.*"];

impl Accounts {
    pub fn new() -> anyhow::Result<Self> {
        let mut accounts = Self { users: String::new(), profiles: "<default/>".to_owned() };
        accounts.add("default", "default", &STARTS_THE_SERVER)?;
        accounts.add("operator", "default", &["GRANT ALL ON *.*"])?;
        Ok(accounts)
    }

    /// A user with these grants alone.
    pub fn add(&mut self, name: &str, profile: &str, grants: &[impl AsRef<str>]) -> anyhow::Result<()> {
        let password = if name == "default" { "" } else { PASSWORD };
        let users = &mut self.users;
        write!(users, "<{name}><password>{password}</password><networks><ip>127.0.0.1</ip></networks>")?;
        write!(users, "<profile>{profile}</profile><quota>default</quota><grants>")?;
        for grant in grants {
            write!(users, "<query>{}</query>", grant.as_ref())?;
        }
        Ok(write!(users, "</grants></{name}>")?)
    }

    /// A profile, as the elements inside of it.
    pub fn add_profile(&mut self, name: &str, elements: &str) -> anyhow::Result<()> {
        Ok(write!(self.profiles, "<{name}>{elements}</{name}>")?)
    }

    /// A server with these accounts, over a folder.
    pub fn serve(&self, data: &Path) -> anyhow::Result<Server> {
        let Self { users, profiles } = self;
        let file = data.join("accounts.xml");
        let text = format!(
            "<clickhouse><profiles>{profiles}</profiles><quotas><default/></quotas><users>{users}</users></clickhouse>"
        );
        fs::write(&file, text)?;
        start(data, &["--users", &file.display().to_string()])
    }
}

pub fn as_user(mut command: Command, user: &str) -> Command {
    command.env("TRAWL_CLICKHOUSE_USER", user).env("TRAWL_CLICKHOUSE_PASSWORD", PASSWORD);
    command
}

/// The status and text of a statement of a user.
pub fn ask(server: &Server, user: &str, sql: &str) -> anyhow::Result<(u16, String)> {
    let url = format!("{}/?user={user}&password={PASSWORD}&database=trawl", server.url);
    let answer = http::post(&http::agent(), &url, sql.as_bytes())?;
    Ok((answer.status, answer.text()))
}
