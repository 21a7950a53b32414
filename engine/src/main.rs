//! `trawl-engine`: flags, logging, listener, shutdown; no logic.

use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use trawl_engine::account::{Accounts, Role};
use trawl_engine::chdb::configuration::Configuration;
use trawl_engine::chdb::engine::{Engine, OpenError};
use trawl_engine::chdb::library::{Library, SUPPORTED_VERSION};
use trawl_engine::http::access_log::AccessLog;
use trawl_engine::http::door::Door;
use trawl_engine::http::server::{self, Bounds, Server};
use trawl_engine::stopping::StopSchedule;
use trawl_metrics::{Build, Exposition, Program};
use trawl_serve::{Limits, Listener, TlsError, stop_signal};

mod flags;

use flags::Flags;

/// What this program was built from.
const BUILD: Build = Build { version: env!("CARGO_PKG_VERSION"), commit: env!("TRAWL_COMMIT") };

fn main() -> ! {
    let flags = Flags::read();
    flags.log.start("warn,trawl::access=info");
    match run(flags) {
        // SAFETY: the store is closed; `exit` would run libchdb's destructors, see `Engine::shutdown`.
        Ok(()) => unsafe { libc::_exit(0) },
        Err(error) => {
            eprintln!("trawl-engine: {error:#}");
            // SAFETY: as above.
            unsafe { libc::_exit(exit_code(&error)) }
        }
    }
}

fn exit_code(error: &anyhow::Error) -> i32 {
    match error {
        error if error.is::<BrokenTables>() => DAMAGE,
        error if matches!(error.downcast_ref(), Some(OpenError::EmptyDefinitions { .. })) => DAMAGE,
        error if error.is::<TlsError>() => 2,
        _ => 1,
    }
}

fn run(flags: Flags) -> anyhow::Result<()> {
    let schedule = StopSchedule::new(flags.stop_timeout);
    let limits = Limits {
        connections: flags.max_connections,
        connections_per_client: flags.max_connections_per_client,
        write_timeout: flags.slots.write_timeout,
        shutdown_timeout: schedule.statements(),
        ..Limits::default()
    };
    let library = Library::find(flags.library.as_deref())?;
    if library.version() != SUPPORTED_VERSION {
        tracing::warn!(
            found = library.version(),
            tested = SUPPORTED_VERSION,
            "this libchdb is not the version that trawl-engine is tested with"
        );
    }
    let tls = flags.tls.open()?;
    let accounts = flags.users.accounts()?;
    require_passwords(&accounts, flags.listen)?;
    let modelled = flags.users.modelled()?;
    let readable = accounts.iter().any(|account| account.role != Role::Owner).then_some(flags.users.reader_databases);
    let configuration = Configuration { file: flags.config, backups: flags.backup_dir, readable, modelled };
    let access_log = if flags.access_log { AccessLog::On } else { AccessLog::Off };
    let door = Door { hosts: flags.allow_host, origins: flags.allow_origin };
    let readers = accounts.iter().filter(|account| account.role.is_limited()).count();
    let bounds = Bounds {
        shares: flags.slots.shares(),
        reader: flags.reader.limits(),
        slots_of_each_reader: flags.slots.of_each_reader(readers),
        query_log: flags.query_log_size,
        cancelled: schedule.cancelled(),
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .max_blocking_threads(server::threads(&bounds))
        .build()
        .context("cannot start threads")?;
    let engine = Engine::open(library, &flags.data_dir, &configuration)?;
    if let Err(damaged) = require_whole_tables(&engine, flags.allow_damaged) {
        engine.shutdown();
        return Err(damaged);
    }
    let exposition = Exposition::install(Program::Engine, BUILD).context("cannot keep metrics")?;
    runtime.spawn(exposition.clone().run_upkeep());
    let server = Server::new(Arc::clone(&engine), accounts, bounds, exposition);
    let server = server
        .inspect_err(|_| engine.shutdown())
        .context("cannot create system.query_log; --query-log-size 0 disables it")?;
    let served = runtime.block_on(async {
        let listener = Listener::bind(flags.listen).await?.with_limits(limits).with_tls(tls);
        let stop = stop_signal().context("cannot wait for signals")?;
        println!("listening on {}", listener.url());
        let stop = async {
            stop.await;
            schedule.enforce();
        };
        server.serve(listener, door, access_log, stop).await;
        Ok(())
    });
    // A statement that cannot be cancelled must not keep the process.
    runtime.shutdown_background();
    served
}

/// Answers over a broken part would be short or wrong without a word.
fn require_whole_tables(engine: &Engine, allow_damaged: bool) -> anyhow::Result<()> {
    let broken = engine.broken_parts().context("cannot list broken parts")?;
    for table in &broken {
        tracing::error!(table = table.table, count = table.parts.len(), parts = table.parts.join(", "), "broken parts");
    }
    if broken.is_empty() {
        return Ok(());
    }
    if allow_damaged {
        return engine.detach_altered_parts().context("cannot set altered parts aside");
    }
    let count = broken.iter().map(|table| table.parts.len()).sum();
    let tables = broken.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
    Err(BrokenTables { count, tables }.into())
}

/// The exit code where tables are broken, which another start does not cure.
const DAMAGE: i32 = 8;

/// Answers would be short or wrong.
#[derive(Debug, thiserror::Error)]
#[error(
    "{count} parts are broken, so rows would be missing or wrong: {tables}. Check the disk first. Then restore the \
     data directory from a backup; or start with --allow-damaged, which sets these parts aside, load their rows again \
     (`trawl-ingest repair` does it for a chain, and deletes the broken parts at its end), and start without it"
)]
struct BrokenTables {
    count: usize,
    /// The tables with their parts.
    tables: String,
}

/// Whoever reaches the owner's account can read files of this machine.
fn require_passwords(accounts: &Accounts, listen: SocketAddr) -> anyhow::Result<()> {
    let open = accounts.iter().find(|account| account.is_open());
    match open {
        Some(user) if !listen.ip().is_loopback() => bail!(
            "{listen} can be reached from other machines, and the user `{}` has no password: name a file that has one with \
             --password-file, --api-password-file or --reader-password-file, or listen on 127.0.0.1",
            user.user
        ),
        _ => Ok(()),
    }
}
