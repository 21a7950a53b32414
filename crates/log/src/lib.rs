//! The log on stderr: its flag and its start, the same for every program of Trawl.
//!
//! A package of its own, because the engine knows nothing of chains (`trawl-core`).

use std::io::IsTerminal;

use clap::{Args, ValueEnum};
use tracing_subscriber::EnvFilter;

/// Flags of the log, to be flattened into a program's own.
#[derive(Debug, Clone, Copy, Args)]
#[command(next_help_heading = "Log")]
pub struct LogFlags {
    /// Format of the log on stderr; RUST_LOG sets the levels.
    #[arg(long, env = "TRAWL_LOG_FORMAT", value_enum, default_value_t = LogFormat::Text, global = true)]
    log_format: LogFormat,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum LogFormat {
    Text,
    Json,
}

impl LogFlags {
    /// Starts the log, in colour only on a terminal and without `NO_COLOR`. `default_levels` are the levels when
    /// `RUST_LOG` is unset or cannot be parsed, in its own notation (`warn,trawl=info`).
    ///
    /// # Panics
    ///
    /// If the process has a log already.
    pub fn start(self, default_levels: &str) {
        let levels = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(default_levels));
        let colour = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
        let log = tracing_subscriber::fmt().with_env_filter(levels).with_writer(std::io::stderr).with_ansi(colour);
        match self.log_format {
            LogFormat::Text => log.init(),
            LogFormat::Json => log.json().init(),
        }
    }
}
