//! A page of one address, in parts: several of them can be one statement.

use crate::primitives::{Address, BlockRange};

/// A page of the settled rows of one address: one range of a table ordered by address and block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddressPage {
    /// The expressions of the SELECT; the column `address` is among them.
    pub columns: String,
    /// Where the rows are, ordered by address and block.
    pub table: &'static str,
    /// The conditions, with the placeholders of the statement; `{first:UInt64}` and `{last:UInt64}` bound the blocks.
    pub conditions: Vec<String>,
    /// The order of the rows: block number first.
    pub order: String,
    /// Whose rows they are.
    pub address: Address,
    /// From the first settled block to the last.
    pub blocks: BlockRange,
}

impl AddressPage {
    /// Whether the highest block comes first.
    #[must_use]
    pub fn is_descending(&self) -> bool {
        self.order.contains(" DESC")
    }

    /// Whether both can be read by one statement.
    #[must_use]
    pub fn goes_with(&self, other: &Self) -> bool {
        self.table == other.table
            && self.order == other.order
            && self.columns == other.columns
            && self.address != other.address
    }
}
