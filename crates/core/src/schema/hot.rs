//! The hot tables: the newest blocks, which another branch may still replace, apart from the settled ones.
//!
//! Each is a table of `sql/tables` with a `generation` in front, so that rows of several branches can lie side by side,
//! in partitions by height, and without codecs and skip indexes;
//! `ingest_heads` names the generations that count. The hot tables are derived from the table files and not migrated:
//! a node can supply their rows again.

use super::BLOCK_TABLES;

/// A table whose newest rows lie in a hot table. Rows that are stored in several orders have one hot table for all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HotTable {
    /// Name of the table for settled blocks.
    pub settled: &'static str,
    /// The statement that creates it.
    create: &'static str,
}

macro_rules! hot_tables {
    ($($name:literal,)*) => {
        /// A hot table for every kind of rows of a block.
        pub const HOT_TABLES: &[HotTable] = &[$(HotTable {
            settled: $name,
            create: include_str!(concat!("../../../../sql/tables/", $name, ".sql")),
        }),*];
    };
}

hot_tables! {
    "blocks",
    "blocks_by_hash",
    "transactions",
    "transactions_by_hash",
    "logs",
    "withdrawals",
    "uncles",
    "internal_transactions",
    "internal_transactions_by_address",
    "internal_transactions_by_direction",
    "token_transfers",
    "token_transfers_by_direction",
    "token_transfers_by_block",
    "balance_history",
    "nonce_history",
    "code_history",
    "codes",
    "storage_history",
    "account_destructions",
    "balance_credits",
    "contracts",
    "proxy_implementations",
    "block_verdicts",
}

/// Heights of one partition of a hot table: rows of settled blocks are removed a partition at a time.
pub const PARTITION_BLOCKS: u64 = 512;

/// The least parts of a hot table that are merged at once: its rows are removed soon, so few merges are worth it.
const MERGED_PARTS: usize = 8;

/// The column that only hot tables have: it grows each time a height is written again.
pub const GENERATION: &str = "generation";

impl HotTable {
    /// `hot_` and the name of the table for settled blocks.
    #[must_use]
    pub fn name(self) -> String {
        format!("hot_{}", self.settled)
    }

    /// The statement that creates it.
    #[must_use]
    pub fn create_statement(self) -> String {
        let (settled, from) = (self.settled, self.create.find("CREATE TABLE").unwrap_or_default());
        let head = format!("CREATE TABLE IF NOT EXISTS {settled}\n(\n");
        let generation = format!(
            "CREATE TABLE IF NOT EXISTS {}\n(\n    {GENERATION} UInt64 COMMENT 'version of the block height that the \
             row belongs to, one per write; ingest_heads lists the readable ones',\n",
            self.name()
        );
        let text = self.create[from..].replacen(&head, &generation, 1);
        let text = plain(&text);
        let height =
            BLOCK_TABLES.iter().find(|(table, _)| *table == settled).map_or("block_number", |(_, column)| column);
        let order = format!("PARTITION BY intDiv({height}, {PARTITION_BLOCKS})\nORDER BY ");
        let text = text.replacen("ORDER BY ", &order, 1);
        let merges = format!("SETTINGS\n    min_parts_to_merge_at_once = {MERGED_PARTS},\n");
        let text = text.replacen("SETTINGS\n", &merges, 1);
        let comment = text.rfind("\nCOMMENT '").unwrap_or(text.len());
        format!("{}\nCOMMENT 'rows of {settled} for blocks that are not settled yet'", &text[..comment])
    }
}

/// A statement that creates a table, without codecs and skip indexes: rows that are written again soon are not worth
/// the time of either.
fn plain(create: &str) -> String {
    let lines = create.lines().filter(|line| !line.starts_with("    INDEX ")).map(without_codec);
    lines.collect::<Vec<_>>().join("\n").replacen(",\n)\nENGINE", "\n)\nENGINE", 1)
}

/// The codec is the last thing of a line.
fn without_codec(column: &str) -> String {
    match column.find(" CODEC(") {
        Some(codec) if column.ends_with(',') => format!("{},", &column[..codec]),
        Some(codec) => column[..codec].into(),
        None => column.into(),
    }
}

/// The hot table for rows of a table, which may be one of several orders of the same rows.
#[must_use]
pub fn hot_name(table: &str) -> String {
    let settled = match table {
        "logs_by_block" | "logs_by_topic" => "logs",
        "withdrawals_by_block" => "withdrawals",
        "token_transfers_by_token" => "token_transfers",
        other => other,
    };
    format!("hot_{settled}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_of_blocks_has_one() {
        for (table, _) in BLOCK_TABLES {
            assert!(HOT_TABLES.iter().any(|hot| hot.name() == hot_name(table)), "{table}");
        }
    }

    #[test]
    fn it_is_its_table_with_a_generation() {
        for hot in HOT_TABLES {
            let create = hot.create_statement();
            assert!(
                create
                    .starts_with(&format!("CREATE TABLE IF NOT EXISTS hot_{}\n(\n    generation UInt64", hot.settled))
            );
            assert!(create.ends_with("not settled yet'"), "{create}");
            assert!(!create.contains("CODEC") && !create.contains("INDEX ") && !create.contains(",\n)"), "{create}");
            assert!(create.contains("\nENGINE = MergeTree\nPARTITION BY intDiv("), "{create}");
            assert_eq!(create.matches("min_parts_to_merge_at_once = 8,").count(), 1, "{create}");
        }
    }
}
