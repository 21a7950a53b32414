//! Exit codes that programs share: of what another start does not cure, so that nothing restarts them for it.

use crate::store::{MigrateError, StoreError};

/// ClickHouse does not know the user, or the password is another one.
pub const WRONG_LOGIN: u8 = 6;
/// The schema of the database is not one that this program can use or migrate.
pub const OTHER_SCHEMA: u8 = 7;
/// Rows were lost, or cannot be read.
pub const DAMAGE: u8 = 8;

/// The code of an error of ClickHouse that has one of these.
#[must_use]
pub fn of_store(error: &StoreError) -> Option<u8> {
    error.is_wrong_login().then_some(WRONG_LOGIN)
}

/// The code of an error of a schema that has one of these.
#[must_use]
pub fn of_schema(error: &MigrateError) -> Option<u8> {
    match error {
        MigrateError::Newer { .. } | MigrateError::Unreleased { .. } | MigrateError::Edited { .. } => {
            Some(OTHER_SCHEMA)
        }
        MigrateError::Store(error) | MigrateError::Step { source: error, .. } => of_store(error),
        MigrateError::NoRoles
        | MigrateError::MayNotMakeRoles { .. }
        | MigrateError::Older { .. }
        | MigrateError::Cluster(_) => None,
    }
}
