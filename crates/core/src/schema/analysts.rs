//! What `migrate` makes for people who write SQL: functions, a dictionary, and views with one row for each fact.
//!
//! They hold no rows, so they have no migrations: each `migrate` makes them anew as `sql/analysts` and the list of events
//! say.

use super::event_views::EVENT_VIEWS;
use super::migrations::Step;
use crate::schema::OptionalTable;

/// The files of a folder of `sql/analysts`.
macro_rules! files {
    ($folder:literal: $($name:literal,)*) => {
        &[$(Step { name: $name, sql: include_str!(concat!("../../../../sql/analysts/", $folder, "/", $name, ".sql")) }),*]
    };
}

/// SQL functions. They are of the whole server, so the same for all databases.
pub const FUNCTIONS: &[Step] = files! { "functions":
    "address",
    "block_at",
    "hash32",
    "hex0x",
    "int256",
    "topic_address",
    "uint256",
};

/// Views and the dictionary. What is in one stage needs only what is in those before, and may be made at the same time.
pub fn stages() -> impl Iterator<Item = &'static [Step]> {
    STAGES.iter().copied().chain([EVENT_VIEWS.as_slice()])
}

/// The stages that are files.
const STAGES: &[&[Step]] = &[
    files! { "views":
        "v_committed",
        "v_newest",
        "v_schema",
        "v_token_facts",
        "v_tokens",
    },
    files! { "dictionaries":
        "token_facts",
    },
    files! { "views":
        "v_blocks",
        "v_contracts",
        "v_counted",
        "v_head",
        "v_internal_transactions",
        "v_internal_transactions_by_address",
        "v_logs",
        "v_logs_by_contract",
        "v_token_transfers",
        "v_token_transfers_by_address",
        "v_transactions",
        "v_transactions_by_address",
        "v_withdrawals",
    },
    files! { "views":
        "v_balances",
        "v_token_holders",
    },
];

/// Views of tables that an operator may leave out: view, table.
const NEED_OPTIONAL: [(&str, OptionalTable); 2] = [
    ("v_balances", OptionalTable::TokenBalancesByHolder),
    ("v_transactions_by_address", OptionalTable::TransactionsByAddress),
];

/// Whether a view reads a table that is among those `left_out`.
#[must_use]
pub fn reads_left_out(view: &str, left_out: &[OptionalTable]) -> bool {
    NEED_OPTIONAL.iter().any(|(name, table)| *name == view && left_out.contains(table))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A block that is settled between the two reads is then in both, and not in neither. The engine reads a scalar
    /// sub-query where it is used first.
    #[test]
    fn views_read_the_newest_blocks_before_the_settled_ones() {
        let mut views = 0;
        for view in stages().flatten() {
            let Some((_, body)) = view.sql.split_once("\nFROM\n(") else { continue };
            let first = |name: &str| body.find(name);
            let settled = first("committed.").or_else(|| first("counted."));
            if view.sql.contains("FROM v_newest)") {
                assert!(first("newest)").is_some() && first("newest)") < settled, "{}", view.name);
                views += 1;
            }
        }
        assert_eq!(views, 13);
    }
}
