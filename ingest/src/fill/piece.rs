//! Rows of parts that are filled in, of some blocks.

use trawl_core::store::TracedContract;

use crate::block::Parts;
use crate::write::batch::{BlockRows, RowCounts, TableBatch};

/// What contracts are known by.
pub(super) type ContractKey = (trawl_core::primitives::Address, u64, u32);

/// Rows on their way.
#[derive(Debug, Default)]
pub(super) struct Piece {
    rows: BlockRows,
    /// Bytes of the text they were read from.
    pub bytes: usize,
}

impl Piece {
    /// The rows of a block that belong to `parts`.
    pub fn of(rows: BlockRows, parts: Parts, bytes: usize) -> Self {
        let mut of_parts = BlockRows::default();
        if parts.traces {
            of_parts.internal_transactions = rows.internal_transactions;
            of_parts.internal_transactions_by_address = rows.internal_transactions_by_address;
            of_parts.internal_transactions_by_direction = rows.internal_transactions_by_direction;
        }
        // Creations follow from call frames, and those of the genesis from its state.
        let is_of_part = |kind: &str| if kind == "genesis" { parts.state.is_some() } else { parts.traces };
        of_parts.contracts = rows.contracts.into_iter().filter(|row| is_of_part(&row.creation_type)).collect();
        if parts.state.is_some() {
            of_parts.balance_history = rows.balance_history;
            of_parts.nonce_history = rows.nonce_history;
            of_parts.code_history = rows.code_history;
            of_parts.codes = rows.codes;
            of_parts.storage_history = rows.storage_history;
            of_parts.account_destructions = rows.account_destructions;
            of_parts.balance_credits = rows.balance_credits;
            of_parts.proxy_implementations = rows.proxy_implementations;
        }
        if parts.traces || parts.state.is_some() {
            of_parts.block_verdicts = rows.block_verdicts;
        }
        Self { rows: of_parts, bytes }
    }

    /// Leaves out the contracts that an interrupted run has added already.
    pub fn without_contracts(&mut self, known: &std::collections::HashSet<ContractKey>) {
        self.rows.contracts.retain(|row| !known.contains(&(row.address, row.block_number, row.transaction_index)));
    }

    /// How many rows each table gets.
    pub fn counts(&self) -> RowCounts {
        self.rows.counts()
    }

    /// Adds the rows of another.
    pub fn append(&mut self, other: Self) {
        self.rows.append(other.rows);
        self.bytes += other.bytes;
    }

    /// The rows by table.
    pub fn into_tables(self) -> Vec<TableBatch> {
        self.rows.into_tables()
    }
}

/// What a stored contract is known by.
pub(super) fn key(row: &TracedContract) -> ContractKey {
    (row.address, row.block_number, row.transaction_index)
}
