//! `trawl-engine`: flags, logging, listener, shutdown; no logic.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context as _;
use clap::Parser;
use trawl_engine::account::{Accounts, Credentials};
use trawl_engine::chdb::engine::Engine;
use trawl_engine::chdb::library::{Library, SUPPORTED_VERSION};
use trawl_engine::http::server::{self, Server};
use trawl_log::LogFlags;
use trawl_serve::{Listener, stop_signal};

/// Embedded ClickHouse (libchdb) with the ClickHouse HTTP interface.
#[derive(Debug, Parser)]
#[command(version, about)]
struct Flags {
    /// Directory of the store; made if it is not there. One engine a directory.
    #[arg(long, env = "TRAWL_DATA_DIR", help_heading = "Store")]
    data_dir: PathBuf,
    /// The libchdb.so to load [default: CHDB_LIB, beside this program, then where `cargo xtask engine` puts it].
    #[arg(long, env = "TRAWL_LIBRARY", help_heading = "Store")]
    library: Option<PathBuf>,
    /// Address to listen on; port 0 picks a free one.
    #[arg(long, env = "TRAWL_LISTEN", default_value = "127.0.0.1:8123", help_heading = "Server")]
    listen: SocketAddr,
    /// Statements that run at the same time; further ones wait.
    #[arg(long, env = "TRAWL_MAX_STATEMENTS", default_value_t = 64, help_heading = "Server",
          value_parser = clap::value_parser!(u32).range(1..=1024))]
    max_statements: u32,
    /// User who may do everything.
    #[arg(long, env = "TRAWL_USER", default_value = "default", help_heading = "Users")]
    user: String,
    /// Password of --user.
    #[arg(
        long,
        env = "TRAWL_PASSWORD",
        default_value = "",
        hide_env_values = true,
        hide_default_value = true,
        help_heading = "Users"
    )]
    password: String,
    /// A second user who may only read the database, for analysts.
    #[arg(long, env = "TRAWL_READER_USER", requires = "reader_password", help_heading = "Users")]
    reader_user: Option<String>,
    /// Password of --reader-user.
    #[arg(
        long,
        env = "TRAWL_READER_PASSWORD",
        requires = "reader_user",
        hide_env_values = true,
        help_heading = "Users"
    )]
    reader_password: Option<String>,
    #[command(flatten)]
    log: LogFlags,
}

fn main() -> ExitCode {
    let flags = Flags::parse();
    flags.log.start("warn");
    match run(flags) {
        // SAFETY: the store is closed; `exit` would run libchdb's destructors, see `Engine::shutdown`.
        Ok(()) => unsafe { libc::_exit(0) },
        Err(error) => {
            eprintln!("trawl-engine: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(flags: Flags) -> anyhow::Result<()> {
    let library = Library::find(flags.library.as_deref())?;
    if library.version() != SUPPORTED_VERSION {
        tracing::warn!(
            found = library.version(),
            tested = SUPPORTED_VERSION,
            "this libchdb is not the one trawl-engine is tested with"
        );
    }
    let accounts = Accounts {
        owner: Credentials { user: flags.user, password: flags.password },
        reader: flags.reader_user.zip(flags.reader_password).map(|(user, password)| Credentials { user, password }),
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .max_blocking_threads(server::threads(flags.max_statements))
        .build()
        .context("cannot start threads")?;
    let engine = Engine::open(library, &flags.data_dir)?;
    let served = runtime.block_on(async {
        let listener = Listener::bind(flags.listen).await?;
        let stop = stop_signal().context("cannot wait for signals")?;
        println!("listening on {}", listener.url());
        Server::new(engine, accounts, flags.max_statements).serve(listener, stop).await;
        Ok(())
    });
    // A statement that cannot be cancelled must not keep the process.
    runtime.shutdown_timeout(Duration::from_secs(5));
    served
}
