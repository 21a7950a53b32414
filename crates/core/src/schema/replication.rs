//! Whether the tables of a shard replicate, and their engines then.

/// Whether the rows of a shard are on several servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replication {
    /// A shard is one server: `MergeTree`.
    None,
    /// A shard may have replicas, which agree by ClickHouse Keeper or ZooKeeper: `ReplicatedMergeTree`
    /// (<https://clickhouse.com/docs/engines/table-engines/mergetree-family/replication>).
    Keeper,
}

impl Replication {
    /// The statement that creates a table of one shard, made from that of one server. The replicas of a shard find each
    /// other by the cluster and by the macros `{shard}` and `{replica}` of each server's configuration.
    #[must_use]
    pub fn of_table(self, create: &str, cluster: &str) -> String {
        if self == Self::None {
            return create.into();
        }
        let path = format!("'/clickhouse/tables/{cluster}/{{shard}}/{{database}}/{{table}}', '{{replica}}'");
        // Longer names of engines first, so that none is part of another.
        let engines = [
            ("\nENGINE = ReplacingMergeTree(", format!("\nENGINE = ReplicatedReplacingMergeTree({path}, ")),
            ("\nENGINE = ReplacingMergeTree\n", format!("\nENGINE = ReplicatedReplacingMergeTree({path})\n")),
            ("\nENGINE = MergeTree\n", format!("\nENGINE = ReplicatedMergeTree({path})\n")),
        ];
        let create = engines.iter().fold(create.to_owned(), |text, (plain, engine)| text.replacen(plain, engine, 1));
        create.replace("    non_replicated_deduplication_window =", "    replicated_deduplication_window =")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::hot::HOT_TABLES;
    use crate::schema::migrations::{CREATE_SCHEMA_MIGRATIONS, MIGRATIONS, Migration};

    #[test]
    fn every_table_with_rows_replicates() {
        let steps = MIGRATIONS.iter().flat_map(Migration::steps).map(|step| step.sql.to_owned());
        let hot = HOT_TABLES.iter().map(|table| table.create_statement());
        let tables = steps.chain(hot).chain([CREATE_SCHEMA_MIGRATIONS.to_owned()]);
        let tables: Vec<String> = tables.filter(|sql| sql.contains("ENGINE = ")).collect();
        assert!(tables.len() > 70, "{}", tables.len());
        for sql in tables {
            let replicated = Replication::Keeper.of_table(&sql, "c");
            let engines =
                replicated.matches("MergeTree('/clickhouse/tables/c/{shard}/{database}/{table}', '{replica}'");
            assert_eq!(engines.count(), sql.matches("MergeTree").count(), "{replicated}");
            assert!(!replicated.contains("non_replicated"), "{replicated}");
            assert_eq!(Replication::None.of_table(&sql, "c"), sql);
        }
    }
}
