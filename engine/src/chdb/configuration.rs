//! The configuration that libchdb starts with: what the owner names with `--config`, and the roles of owner and reader.
//!
//! libchdb always logs in as `default`. A role is what it has to narrow that: a connection of the reader takes a role
//! with no right but to read the databases it was given, so the engine's own access control refuses everything else.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::sql::log_comment;

/// The role of the reader's connections.
pub const READER_ROLE: &str = "trawl_reader";
/// The role of the modeler's connections.
pub const MODELER_ROLE: &str = "trawl_modeler";
/// The role of all others.
const OWNER_ROLE: &str = "trawl_owner";
/// How long, in seconds, each table waits at first before it looks for merges again where it found none. A write wakes
/// it at once. At a tenth of a second, which is the library's own, 70 unused tables take 2 % of a core.
const BETWEEN_LOOKS: &str = "background_processing_pool_thread_sleep_seconds_if_nothing_to_do";
/// Suffix of the database of text views: a reader of a database may also read its text views.
const TEXT_DATABASE: &str = "_views";
/// In the data directory.
const FOLDER: &str = "trawl-engine";

/// A database, or with a `*` at its end all whose names start so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatabasePattern(String);

impl DatabasePattern {
    /// Whether some name matches both.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        match (self.0.strip_suffix('*'), other.0.strip_suffix('*')) {
            (None, None) => self.0 == other.0,
            (Some(beginning), None) => other.0.starts_with(beginning),
            (None, Some(beginning)) => self.0.starts_with(beginning),
            (Some(one), Some(two)) => one.starts_with(two) || two.starts_with(one),
        }
    }

    /// The databases of views as text, beside those of this pattern.
    #[must_use]
    pub fn texts(&self) -> Self {
        if self.0.ends_with('*') { self.clone() } else { Self(format!("{}{TEXT_DATABASE}", self.0)) }
    }
}

impl std::fmt::Display for DatabasePattern {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// A text that names no databases.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is not a name of databases: a name has letters, digits and `_`, and may end in `*`")]
pub struct NoPattern(String);

impl std::str::FromStr for DatabasePattern {
    type Err = NoPattern;

    fn from_str(text: &str) -> Result<Self, NoPattern> {
        let name = text.strip_suffix('*').unwrap_or(text);
        let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if is_name { Ok(Self(text.into())) } else { Err(NoPattern(text.into())) }
    }
}

/// The configuration of libchdb.
#[derive(Debug, Clone, Default)]
pub struct Configuration {
    /// The owner's file.
    pub file: Option<PathBuf>,
    /// Where backups may be.
    pub backups: Option<PathBuf>,
    /// The databases of the reader; `None` if there is no reader.
    pub readable: Option<Vec<DatabasePattern>>,
    /// The databases of the modeler; none if there is no modeler.
    pub modelled: Vec<DatabasePattern>,
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
        if let Some(backups) = &self.backups {
            fs::create_dir_all(backups)?;
            let path = fs::canonicalize(backups)?;
            let _ = write!(
                settings,
                "<backups><allowed_path>{}</allowed_path></backups>",
                escaped(&path.display().to_string())
            );
        }
        if let Some(readable) = &self.readable {
            let users = folder.join("users.xml");
            fs::write(&users, users_file(readable, &self.modelled))?;
            let _ = write!(settings, "<users_config>{}</users_config>", escaped(&users.display().to_string()));
        }
        let main = folder.join("config.xml");
        fs::write(&main, format!("<clickhouse>{settings}</clickhouse>\n"))?;
        Ok(main)
    }
}

/// What a modeler may do in the databases that are for that. Nothing of it makes the engine reach outside, run SQL at
/// another time or as another user.
const OF_MODELER: &str = "SELECT, INSERT, CREATE DATABASE, CREATE TABLE, CREATE VIEW, DROP DATABASE, DROP TABLE, DROP VIEW, TRUNCATE, \
                          ALTER UPDATE, ALTER DELETE, ALTER COLUMN";

/// `default` has its rights from roles, of which the connections of readers and modelers take one each.
fn users_file(readable: &[DatabasePattern], modelled: &[DatabasePattern]) -> String {
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
    let mut changes = String::new();
    for DatabasePattern(name) in modelled {
        let _ = write!(grants, "<query>GRANT SELECT ON {name}.*</query>");
        let _ = write!(changes, "<query>GRANT {OF_MODELER} ON {name}.*</query>");
    }
    format!(
        "<clickhouse>\n\
         <profiles><default/></profiles><quotas><default/></quotas>\n\
         <roles>\n\
         <{OWNER_ROLE}><grants><query>GRANT ALL ON *.*</query></grants></{OWNER_ROLE}>\n\
         <{READER_ROLE}><grants>{grants}</grants></{READER_ROLE}>\n\
         <{MODELER_ROLE}><grants>{grants}{changes}</grants></{MODELER_ROLE}>\n\
         </roles>\n\
         <users><default><password/><networks><ip>::/0</ip></networks><profile>default</profile><quota>default</quota>\n\
         <databases><system><query_log><filter>{}</filter></query_log><processes><filter>{}</filter></processes></system></databases>\n\
         <grants><query>GRANT {OWNER_ROLE}, {READER_ROLE}, {MODELER_ROLE}</query></grants></default></users>\n\
         </clickhouse>\n",
        escaped(&own_statements("user")),
        escaped(&own_statements(&log_comment::user_of(log_comment::OF_PROCESS))),
    )
}

/// The rows that a statement sees of a table of statements, whose users the SQL expression `user` has: the owner's all,
/// others' those of their own user. The engine applies it before anything that the statement says.
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
    fn patterns_overlap_where_a_name_is_of_both() {
        let overlap = |one: &str, two: &str| {
            let [one, two] = [one, two].map(|text| text.parse::<DatabasePattern>().expect("a pattern"));
            assert_eq!(one.overlaps(&two), two.overlaps(&one), "{one} {two}");
            one.overlaps(&two)
        };
        for (one, two) in [("a", "a"), ("a*", "abc"), ("ab*", "a*"), ("a*", "a")] {
            assert!(overlap(one, two), "{one} {two}");
        }
        for (one, two) in [("a", "ab"), ("ab*", "a"), ("ab*", "ac*")] {
            assert!(!overlap(one, two), "{one} {two}");
        }
    }

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
