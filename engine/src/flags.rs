//! The command line. Every flag has an environment variable.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::parser::ValueSource;
use clap::{ArgMatches, Command, CommandFactory, FromArgMatches, Parser};
use trawl_log::LogFlags;

mod limits;
mod readers;
mod tls;
mod users;

pub use limits::{ReaderFlags, SlotFlags};
pub use tls::TlsFlags;
pub use users::UserFlags;

const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " (", env!("TRAWL_COMMIT"), ")");

/// Embedded ClickHouse (libchdb) with the ClickHouse HTTP interface.
#[derive(Debug, Parser)]
#[command(version = VERSION, about,
          after_help = "Exit codes: 0 stopped; 1 failed at run time; 2 wrong usage; 8 broken parts.")]
pub struct Flags {
    /// Data directory, created if missing; one engine per directory.
    #[arg(long, env = "TRAWL_DATA_DIR", help_heading = "Store")]
    pub data_dir: PathBuf,
    /// Path of libchdb.so [default: CHDB_LIB, beside this program, then where `cargo xtask engine` puts it].
    #[arg(long, env = "TRAWL_LIBRARY", help_heading = "Store")]
    pub library: Option<PathBuf>,
    /// ClickHouse configuration file for the library, such as for caches and pools, in XML (the library cannot read
    /// YAML).
    #[arg(long, env = "TRAWL_ENGINE_CONFIG", value_name = "FILE", help_heading = "Store")]
    pub config: Option<PathBuf>,
    /// Folder for BACKUP and RESTORE (`trawl-ingest backup`), created if missing [default: none].
    #[arg(long, env = "TRAWL_BACKUP_DIR", value_name = "DIR", help_heading = "Store")]
    pub backup_dir: Option<PathBuf>,
    /// Start even if parts of tables are broken; they are set aside, and answers lack their rows.
    #[arg(long, env = "TRAWL_ALLOW_DAMAGED", help_heading = "Store")]
    pub allow_damaged: bool,
    /// Memory of `system.query_log`, which has the statements that ended last; 0 = no log.
    #[arg(long, env = "TRAWL_QUERY_LOG_SIZE", default_value = "64MiB", value_parser = limits::log_size,
          help_heading = "Server")]
    pub query_log_size: u64,
    /// Address to listen on; port 0 picks a free one.
    #[arg(long, env = "TRAWL_ENGINE_LISTEN", default_value = "127.0.0.1:8123", help_heading = "Server")]
    pub listen: SocketAddr,
    #[command(flatten)]
    pub tls: TlsFlags,
    /// Maximum number of connections.
    #[arg(long, env = "TRAWL_ENGINE_MAX_CONNECTIONS", default_value_t = 4_096, help_heading = "Server",
          value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub max_connections: u32,
    /// Maximum number of connections per client address. An API uses one for each statement in flight.
    #[arg(long, env = "TRAWL_ENGINE_MAX_CONNECTIONS_PER_CLIENT", default_value_t = 2_048, help_heading = "Server",
          value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub max_connections_per_client: u32,
    /// Additional host name that requests may use, without port, besides those of this machine; repeat the flag, or
    /// separate by commas.
    #[arg(long, env = "TRAWL_ENGINE_ALLOW_HOST", value_delimiter = ',', help_heading = "Server")]
    pub allow_host: Vec<String>,
    /// Origin whose web pages may send requests, such as https://sql.example.org; repeat the flag, or separate by
    /// commas [default: none].
    #[arg(long, env = "TRAWL_ENGINE_ALLOW_ORIGIN", value_delimiter = ',', help_heading = "Server")]
    pub allow_origin: Vec<String>,
    /// Log one line per request: client, method, path, status, duration, size and query id.
    #[arg(long, env = "TRAWL_ENGINE_ACCESS_LOG", help_heading = "Log")]
    pub access_log: bool,
    /// Maximum time to stop after SIGTERM or SIGINT: running statements have more than half of it to finish, then they
    /// are cancelled.
    #[arg(long, env = "TRAWL_ENGINE_STOP_TIMEOUT", default_value = "10s", value_parser = limits::stop_timeout,
          help_heading = "Server")]
    pub stop_timeout: Duration,
    #[command(flatten)]
    pub users: UserFlags,
    #[command(flatten)]
    pub slots: SlotFlags,
    #[command(flatten)]
    pub reader: ReaderFlags,
    #[command(flatten)]
    pub log: LogFlags,
}

/// A variable that was renamed and is still read while the new one is unset.
struct RenamedVariable {
    /// Id of its flag.
    flag: &'static str,
    old: &'static str,
    new: &'static str,
}

/// `TRAWL_LISTEN` is not among them: `trawl-api` reads it, and both programs may share an environment.
const RENAMED: [RenamedVariable; 3] = [
    RenamedVariable { flag: "user", old: "TRAWL_USER", new: "TRAWL_ENGINE_USER" },
    RenamedVariable { flag: "short_statements", old: "TRAWL_MAX_STATEMENTS", new: "TRAWL_SHORT_STATEMENTS" },
    RenamedVariable { flag: "password", old: "TRAWL_PASSWORD", new: "TRAWL_ENGINE_PASSWORD" },
];

impl Flags {
    /// Reads the command line and the environment, and warns on stderr of renamed variables. Wrong usage ends the
    /// process.
    pub fn read() -> Self {
        let renamed = renamed_in_use(|name| std::env::var_os(name).is_some());
        let mut command = reading_old_variables(Self::command(), &renamed);
        let mut matches = trawl_cli::matches(command.clone(), "engine");
        warn(&renamed, &matches);
        Self::from_arg_matches_mut(&mut matches).unwrap_or_else(|error| error.format(&mut command).exit())
    }
}

fn renamed_in_use(is_set: impl Fn(&str) -> bool) -> Vec<&'static RenamedVariable> {
    RENAMED.iter().filter(|renamed| is_set(renamed.old) && !is_set(renamed.new)).collect()
}

/// The command whose flags of `renamed` read the old variables instead of the new.
fn reading_old_variables(command: Command, renamed: &[&RenamedVariable]) -> Command {
    renamed.iter().fold(command, |command, renamed| command.mut_arg(renamed.flag, |flag| flag.env(renamed.old)))
}

/// A variable counts only where the command line does not have its flag.
fn warn(renamed: &[&RenamedVariable], matches: &ArgMatches) {
    for RenamedVariable { flag, old, new } in renamed {
        if matches.value_source(flag) == Some(ValueSource::EnvVariable) {
            eprintln!("trawl-engine: warning: the variable {old} is now called {new}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variable_of(flag: &str, set: &[&str]) -> String {
        let command = reading_old_variables(Flags::command(), &renamed_in_use(|name| set.contains(&name)));
        let flag = command.get_arguments().find(|argument| argument.get_id() == flag).expect("a flag");
        flag.get_env().expect("a variable").to_string_lossy().into_owned()
    }

    #[test]
    fn an_old_variable_is_read_only_while_the_new_one_is_unset() {
        assert_eq!(variable_of("user", &[]), "TRAWL_ENGINE_USER");
        assert_eq!(variable_of("user", &["TRAWL_USER"]), "TRAWL_USER");
        assert_eq!(variable_of("password", &["TRAWL_USER"]), "TRAWL_ENGINE_PASSWORD");
        assert_eq!(variable_of("user", &["TRAWL_USER", "TRAWL_ENGINE_USER"]), "TRAWL_ENGINE_USER");
        assert_eq!(variable_of("listen", &["TRAWL_LISTEN"]), "TRAWL_ENGINE_LISTEN");
    }

    #[test]
    fn the_command_line_is_consistent() {
        Flags::command().debug_assert();
    }
}
