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

impl Migration {
    /// Whether it makes or fills this table that may be left out.
    #[must_use]
    pub fn is_of(&self, table: &str) -> bool {
        self.name[4..].split_once(table).is_some_and(|(_, rest)| rest.is_empty() || rest == "_from_logs")
    }
}

macro_rules! migrations {
    ($($name:literal,)*) => {
        /// All migrations, first to last.
        pub const MIGRATIONS: &[Migration] = &[$(Migration {
            name: $name,
            sql: include_str!(concat!("../../../../sql/migrations/", $name, ".sql")),
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
    "0037_name_sources_in_ingest_commits",
    "0038_create_label_loads",
    "0039_create_address_labels",
    "0040_create_contract_abis",
    "0041_create_event_signatures",
    "0042_create_function_signatures",
    "0043_create_token_balances",
    "0044_create_token_statistics",
    "0045_create_token_balance_changes",
    "0046_create_token_steps",
    "0047_create_chain_configurations",
    "0048_create_left_out_tables",
    "0049_create_log_topics",
    "0050_create_log_topics_from_logs",
    "0051_fill_log_topics",
}

/// Creates the table that remembers what was applied.
pub const CREATE_SCHEMA_MIGRATIONS: &str = include_str!("../../../../sql/tables/schema_migrations.sql");

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

    /// The beginnings of the checksums that databases remember. A line is added with each migration and never changed.
    const APPLIED: &[&str] = &[
        "1664ac305a7e5b46",
        "635604b264809203",
        "10c921ec2eb48d7c",
        "f0b855a08724d400",
        "a8ebe58772b9ff0c",
        "137d8f6edf6abad8",
        "05fc36bf12ab3f73",
        "67b960eff1c014e7",
        "95ae2f998d558317",
        "ac5632a4ada21360",
        "ed16d27c04120c82",
        "9cb1c4703c21f11d",
        "86473d57aa687ec1",
        "c2920ed96bac4674",
        "fd938ef9b99f77ef",
        "c654edb5fd53da84",
        "6a91c1bf4fdbbf15",
        "c84f08c4ba6603b6",
        "3a2837d1e0ef6f8f",
        "5ec3d3f4f0e18739",
        "afaf6f25c88ba75f",
        "b589393bb2757c4d",
        "d1dd05ef6c60eb94",
        "c588127110f20868",
        "f148617b1ae889d9",
        "c2f3b71f120d5274",
        "058753a27cc1a892",
        "7f0c836c0ceeae34",
        "715c23a1a584edcc",
        "a0330f3e74da2fcc",
        "63a8d8e88bd6a927",
        "f24435039d577bf0",
        "c6f6a297b6538ae4",
        "ac9617d4da72f2e6",
        "7a15f9ae5c4019e2",
        "a85a5be88c8e481f",
        "06c4214f0de4aa82",
        "1648eb45b81c7d64",
        "7587e675f652cdf6",
        "d3df37bb5c9e78da",
        "5f916fba6f7816e4",
        "3ef7841ab08abd3d",
        "492eb3cf689ffeaf",
        "51cb828627310ee4",
        "c1ee502a6e16df94",
        "31bb4d883eea7fb8",
        "bf0563574525adf2",
        "a04f34d1e97eba53",
        "df02f907301d77b9",
        "0e4c00301e048121",
        "9dad293cc3d5bde7",
    ];

    #[test]
    fn no_migration_is_edited() {
        let found: Vec<String> = MIGRATIONS
            .iter()
            .map(|migration| alloy_primitives::hex::encode(&alloy_primitives::keccak256(migration.sql)[..8]))
            .collect();
        assert_eq!(found, APPLIED);
    }
}
