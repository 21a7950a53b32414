//! Which shard of a cluster has a row: the sharding keys of `Distributed` tables.
//!
//! A key is a column of the table's order, mostly the first: then a page, a lookup or a list of one value is read on
//! one shard. Orders that have all heights of a topic or of a miner are sharded by block, as what they lead to.

/// Where the rows of a table are on a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sharding {
    /// On the shard that this expression over its columns picks, modulo the number of shards.
    Key(&'static str),
    /// By height, which this column is: neighbours stay together, so that a page of a few blocks is read on one shard.
    Blocks(&'static str),
    /// All on the first shard: tables that writers and readers coordinate by, and small ones that change.
    FirstShard,
}

/// Blocks that lie together on a shard, unless `migrate --shard-blocks` says another number.
pub const SHARD_BLOCKS: u64 = 1000;

impl Sharding {
    /// The sharding key of a `Distributed` table over its rows; `None` on the first shard.
    #[must_use]
    pub fn expression(self, shard_blocks: u64) -> Option<String> {
        match self {
            Self::Key(key) => Some(key.into()),
            Self::Blocks(height) => Some(format!("intDiv({height}, {shard_blocks})")),
            Self::FirstShard => None,
        }
    }
}

const BLOCK: Sharding = Sharding::Blocks("block_number");
const NEPHEW: Sharding = Sharding::Blocks("nephew_block_number");
const ADDRESS: Sharding = Sharding::Key("cityHash64(address)");
const TOKEN: Sharding = Sharding::Key("cityHash64(token_address)");
const HOLDER: Sharding = Sharding::Key("cityHash64(holder)");

/// The sharding of a table of `sql/tables`, or of a table of the newest blocks (`hot_…`); `None` of any other name.
#[must_use]
pub fn sharding(table: &str) -> Option<Sharding> {
    use Sharding::{FirstShard, Key};
    Some(match table {
        "logs"
        | "token_transfers"
        | "token_transfers_by_direction"
        | "token_transfers_by_token"
        | "internal_transactions_by_address"
        | "internal_transactions_by_direction"
        | "transactions_by_address"
        | "withdrawals"
        | "contracts"
        | "balance_history"
        | "nonce_history"
        | "code_history"
        | "storage_history"
        | "balance_credits"
        | "account_destructions"
        | "proxy_implementations"
        | "address_labels"
        | "contract_abis"
        | "contract_sources" => ADDRESS,
        "blocks"
        | "logs_by_block"
        | "log_topics"
        | "transactions"
        | "token_transfers_by_block"
        | "withdrawals_by_block"
        | "internal_transactions"
        | "listed_internal_transactions"
        | "blocks_by_miner"
        | "block_verdicts"
        | "reorged_blocks" => BLOCK,
        "uncles" => NEPHEW,
        "token_balances" | "token_statistics" | "token_id_holders" => TOKEN,
        "token_balances_by_holder" | "token_id_balances" => HOLDER,
        "blocks_by_hash" | "transactions_by_hash" => Key("cityHash64(hash_prefix)"),
        "reorged_withdrawals" => Key("cityHash64(block_hash)"),
        "codes" => Key("cityHash64(code_hash)"),
        "logs_by_topic" => Key("cityHash64(topic)"),
        "event_signatures" => Key("cityHash64(hash)"),
        "function_signatures" => Key("cityHash64(selector)"),
        "source_contents" => Key("cityHash64(content_hash)"),
        "search_terms" => Key("cityHash64(term)"),
        "chain_configurations"
        | "follow_reports"
        | "hot_rows"
        | "ingest_commits"
        | "ingest_heads"
        | "ingest_intents"
        | "ingest_leases"
        | "label_loads"
        | "left_out_tables"
        | "schema_migrations"
        | "token_balance_changes"
        | "token_id_changes"
        | "token_steps"
        | "tokens"
        | "transaction_totals" => FirstShard,
        name if name.starts_with("hot_") => FirstShard,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    #[test]
    fn every_table_has_a_key_of_its_order() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sql/tables");
        let mut sharded = 0;
        for file in fs::read_dir(folder).expect("sql/tables").flatten() {
            let (path, sql) = (file.path(), fs::read_to_string(file.path()).expect("a table"));
            let table = path.file_stem().and_then(|name| name.to_str()).expect("a name");
            let order = sql.lines().find_map(|line| line.strip_prefix("ORDER BY ")).unwrap_or_default();
            let words = |text: &str| -> Vec<String> {
                text.split(|of: char| !of.is_alphanumeric() && of != '_').map(str::to_owned).collect()
            };
            let sharding = sharding(table).unwrap_or_else(|| panic!("{table} has no sharding"));
            if let Some(key) = sharding.expression(SHARD_BLOCKS) {
                let column = words(&key).swap_remove(1);
                assert!(words(order).contains(&column), "{table}: {key} of ORDER BY {order}");
                sharded += 1;
            }
        }
        assert!(sharded > 30, "{sharded} tables have a key");
        assert_eq!((sharding("hot_logs"), sharding("another")), (Some(Sharding::FirstShard), None));
    }
}
