//! The configuration that libchdb starts with: what the owner names with `--config`, and the roles of owner and reader.
//!
//! libchdb always logs in as `default`. A role is what it has to narrow that: a connection of the reader takes a role with no
//! right but to read the databases it was given, so the engine's own access control refuses everything else.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::sql::log_comment;

/// The role of the reader's connections.
pub const READER_ROLE: &str = "trawl_reader";
/// The role of all others.
const OWNER_ROLE: &str = "trawl_owner";
/// How long, in seconds, each table waits at first before it looks for merges again where it found none. A write wakes
/// it at once. At a tenth of a second, which is the library's own, 70 tables that nobody uses take 2 % of a core.
const BETWEEN_LOOKS: &str = "background_processing_pool_thread_sleep_seconds_if_nothing_to_do";
/// What the name of a database is followed by in that of its views as text: who may read the one may read the other.
const TEXT_DATABASE: &str = "_views";
/// In the data directory.
const FOLDER: &str = "trawl-engine";

/// A database, or with a `*` at its end all whose names start so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatabasePattern(String);

/// A text that names no databases.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` names no databases: a name has letters, digits and `_`, and may end in `*`")]
pub struct NoPattern(String);

impl std::str::FromStr for DatabasePattern {
    type Err = NoPattern;

    fn from_str(text: &str) -> Result<Self, NoPattern> {
        let name = text.strip_suffix('*').unwrap_or(text);
        let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if is_name { Ok(Self(text.into())) } else { Err(NoPattern(text.into())) }
    }
}

/// What libchdb is configured with.
#[derive(Debug, Clone, Default)]
pub struct Configuration {
    /// The owner's file.
    pub file: Option<PathBuf>,
    /// What the reader may read; `None` if there is no reader.
    pub readable: Option<Vec<DatabasePattern>>,
}

impl Configuration {
    /// Writes the files that libchdb reads, and returns the one to name. What the owner's file says counts.
    pub(super) fn write(&self, data_dir: &Path) -> io::Result<PathBuf> {
        let folder = data_dir.join(FOLDER);
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::create_dir_all(folder.join("config.d"))?;
        if let Some(file) = &self.file {
            let name = Path::new("owner").with_extension(file.extension().unwrap_or_else(|| "xml".as_ref()));
            std::os::unix::fs::symlink(fs::canonicalize(file)?, folder.join("config.d").join(name))?;
        }
        let mut settings = format!("<{BETWEEN_LOOKS}>5</{BETWEEN_LOOKS}>");
        if let Some(readable) = &self.readable {
            let users = folder.join("users.xml");
            fs::write(&users, users_file(readable))?;
            let _ = write!(settings, "<users_config>{}</users_config>", escaped(&users.display().to_string()));
        }
        let main = folder.join("config.xml");
        fs::write(&main, format!("<clickhouse>{settings}</clickhouse>\n"))?;
        Ok(main)
    }
}

/// `default` has its rights from two roles, of which the reader's connections take one.
fn users_file(readable: &[DatabasePattern]) -> String {
    // The system's tables are for everybody, without the rows that are not; `default` is where a request begins.
    let mut grants = String::from("<query>GRANT SHOW DATABASES ON default.*</query>");
    for name in ["system", "information_schema", "INFORMATION_SCHEMA"] {
        let _ = write!(grants, "<query>GRANT SELECT ON {name}.*</query>");
    }
    for DatabasePattern(name) in readable {
        for right in ["SELECT", "dictGet"] {
            let _ = write!(grants, "<query>GRANT {right} ON {name}.*</query>");
        }
        if !name.ends_with('*') {
            let _ = write!(grants, "<query>GRANT SELECT ON {name}{TEXT_DATABASE}.*</query>");
        }
    }
    format!(
        "<clickhouse>\n\
         <profiles><default/></profiles><quotas><default/></quotas>\n\
         <roles>\n\
         <{OWNER_ROLE}><grants><query>GRANT ALL ON *.*</query></grants></{OWNER_ROLE}>\n\
         <{READER_ROLE}><grants>{grants}</grants></{READER_ROLE}>\n\
         </roles>\n\
         <users><default><password/><networks><ip>::/0</ip></networks><profile>default</profile><quota>default</quota>\n\
         <databases><system><query_log><filter>{}</filter></query_log><processes><filter>{}</filter></processes></system></databases>\n\
         <grants><query>GRANT {OWNER_ROLE}, {READER_ROLE}</query></grants></default></users>\n\
         </clickhouse>\n",
        escaped(&own_statements("user")),
        escaped(&own_statements(&log_comment::user_of(log_comment::OF_PROCESS))),
    )
}

/// The rows that a statement sees of a table of statements, whose users the SQL expression `user` has: the owner's all, others' those of
/// their own user. The engine applies it before anything that the statement says.
fn own_statements(user: &str) -> String {
    let this = log_comment::user_of(log_comment::THIS);
    format!("if(has(currentRoles(), '{OWNER_ROLE}'), 1, notEmpty({this}) AND {user} = {this})")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_a_name_and_nothing_that_could_be_sql() {
        for text in ["trawl", "trawl*", "a_1", "Chain2*"] {
            assert!(text.parse::<DatabasePattern>().is_ok(), "{text}");
        }
        for text in ["", "*", "a.b", "a`", "a b", "a*b", "a, b", "<a>", "é"] {
            assert!(text.parse::<DatabasePattern>().is_err(), "{text}");
        }
    }
}
