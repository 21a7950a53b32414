//! Runs the subcommand that the command line names.

use std::process::ExitCode;
use std::time::Duration;

use trawl_core::store::{FILL_RUNS, REPAIR_RUNS, Reader, StoreAddress, Writer};
use trawl_ingest::backup::BackupError;

use super::backup::{backup_command, backups_command, restore_command};
use super::doctor::doctor_command;
use super::error::Failure;
use super::flags::{Command, Flags, LoadFlags, ViewsCommand};
use super::follow::follow_command;
use super::labels::labels_command;
use super::load::load_command;
use super::load_slice::slice_command;
use super::migrate::migrate_command;
use super::probes::serve_probes;
use super::repair::repair_command;
use super::setup::end_on_signal;
use super::tokens::tokens_command;
use super::verify::verify_command;
use super::views::views_command;
use status::status_command;

mod status;

/// Runs the subcommand and prints its failure.
pub async fn run(flags: Flags) -> ExitCode {
    match command(flags).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("trawl-ingest: {}", trawl_core::error_chain(&failure));
            ExitCode::from(failure.code())
        }
    }
}

async fn command(flags: Flags) -> Result<(), Failure> {
    let address = flags.store.address()?;
    let shards = &flags.shards;
    let writer = Writer::new(&address, &run_name())
        .with_shards(&shards.clickhouse_shards)
        .with_replicas(&shards.clickhouse_replicas);
    if let Command::Migrate(_)
    | Command::Status(_)
    | Command::Labels(_)
    | Command::Views { .. }
    | Command::Backup(_)
    | Command::Doctor(_)
    | Command::Restore(_)
    | Command::Backups(_) = &flags.command
    {
        end_on_signal()?;
    }
    match flags.command {
        Command::Migrate(flags) => migrate_command(flags, &address.database, &reader(&address), &writer).await,
        Command::Status(flags) => status_command(&flags, &reader(&address), &writer).await,
        Command::Backup(_) | Command::Restore(_)
            if !(shards.clickhouse_shards.is_empty() && shards.clickhouse_replicas.is_empty()) =>
        {
            Err(BackupError::Cluster.into())
        }
        Command::Backup(flags) => backup_command(&flags, &address.database, &reader(&address), &writer).await,
        Command::Restore(flags) => restore_command(&flags, &address.database, &reader(&address), &writer).await,
        Command::Doctor(doctor) => {
            doctor_command(&doctor, flags.store.password_file(), &reader(&address), &writer).await
        }
        Command::Backups(flags) => backups_command(&flags, &writer).await,
        Command::Verify { from, to } => verify_command(from, to, &reader(&address), &writer).await,
        Command::Repair(flags) => {
            let [repairer, filler] =
                [REPAIR_RUNS, FILL_RUNS].map(|runs| writer.for_run(&format!("{runs}{}", run_name())));
            repair_command(flags, &reader(&address), repairer, filler).await
        }
        Command::Tokens(flags) => tokens_command(flags, &reader(&address), writer).await,
        Command::Labels(flags) => labels_command(flags, &reader(&address), &writer).await,
        Command::Views { command: ViewsCommand::Add(flags) } => views_command(flags, &writer).await,
        Command::Load(flags) if flags.slice.is_some() => {
            serve_load(&flags).await?;
            let finisher = writer.for_run(&format!("{}-end", writer.run()));
            slice_command(&flags, &reader(&address), writer, finisher).await
        }
        Command::Load(flags) => {
            serve_load(&flags).await?;
            load_command(&flags, &reader(&address), writer).await
        }
        Command::Follow(flags) => follow_command(&flags, &address, writer, &reader(&address)).await,
    }
}

/// Serves the probes of a load if an address is given.
async fn serve_load(flags: &LoadFlags) -> Result<(), Failure> {
    match flags.probes.metrics_listen {
        Some(listen) => serve_probes(listen, None).await,
        None => Ok(()),
    }
}

/// Bookkeeping reads are small; the limits only stop runaway statements.
fn reader(address: &StoreAddress) -> Reader {
    Reader::new(address, Duration::from_secs(120), 4 << 30)
}

/// A name that no other run has, on this machine or another.
fn run_name() -> String {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    format!("{:x}-{:x}", since.as_nanos(), std::process::id())
}
