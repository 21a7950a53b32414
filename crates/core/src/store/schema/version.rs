//! Compares the schema of a database with the one that this program needs.

use clickhouse::Client;

use crate::schema::migrations::{MIGRATIONS, UNRELEASED, current_version};
use crate::store::cluster::ClusterError;
use crate::store::error::{StoreError, UNKNOWN_DATABASE, UNKNOWN_TABLE};

/// Why a database cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum MigrateError {
    /// Made by a later release.
    #[error(
        "database `{database}` has schema version {found}, which is newer than this program's {ours}: use a newer Trawl"
    )]
    Newer {
        /// Name of the database.
        database: String,
        /// Version of the database.
        found: u32,
        /// Version that this program needs.
        ours: u32,
    },
    /// The embedded engine, or a server without a directory of users.
    #[error(
        "this server cannot store roles, so --with-reader cannot create one: the embedded engine has readers of its \
         own (start trawl-engine with \
         --reader-user or --readers); a ClickHouse server needs `access_control_path` or another writable user directory"
    )]
    NoRoles,
    /// The user may not make roles; that of an embedded engine with readers never may.
    #[error(
        "this user lacks the rights to create roles, profiles, quotas and policies: run migrate --with-reader as one \
         who has them (--clickhouse-user); the embedded engine cannot store roles and has readers of its own \
         (--reader-user, --readers): {message}"
    )]
    MayNotMakeRoles {
        /// Message of ClickHouse.
        message: String,
    },
    /// Made by an earlier release, or empty.
    #[error(
        "database `{database}` has schema version {found} and this program needs {ours}: run `trawl-ingest migrate`"
    )]
    Older {
        /// Name of the database.
        database: String,
        /// Its version; 0 if it has no tables of ours.
        found: u32,
        /// Version that this program needs.
        ours: u32,
    },
    /// Made before there was a release.
    #[error(
        "database `{database}` was created by a Trawl from before its first release, whose migrations this program \
         does not have: drop the database (`DROP DATABASE {database}`) and load it again, or use another \
         --clickhouse-database"
    )]
    Unreleased {
        /// Name of the database.
        database: String,
    },
    /// A migration was applied with another text.
    #[error(
        "migration {name} was applied to database `{database}` with a different text: was it edited after its release?"
    )]
    Edited {
        /// Name of the database.
        database: String,
        /// Name of the migration.
        name: String,
    },
    /// A migration failed.
    #[error("migration {name} failed")]
    Step {
        /// The migration, or its step where one of many is repeated.
        name: &'static str,
        /// The error of the statement that failed.
        source: StoreError,
    },
    /// The tables cannot be made or written on a cluster.
    #[error(transparent)]
    Cluster(ClusterError),
    /// ClickHouse did not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<ClusterError> for MigrateError {
    fn from(error: ClusterError) -> Self {
        match error {
            ClusterError::Store(error) => Self::Store(error),
            error => Self::Cluster(error),
        }
    }
}

/// The check that both programs make before they use the tables.
pub(crate) async fn require_schema(client: &Client, database: &str) -> Result<(), MigrateError> {
    let (found, ours) = (found_version(client, database).await?, current_version());
    if found < ours {
        return Err(MigrateError::Older { database: database.into(), found, ours });
    }
    Ok(())
}

/// The version of the database, which may be missing: 0 then.
pub(crate) async fn found_version(client: &Client, database: &str) -> Result<u32, MigrateError> {
    match applied(client, database).await {
        Err(MigrateError::Store(StoreError::Refused { code: UNKNOWN_TABLE | UNKNOWN_DATABASE, .. })) => Ok(0),
        other => other,
    }
}

/// The version of the database, after a check of the checksums of its migrations.
pub(crate) async fn applied(client: &Client, database: &str) -> Result<u32, MigrateError> {
    let query = client.query_raw(include_str!("../../../../../sql/queries/applied_migrations.sql"));
    let rows: Vec<(u32, String, String)> = query.fetch_all().await.map_err(StoreError::from)?;
    if rows.iter().any(|(_, name, _)| name == UNRELEASED) {
        return Err(MigrateError::Unreleased { database: database.into() });
    }
    let found = rows.iter().map(|(version, _, _)| *version).max().unwrap_or(0);
    let ours = current_version();
    if found > ours {
        return Err(MigrateError::Newer { database: database.into(), found, ours });
    }
    for (version, name, applied) in rows {
        let known = MIGRATIONS.get((version as usize).wrapping_sub(1));
        if known.is_none_or(|migration| !migration.is_remembered_as(&applied)) {
            return Err(MigrateError::Edited { database: database.into(), name });
        }
    }
    Ok(found)
}
