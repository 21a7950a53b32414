//! An index of the accounts that a block may change: one search in it saves four in tables, since most blocks change no account of a
//! request.

use std::collections::HashMap;

use super::table::TableRows;
use crate::primitives::Address;

/// The tables with what a block changes of accounts.
const ACCOUNT_TABLES: [&str; 4] = ["balance_history", "balance_credits", "nonce_history", "code_history"];

/// The first eight bytes of each address, ascending. An address that shares them with a changed one is taken for changed, too.
#[derive(Debug)]
pub(super) struct Touched(Box<[u64]>);

impl Touched {
    pub fn of(tables: &HashMap<&'static str, TableRows>) -> Self {
        let columns = ACCOUNT_TABLES.iter().filter_map(|name| {
            let table = tables.get(name)?;
            Some((table.column("address")?, table.len() as usize))
        });
        let addresses = columns.flat_map(|(column, rows)| (0..rows).filter_map(|row| column.bytes(row)));
        let mut begins: Vec<u64> = addresses.filter_map(begin).collect();
        begins.sort_unstable();
        begins.dedup();
        Self(begins.into())
    }

    /// Whether the block may change the account: false only where it does not.
    pub fn may_have(&self, address: &Address) -> bool {
        begin(address.as_slice()).is_none_or(|begin| self.0.binary_search(&begin).is_ok())
    }

    /// Bytes on the heap.
    pub fn size(&self) -> usize {
        size_of_val(&*self.0)
    }
}

fn begin(address: &[u8]) -> Option<u64> {
    address.first_chunk().map(|bytes| u64::from_be_bytes(*bytes))
}
