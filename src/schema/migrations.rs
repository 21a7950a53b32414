//! The versions of the schema: what `trawl-ingest migrate` applies, in order.
//!
//! A migration that has been released is never edited: the database remembers its checksum.
//! `sql/tables/` shows the sum of all migrations; a test compares both.

/// One step of the schema. Its version is its place in [`MIGRATIONS`], counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Migration {
    /// File name without its ending; starts with the version in four digits.
    pub name: &'static str,
    /// One statement.
    pub sql: &'static str,
}

macro_rules! migrations {
    ($($name:literal,)*) => {
        /// All migrations, first to last.
        pub const MIGRATIONS: &[Migration] = &[$(Migration {
            name: $name,
            sql: include_str!(concat!("../../sql/migrations/", $name, ".sql")),
        }),*];
    };
}

migrations! {
    "0001_create_blocks",
    "0002_create_blocks_by_hash",
    "0003_create_transactions",
    "0004_create_transactions_by_hash",
    "0005_create_logs",
    "0006_create_logs_by_block",
    "0007_create_withdrawals",
    "0008_create_withdrawals_by_block",
    "0009_create_uncles",
    "0010_create_ingest_intents",
    "0011_create_ingest_commits",
    "0012_create_ingest_leases",
    "0013_create_block_verdicts",
    "0014_create_internal_transactions",
    "0015_create_internal_transactions_by_address",
    "0016_create_internal_transactions_by_direction",
    "0017_create_token_transfers",
    "0018_create_token_transfers_by_direction",
    "0019_create_token_transfers_by_token",
    "0020_create_token_transfers_by_block",
    "0021_create_tokens",
    "0022_create_balance_history",
    "0023_create_nonce_history",
    "0024_create_code_history",
    "0025_create_codes",
    "0026_create_storage_history",
    "0027_create_account_destructions",
    "0028_create_balance_credits",
    "0029_create_contracts",
    "0030_create_proxy_implementations",
    "0031_add_lacking_to_blocks",
    "0032_add_lacking_to_transactions",
    "0033_add_last_total_difficulty_to_ingest_commits",
    "0034_create_ingest_heads",
    "0035_create_reorged_blocks",
    "0036_create_reorged_withdrawals",
}

/// Creates the table that remembers what was applied.
pub const CREATE_SCHEMA_MIGRATIONS: &str = include_str!("../../sql/tables/schema_migrations.sql");

/// The version this program is written for.
#[must_use]
pub fn current_version() -> u32 {
    u32::try_from(MIGRATIONS.len()).expect("a few files")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_start_with_their_version() {
        for (position, migration) in MIGRATIONS.iter().enumerate() {
            assert!(migration.name.starts_with(&format!("{:04}_", position + 1)), "{}", migration.name);
        }
    }
}
