//! `trawl-engine`: flags, logging, listener, shutdown; no logic.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context as _;
use trawl_engine::account::{Accounts, Credentials};
use trawl_engine::chdb::engine::Engine;
use trawl_engine::chdb::library::{Library, SUPPORTED_VERSION};
use trawl_engine::http::server::{self, Server};
use trawl_serve::{Limits, Listener, stop_signal};

mod flags;

use flags::Flags;

fn main() -> ExitCode {
    let flags = Flags::read();
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

/// How long a client may take nothing of an answer. Longer than the API gives its clients, for whom it reads.
const WRITE_TIMEOUT: Duration = Duration::from_secs(300);

fn run(flags: Flags) -> anyhow::Result<()> {
    let limits = Limits {
        connections: flags.max_connections,
        connections_per_client: flags.max_connections_per_client,
        write_timeout: WRITE_TIMEOUT,
        ..Limits::default()
    };
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
        let listener = Listener::bind(flags.listen).await?.with_limits(limits);
        let stop = stop_signal().context("cannot wait for signals")?;
        println!("listening on {}", listener.url());
        Server::new(engine, accounts, flags.max_statements).serve(listener, stop).await;
        Ok(())
    });
    // A statement that cannot be cancelled must not keep the process.
    runtime.shutdown_timeout(Duration::from_secs(5));
    served
}
