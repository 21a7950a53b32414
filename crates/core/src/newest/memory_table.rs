//! The tables that blocks have in memory, and the columns by whose values blocks are found.

use std::hash::{DefaultHasher, Hasher as _};

/// The tables, each with its columns of addresses and hashes that requests look for; the other tables are orders of the
/// same rows, or not read.
const TABLES: [(&str, &[&str]); 18] = [
    ("blocks", &["hash", "producer"]),
    ("transactions", &["hash", "from_address", "to_address", "contract_address"]),
    ("logs", &["address", "topic0", "topic1", "topic2", "topic3"]),
    ("withdrawals", &["address"]),
    ("uncles", &["hash"]),
    ("internal_transactions", &["from_address", "to_address", "created_contract"]),
    ("internal_transactions_by_direction", &["address"]),
    ("token_transfers_by_direction", &["address", "token_address"]),
    ("balance_history", &["address"]),
    ("nonce_history", &["address"]),
    ("code_history", &["address"]),
    ("codes", &["code_hash"]),
    ("storage_history", &["address", "slot"]),
    ("account_destructions", &["address"]),
    ("balance_credits", &["address"]),
    ("contracts", &["address"]),
    ("proxy_implementations", &["address"]),
    ("block_verdicts", &[]),
];

/// A table that blocks have in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct MemoryTable(usize);

impl MemoryTable {
    /// The table of this name, if it is held in memory.
    pub fn of(name: &str) -> Option<Self> {
        TABLES.iter().position(|(own, _)| *own == name).map(Self)
    }

    /// Name of the table for settled rows, without `hot_`.
    pub fn name(self) -> &'static str {
        TABLES[self.0].0
    }

    /// The columns by whose values blocks are found.
    pub fn indexed(self) -> &'static [&'static str] {
        TABLES[self.0].1
    }

    /// The key of a block with a value in one of these columns. Values of different keys are different.
    pub fn key(self, value: &[u8]) -> u32 {
        let mut hasher = DefaultHasher::new();
        hasher.write_usize(self.0);
        hasher.write(value);
        u32::try_from(hasher.finish() >> 32).unwrap_or_default()
    }

    /// The key of a block with a row in the table.
    pub fn key_of_rows(self) -> u32 {
        self.key(&[])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::hot::HOT_TABLES;

    #[test]
    fn indexed_columns_are_columns_of_hot_tables() {
        for (name, columns) in TABLES {
            let table = HOT_TABLES.iter().find(|table| table.settled == name).expect(name).create_statement();
            for column in columns {
                assert!(table.contains(&format!("\n    {column} ")), "{name} has no {column}");
            }
        }
    }
}
