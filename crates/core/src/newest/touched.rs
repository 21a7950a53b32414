//! Which accounts a block may change: a look at one list instead of at four tables, since most blocks change none of those asked for.

use std::collections::HashMap;

use super::table::TableRows;
use crate::primitives::Address;

/// The tables with what a block changes of accounts.
const ACCOUNT_TABLES: [&str; 4] = ["balance_history", "balance_credits", "nonce_history", "code_history"];

/// The first eight bytes of each address, ascending: others that begin with them are taken for changed, too.
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

    /// Whether it may be changed; if not, it is not.
    pub fn may_have(&self, address: &Address) -> bool {
        begin(address.as_slice()).is_none_or(|begin| self.0.binary_search(&begin).is_ok())
    }

    /// Bytes in memory beside its own.
    pub fn size(&self) -> usize {
        size_of_val(&*self.0)
    }
}

fn begin(address: &[u8]) -> Option<u64> {
    address.first_chunk().map(|bytes| u64::from_be_bytes(*bytes))
}
