//! `trawl-ingest migrate`, and what only shows what it would do.

use trawl_core::schema::replication::Replication;
use trawl_core::store::{Choice, ClusterError, ClusterLayout, MigrateError, PlanReason, Reader, Writer};
use trawl_ingest::labels::bundled;

use super::backup::require_no_restore;
use super::error::Failure;
use super::flags::MigrateFlags;
use plan::{ChangeList, UP_TO_DATE, plan_text};
use text::migrate_text;

mod plan;
mod text;

/// Brings the database up to date, or says what that would be.
pub async fn migrate_command(
    flags: MigrateFlags,
    database: &str,
    reader: &Reader,
    writer: &Writer,
) -> Result<(), Failure> {
    let replication = if flags.replicated { Replication::Keeper } else { Replication::None };
    let shard_blocks = u64::from(flags.shard_blocks.get());
    let cluster = match flags.cluster {
        None if flags.replicated => {
            let found = if flags.print { None } else { writer.cluster_of_tables().await? };
            let nowhere = || MigrateError::from(ClusterError::ReplicatedNowhere { database: database.into() });
            Some(found.ok_or_else(nowhere)?)
        }
        named => named,
    };
    let layout = cluster.map(|cluster| ClusterLayout { cluster, shard_blocks, replication });
    if flags.print {
        print!("{}", migrate_text(database, &flags.without, layout.as_ref()));
        return Ok(());
    }
    require_no_restore(database, writer).await?;
    let choice = Choice { without: flags.without, with: flags.with };
    if flags.plan || flags.check {
        let pending = pending(&choice, layout.as_ref(), reader, writer).await?;
        return match pending.count() {
            _ if flags.plan => {
                print!("{}", plan_text(&pending, database, layout.as_ref()));
                Ok(())
            }
            0 => {
                println!("{UP_TO_DATE}");
                Ok(())
            }
            count => Err(Failure::Pending(count)),
        };
    }
    let applied = writer.migrate(&choice, layout.as_ref()).await?;
    bundled::write(reader, writer).await?;
    if flags.with_reader {
        writer.make_reader_account().await?;
    }
    println!("{}", if applied.is_empty() { UP_TO_DATE.into() } else { format!("applied {}", applied.join(", ")) });
    Ok(())
}

/// What is to be done to the database; nothing is written.
async fn pending(
    choice: &Choice,
    layout: Option<&ClusterLayout>,
    reader: &Reader,
    writer: &Writer,
) -> Result<ChangeList, Failure> {
    let plan = writer.plan(choice, layout).await?;
    let is_new = plan.statements.first().is_some_and(|first| first.reason == PlanReason::NewDatabase);
    let signatures = if is_new { bundled::count()? } else { bundled::missing(reader).await? };
    Ok(ChangeList { plan, signatures })
}
