//! A plan for all accounts and slots that a chain has, for chains that have few.

use super::{bind, history};
use trawl_core::primitives::{Address, B256};
use trawl_core::readable::Span;
use trawl_core::schema::columns::columns;
use trawl_core::statement::{Statement, Workload};

columns! {
    /// A change of an account or of a slot.
    pub struct StateChange / StateChangeView {
        /// `account`, `slot`, or `end` for a destruction.
        part: String,
        /// Account that changed, or whose slot did.
        address: Address,
        /// The slot, for one.
        slot: Option<B256>,
        /// Height of the block.
        block_number: u64,
    }
}

/// The tables of changes, and what they are of.
const TABLES: [(&str, &str); 6] = [
    ("balance_history", "account"),
    ("balance_credits", "account"),
    ("nonce_history", "account"),
    ("code_history", "account"),
    ("storage_history", "slot"),
    ("account_destructions", "end"),
];

/// Changes in the blocks of `state`, which begin at genesis: all of a table, or any `limit` of them. No key bounds what
/// is read, so the number of rows does.
#[must_use]
pub fn changes(state: &Span, limit: u64) -> Statement<StateChange> {
    let of_table = |(table, part): &(&str, &str)| {
        let slot = if *part == "slot" { "slot" } else { "toFixedString('', 32)" };
        let columns: &[&str] = if *part == "slot" { &["address", "slot"] } else { &["address"] };
        let rows = history(table, columns, "1", "0", state);
        format!(
            "(SELECT '{part}' AS part, address, if('{part}' = 'slot', toNullable({slot}), NULL) AS slot, block_number\nFROM {rows}\nLIMIT {{limit:UInt64}})"
        )
    };
    let sql = TABLES.iter().map(of_table).collect::<Vec<_>>().join("\nUNION ALL\n");
    bind(Statement::page(sql).on_behalf_of(Workload::Call).with("limit", limit), state)
}

#[cfg(test)]
mod tests {
    use super::*;
    use trawl_core::primitives::BlockRange;

    #[test]
    fn each_table_is_read_up_to_a_number_of_rows() {
        let settled = vec![BlockRange::new(0, 9).expect("ordered")];
        let changes = changes(&Span { settled, ..Span::default() }, 100);
        assert_eq!(changes.sql.matches("LIMIT {limit:UInt64}").count(), TABLES.len());
        assert!(TABLES.iter().all(|(table, _)| changes.sql.contains(&format!("FROM {table}\n"))), "{}", changes.sql);
        assert!(!changes.sql.contains("hot_"), "{}", changes.sql);
    }
}
