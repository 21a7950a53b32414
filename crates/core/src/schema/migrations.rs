//! The versions of the schema, which `trawl-ingest migrate` applies in order.
//!
//! The first creates the tables of `sql/tables` and the views of `sql/views`; `sql/migrations/README.md` describes how
//! a table changes later. A released migration is never edited: the database stores its checksum.
//! A test compares what all migrations make with `sql/tables`.

use alloy_primitives::{Keccak256, hex};

use super::comments::without_comment;
use super::settings::fixed_lines;

/// One version of the schema: its position in [`MIGRATIONS`], counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Migration {
    /// Starts with the version in four digits.
    pub name: &'static str,
    /// Checksums of the same statements from when comments of columns counted, and settings.
    pub earlier: &'static [&'static str],
    /// Its statements: steps of one stage may run at the same time, stages run one after another.
    pub stages: &'static [&'static [Step]],
}

/// One statement of a migration. It can be repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// File name without its ending.
    pub name: &'static str,
    /// The statement, with its comments.
    pub sql: &'static str,
}

impl Step {
    /// Whether the step creates or changes this optional table, or the view that fills it.
    #[must_use]
    pub fn is_of(&self, table: &str) -> bool {
        self.name.strip_prefix(table).is_some_and(|rest| rest.is_empty() || VIEWS.contains(&rest))
    }

    /// The statement that fills the table of a view from rows older than the view; `None` if the step creates no view.
    #[must_use]
    pub fn fill_statement(&self) -> Option<String> {
        let table = VIEWS.iter().find_map(|view| self.name.strip_suffix(view))?;
        let (_, select) = self.sql.split_once(" AS\nSELECT\n")?;
        Some(format!("INSERT INTO {table}\nSELECT\n{select}"))
    }
}

/// Suffixes of the views that fill a table from another.
pub const VIEWS: [&str; 5] =
    ["_from_blocks", "_from_internal_transactions", "_from_logs", "_from_token_balances", "_from_transactions"];

impl Migration {
    /// All its steps.
    pub fn steps(&self) -> impl Iterator<Item = &'static Step> {
        self.stages.iter().copied().flatten()
    }

    /// Keccak-256 of the statements by their names, hexadecimal. Comments above a statement, those of tables and
    /// columns, and settings that tables may change are excluded, so that they can be corrected.
    #[must_use]
    pub fn checksum(&self) -> String {
        let mut steps: Vec<&Step> = self.steps().collect();
        steps.sort_unstable_by_key(|step| step.name);
        let mut hash = Keccak256::new();
        for line in steps.iter().flat_map(|step| fixed_lines(step.sql)) {
            hash.update(without_comment(&line));
            hash.update("\n");
        }
        hex::encode(hash.finalize())
    }

    /// Whether a database that remembers `checksum` has these statements.
    #[must_use]
    pub fn is_remembered_as(&self, checksum: &str) -> bool {
        self.checksum() == checksum || self.earlier.contains(&checksum)
    }
}

/// The files of a folder of `sql/`.
macro_rules! steps {
    ($folder:literal: $($name:literal,)*) => {
        &[$(Step { name: $name, sql: include_str!(concat!("../../../../sql/", $folder, "/", $name, ".sql")) }),*]
    };
}

/// The first version: tables, and the views that need them.
const BASELINE: Migration = Migration {
    name: "0001_baseline",
    earlier: &[
        "3c7e5db0f93bee9f9417b3b3f8f5a9755f210a0bf5c9598e9a689911677be34b",
        "ab4bc2c32c399798eb0b3c5b3d19ce643ea4bd09697498b6f0ab330e59bc2f75",
    ],
    stages: &[
        steps! { "tables":
            "account_destructions",
            "address_labels",
            "balance_credits",
            "balance_history",
            "block_verdicts",
            "blocks",
            "blocks_by_hash",
            "blocks_by_miner",
            "chain_configurations",
            "code_history",
            "codes",
            "contract_abis",
            "contracts",
            "event_signatures",
            "follow_reports",
            "function_signatures",
            "hot_rows",
            "ingest_commits",
            "ingest_heads",
            "ingest_intents",
            "ingest_leases",
            "internal_transactions",
            "internal_transactions_by_address",
            "internal_transactions_by_direction",
            "label_loads",
            "left_out_tables",
            "listed_internal_transactions",
            "log_topics",
            "logs",
            "logs_by_block",
            "logs_by_topic",
            "nonce_history",
            "proxy_implementations",
            "reorged_blocks",
            "reorged_withdrawals",
            "search_terms",
            "storage_history",
            "token_balance_changes",
            "token_balances",
            "token_balances_by_holder",
            "token_id_balances",
            "token_id_changes",
            "token_id_holders",
            "token_statistics",
            "token_steps",
            "token_transfers",
            "token_transfers_by_block",
            "token_transfers_by_direction",
            "token_transfers_by_token",
            "tokens",
            "transactions",
            "transactions_by_address",
            "transactions_by_hash",
            "uncles",
            "withdrawals",
            "withdrawals_by_block",
        },
        steps! { "views":
            "blocks_by_miner_from_blocks",
            "listed_internal_transactions_from_internal_transactions",
            "log_topics_from_logs",
            "logs_by_topic_from_logs",
            "search_terms_from_labels",
            "search_terms_from_tokens",
            "token_balances_by_holder_from_token_balances",
            "token_id_holders_from_token_id_balances",
            "transactions_by_address_from_transactions",
        },
    ],
};

/// Totals of transactions by calendar period.
const TRANSACTION_TOTALS: Migration = Migration {
    name: "0002_transaction_totals",
    earlier: &[],
    stages: &[steps! { "tables":
        "transaction_totals",
    }],
};

/// Source code of contracts.
const CONTRACT_SOURCES: Migration = Migration {
    name: "0003_contract_sources",
    earlier: &[],
    stages: &[steps! { "tables":
        "contract_sources",
        "source_contents",
    }],
};

/// All migrations, first to last.
pub const MIGRATIONS: &[Migration] = &[BASELINE, TRANSACTION_TOTALS, CONTRACT_SOURCES];

/// The first migration of the databases that were made before the first release, with 51 migrations.
pub const UNRELEASED: &str = "0001_create_blocks";

/// Creates the table of applied migrations.
pub const CREATE_SCHEMA_MIGRATIONS: &str = include_str!("../../../../sql/tables/schema_migrations.sql");

/// The version that this program needs.
#[must_use]
pub fn current_version() -> u32 {
    u32::try_from(MIGRATIONS.len()).expect("a few files")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::OptionalTable;

    #[test]
    fn names_start_with_their_version() {
        for (position, migration) in MIGRATIONS.iter().enumerate() {
            assert!(migration.name.starts_with(&format!("{:04}_", position + 1)), "{}", migration.name);
        }
    }

    /// The beginnings of the checksums that databases remember. A line is added with each migration and never changed
    /// after a release: see `sql/migrations/README.md`.
    const APPLIED: &[&str] = &["936c75aa17fb0f05", "5d96a462a74f7c2f", "4cd5d7047834be3e"];

    #[test]
    fn no_migration_is_edited() {
        let found: Vec<String> = MIGRATIONS.iter().map(|migration| migration.checksum()[..16].to_owned()).collect();
        assert_eq!(found, APPLIED);
    }

    #[test]
    fn comments_do_not_count_and_statements_do() {
        let checksum = |sql| {
            let steps: &'static [Step] = vec![Step { name: "logs", sql }].leak();
            Migration { name: "0001_logs", earlier: &[], stages: vec![steps].leak() }.checksum()
        };
        assert_eq!(checksum("-- one\nCREATE TABLE logs"), checksum("-- another\n-- text\nCREATE TABLE logs"));
        assert_ne!(checksum("CREATE TABLE logs"), checksum("CREATE TABLE log"));
        assert_eq!(checksum("data String COMMENT 'one''s' CODEC(LZ4),"), checksum("data  String CODEC(LZ4),"));
        assert_ne!(checksum("data String CODEC(LZ4),"), checksum("data String CODEC(T64),"));
    }

    #[test]
    fn optional_tables_can_be_filled() {
        for table in OptionalTable::NAMES {
            let steps: Vec<&Step> = BASELINE.steps().filter(|step| step.is_of(table)).collect();
            assert!(steps.iter().any(|step| step.name == table));
            let fill: Vec<String> = steps.iter().filter_map(|step| step.fill_statement()).collect();
            assert!(fill.len() == 1 && fill[0].starts_with(&format!("INSERT INTO {table}\nSELECT\n")), "{fill:?}");
        }
    }
}
