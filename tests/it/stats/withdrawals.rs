//! More withdrawals than are added up one by one.

use serde_json::{Value, json};

use crate::env;

/// Withdrawals of the generated blocks.
const COUNT: u64 = 140_000;

/// Writes seven withdrawals of each of 20,000 blocks; each is of as many gwei as its number.
pub fn add(database: &str) -> anyhow::Result<()> {
    let rows = format!(
        "INSERT INTO withdrawals_by_block (withdrawal_index, block_number, amount)
         SELECT number, intDiv(number, 7), toUInt256(number) * 1000000000 FROM numbers({COUNT})"
    );
    env::sql(database, &rows)?;
    let commit = "INSERT INTO ingest_commits (first_block, last_block, parts, chain_id, source, run) \
                  VALUES (0, 19999, ['withdrawals'], 1, 'generated', 'withdrawals')";
    env::sql(database, commit).map(drop)
}

/// What the counters are to be.
pub fn counters() -> Value {
    let gwei = u128::from(COUNT) * u128::from(COUNT - 1) / 2;
    json!({"withdrawals_count": COUNT.to_string(), "withdrawals_sum": (gwei * 1_000_000_000).to_string()})
}
