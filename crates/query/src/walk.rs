//! Which page of a list of transactions, and in what order.

use std::cmp::Ordering;

use trawl_core::primitives::{BlockNumber, TransactionPosition};
use trawl_core::readable::Span;

use super::select::up_to;

/// The order of a list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Order {
    /// Descending by position.
    #[default]
    NewestFirst,
    /// Ascending by position.
    OldestFirst,
}

impl Order {
    /// The word of ORDER BY.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::NewestFirst => "DESC",
            Self::OldestFirst => "ASC",
        }
    }

    /// How rows of later pages compare to the last one of this page.
    pub(super) fn ahead(self) -> Ordering {
        match self {
            Self::NewestFirst => Ordering::Less,
            Self::OldestFirst => Ordering::Greater,
        }
    }

    /// The operator of [`Order::ahead`].
    pub(super) fn operator(self) -> &'static str {
        match self {
            Self::NewestFirst => "<",
            Self::OldestFirst => ">",
        }
    }

    /// The part of `blocks` that pages beyond a row of the block `number` read.
    pub(super) fn ahead_of(self, blocks: &Span, number: BlockNumber) -> Span {
        match self {
            Self::NewestFirst => up_to(blocks, number),
            Self::OldestFirst => blocks.from(number),
        }
    }
}

/// Which end of a list by amounts comes first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SortOrder {
    /// The largest amount.
    #[default]
    LargestFirst,
    /// The smallest amount.
    SmallestFirst,
}

impl SortOrder {
    /// What ORDER BY says after a column, with a blank before it.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::LargestFirst => " DESC",
            Self::SmallestFirst => "",
        }
    }

    /// The operator between an amount of a later page and the last one of this page.
    pub(super) fn operator(self) -> &'static str {
        match self {
            Self::LargestFirst => "<",
            Self::SmallestFirst => ">",
        }
    }

    /// How an amount stands to another in the list: [`Ordering::Greater`] if it comes later.
    #[must_use]
    pub fn compare<T: Ord>(self, amount: &T, other: &T) -> Ordering {
        match self {
            Self::LargestFirst => other.cmp(amount),
            Self::SmallestFirst => amount.cmp(other),
        }
    }
}

/// A page of a list of transactions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Walk {
    /// Of the whole list.
    pub order: Order,
    /// The last position of the page before; `None` for the first page.
    pub beyond: Option<TransactionPosition>,
    /// Highest number of transactions on the page.
    pub limit: u64,
}

impl Walk {
    /// The first `limit` rows, newest first.
    #[must_use]
    pub fn newest(limit: u64) -> Self {
        Self { limit, ..Self::default() }
    }

    /// Columns and direction of ORDER BY.
    pub(super) fn order_by(&self) -> String {
        let word = self.order.word();
        format!("block_number {word}, transaction_index {word}")
    }
}
