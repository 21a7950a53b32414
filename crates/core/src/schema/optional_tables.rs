//! Tables that an operator may leave out: `migrate --without` and `--with`.

use std::fmt;

/// A table that views fill from other tables. Without it, reads that would use it take another path, which is slower,
/// or are refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OptionalTable {
    /// Which logs have a topic.
    LogTopics,
    /// Transactions of an address.
    TransactionsByAddress,
    /// Blocks of a fee recipient.
    BlocksByMiner,
    /// Internal transactions in the order of blocks, as lists show them.
    ListedInternalTransactions,
    /// Logs in the order of those topics that hold an address.
    LogsByTopic,
    /// Balances of tokens by holder. It is filled from what is worked out over all blocks, so it has no rows of blocks.
    TokenBalancesByHolder,
}

impl OptionalTable {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::LogTopics,
        Self::TransactionsByAddress,
        Self::BlocksByMiner,
        Self::ListedInternalTransactions,
        Self::LogsByTopic,
        Self::TokenBalancesByHolder,
    ];

    /// Those that a new database has only where an operator asks for them.
    pub const LEFT_OUT_AT_FIRST: [Self; 1] = [Self::LogsByTopic];

    /// Their names, in the order of [`OptionalTable::ALL`].
    pub const NAMES: [&'static str; Self::ALL.len()] = {
        let mut names = [""; Self::ALL.len()];
        let mut index = 0;
        while index < names.len() {
            names[index] = Self::ALL[index].name();
            index += 1;
        }
        names
    };

    /// Its name in the database.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::LogTopics => "log_topics",
            Self::TransactionsByAddress => "transactions_by_address",
            Self::BlocksByMiner => "blocks_by_miner",
            Self::ListedInternalTransactions => "listed_internal_transactions",
            Self::LogsByTopic => "logs_by_topic",
            Self::TokenBalancesByHolder => "token_balances_by_holder",
        }
    }

    /// How many times the bytes of the table that it is filled from it takes at most. A log is once for each of its
    /// topics in `logs_by_topic`, with all its data. Balances have the same columns in another order; the others have
    /// fewer columns than what they are filled from.
    #[must_use]
    pub const fn times_of_source(self) -> u64 {
        match self {
            Self::LogsByTopic => 3,
            Self::TokenBalancesByHolder => 2,
            Self::LogTopics | Self::TransactionsByAddress | Self::BlocksByMiner | Self::ListedInternalTransactions => 1,
        }
    }

    /// The table of a name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|table| table.name() == name)
    }
}

impl fmt::Display for OptionalTable {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// The optional tables that a database has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OptionalTables(u8);

impl OptionalTables {
    /// Whether `table` is among them.
    #[must_use]
    pub const fn has(self, table: OptionalTable) -> bool {
        self.0 & Self::bit(table) != 0
    }

    const fn bit(table: OptionalTable) -> u8 {
        1 << table as u8
    }
}

impl FromIterator<OptionalTable> for OptionalTables {
    fn from_iter<I: IntoIterator<Item = OptionalTable>>(tables: I) -> Self {
        Self(tables.into_iter().fold(0, |bits, table| bits | Self::bit(table)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_table_is_in_a_set_by_itself() {
        for table in OptionalTable::ALL {
            let only = OptionalTables::from_iter([table]);
            assert!(OptionalTable::ALL.into_iter().all(|other| only.has(other) == (other == table)), "{table}");
            assert_eq!(OptionalTable::from_name(table.name()), Some(table));
        }
    }
}
