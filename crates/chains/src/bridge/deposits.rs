//! What a chain gets from its L1: each is one transaction of a type of the chain's own.

use alloy_primitives::U256;
use serde_json::{Map, Value};

use crate::bridge::l1_origin::L1Origin;
use crate::fields::quantity;

/// The list of a family's transactions from L1.
#[derive(Debug, PartialEq, Eq)]
pub struct DepositList {
    /// Path of the list, that of Blockscout for chains of the family.
    pub path: &'static str,
    /// The newest of them, if Blockscout's main page shows them for chains of the family.
    pub newest: Option<NewestList>,
    /// The types of these transactions.
    pub types: &'static [u8],
    /// What each block begins with.
    pub first: FirstTransaction,
    /// Members of an item.
    pub members: &'static [DepositMember],
}

/// The list of the newest transactions from L1.
#[derive(Debug, PartialEq, Eq)]
pub struct NewestList {
    /// Path of the list.
    pub path: &'static str,
    /// Form of its answer.
    pub form: NewestForm,
}

/// The form of a list of the newest transactions from L1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NewestForm {
    /// An array of items.
    Array,
    /// An object whose member `items` is that array.
    Items,
}

/// What the first transaction of a block is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FirstTransaction {
    /// One that the protocol itself makes.
    Protocol,
    /// One like any other.
    User,
}

/// A member of an item.
#[derive(Debug, PartialEq, Eq)]
pub struct DepositMember {
    /// Key in the JSON of the item.
    pub key: &'static str,
    /// Where its value comes from.
    pub source: DepositSource,
}

/// Where the value of a member comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DepositSource {
    /// Hash of the transaction.
    TransactionHash,
    /// Gas that it may use, as decimal text.
    GasLimit,
    /// A field of the transaction, as an integer.
    Integer(&'static str),
    /// An argument of the call, as decimal text; null if another function is called.
    Argument {
        /// Selector of the function.
        selector: [u8; 4],
        /// The position of the argument, all of which have one word each up to it.
        position: usize,
    },
    /// Height of the L1 block that the transaction came with.
    L1BlockNumber,
    /// Time of that block.
    L1BlockTime,
    /// The same text for all transactions of the list: it follows from their being in a block.
    Constant(&'static str),
    /// It is on L1 only: null here.
    OnL1,
}

/// A transaction from L1.
#[derive(Debug, Clone, Copy)]
pub struct Deposit<'a> {
    /// Its fields, as a node gave them.
    pub fields: &'a Map<String, Value>,
    /// Call data of the transaction, selector included.
    pub input: &'a [u8],
    /// The L1 block by the first transaction of its block; `None` if that does not say it.
    pub origin: Option<L1Origin>,
}

impl Deposit<'_> {
    /// A number in a field.
    #[must_use]
    pub fn number(&self, name: &str) -> Option<U256> {
        self.fields.get(name).and_then(quantity)
    }

    /// An argument of a call of a function.
    #[must_use]
    pub fn argument(&self, selector: [u8; 4], position: usize) -> Option<U256> {
        let arguments = self.input.strip_prefix(&selector)?;
        let word = arguments.get(position.checked_mul(32)?..)?.get(..32)?;
        Some(U256::from_be_slice(word))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_words_behind_the_selector() {
        let (fields, selector) = (Map::new(), [1, 2, 3, 4]);
        let input = [&selector[..], &[0; 63], &[7]].concat();
        let deposit = Deposit { fields: &fields, input: &input, origin: None };
        assert_eq!(deposit.argument(selector, 1), Some(U256::from(7)));
        assert_eq!(deposit.argument(selector, 2), None, "a short input");
        assert_eq!(deposit.argument([9; 4], 1), None, "another function");
    }
}
