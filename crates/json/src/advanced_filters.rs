//! Rows of the list of transactions, call frames and token transfers
//! (docs/reference/http-contract.md#advanced-filters).

use std::collections::{BTreeMap, BTreeSet};

use alloy_primitives::Selector;

use super::{Array, JsonWriter, Object};
use crate::addresses::address::Addresses;
use crate::tokens::transfers::{Tokens, write_amounts};
use trawl_core::primitives::{Address, B256, Timestamp, U256};

/// Methods that a filter can name, each with its selector; the name is empty where it is not known.
pub fn write_methods<N: AsRef<str>>(methods: &[(Selector, N)]) -> Vec<u8> {
    let mut writer = JsonWriter::new();
    writer.array(|list| {
        for (selector, name) in methods {
            list.item().object(|method| {
                method.key("method_id").hex(selector.as_slice());
                method.key("name").string(name.as_ref());
            });
        }
    });
    writer.into_bytes()
}

/// A row of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Movement {
    /// Height of its block.
    pub block_number: u64,
    /// Position of its transaction in the block.
    pub transaction_index: u32,
    /// Hash of its transaction.
    pub transaction_hash: B256,
    /// Timestamp of its block.
    pub timestamp: Timestamp,
    /// Sender or caller.
    pub from: Address,
    /// Recipient or callee; none of a creation.
    pub to: Option<Address>,
    /// The created contract.
    pub created: Option<Address>,
    /// Wei, smallest units or tokens.
    pub value: U256,
    /// The kind of the row, with what only that kind has.
    pub what: MovementKind,
}

/// The kind of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MovementKind {
    /// A transaction, with its own value.
    Transaction {
        /// 1 success, 0 failure; none where it is not known.
        status: Option<u8>,
        /// Whether it has data for the code of whom it calls.
        calls: bool,
    },
    /// A call frame.
    Frame {
        /// Position in the transaction, in order of execution.
        index: u32,
        /// Whether it creates a contract.
        creates: bool,
        /// Whether it transfers coins unless undone: a `callcode` only shows the value that its code saw.
        moves_coins: bool,
        /// Whether it failed, or was undone by what failed around it.
        is_undone: bool,
    },
    /// A token transfer.
    Transfer {
        /// Index of its log in the block.
        log_index: u32,
        /// Position in the batch of the log.
        batch_index: u32,
        /// The token contract.
        token: Address,
        /// `ERC-20`, `ERC-721` or `ERC-1155`.
        standard: String,
        /// The id, of standards that have some.
        token_id: Option<U256>,
    },
}

/// A position in the list: height, transaction, what kind of row (0 transaction, 1 frame, 2 transfer), frame or log,
/// position in a batch.
pub type MovementKey = (u64, u32, u8, u32, u32);

impl Movement {
    /// The position of the row.
    #[must_use]
    pub fn key(&self) -> MovementKey {
        let (kind, index, batch) = match &self.what {
            MovementKind::Transaction { .. } => (0, 0, 0),
            MovementKind::Frame { index, .. } => (1, *index, 0),
            MovementKind::Transfer { log_index, batch_index, .. } => (2, *log_index, *batch_index),
        };
        (self.block_number, self.transaction_index, kind, index, batch)
    }

    /// The type by which clients filter.
    #[must_use]
    pub fn kind(&self) -> &str {
        let of_coins = |creates: bool, calls: bool| match (creates, calls) {
            (true, _) => "contract_creation",
            (false, true) => "contract_interaction",
            (false, false) => "coin_transfer",
        };
        match &self.what {
            MovementKind::Transaction { calls, .. } => of_coins(self.to.is_none(), *calls),
            MovementKind::Frame { creates, moves_coins, .. } => of_coins(*creates, !moves_coins),
            MovementKind::Transfer { standard, .. } => standard.as_str(),
        }
    }

    /// The token contract, of a token transfer.
    #[must_use]
    pub fn token(&self) -> Option<&Address> {
        match &self.what {
            MovementKind::Transfer { token, .. } => Some(token),
            MovementKind::Transaction { .. } | MovementKind::Frame { .. } => None,
        }
    }

    /// Whether it is a transaction whose data no code read.
    #[must_use]
    pub fn is_plain_transfer(&self) -> bool {
        matches!(self.what, MovementKind::Transaction { calls: false, .. })
    }

    fn status(&self) -> Option<&'static str> {
        match self.what {
            MovementKind::Transaction { status, .. } => status.map(|status| if status == 1 { "ok" } else { "error" }),
            MovementKind::Frame { is_undone, .. } => Some(if is_undone { "error" } else { "ok" }),
            // Logs of what fails are undone.
            MovementKind::Transfer { .. } => Some("ok"),
        }
    }
}

/// Facts shown besides a row.
#[derive(Debug, Clone, Default)]
pub struct MovementFacts {
    /// The name or selector of what its transaction calls.
    pub method: Option<String>,
    /// Wei that its transaction paid for gas.
    pub fee: Option<U256>,
}

/// Writes a row.
pub fn write_movement(
    writer: &mut JsonWriter,
    movement: &Movement,
    facts: &MovementFacts,
    addresses: &Addresses,
    tokens: &Tokens,
) {
    let shown = |writer: &mut JsonWriter, address: Address| addresses.write(writer, &address);
    writer.object(|item| {
        item.key("hash").hex(movement.transaction_hash.as_slice());
        item.key("type").string(movement.kind());
        item.key("method").option(facts.method.as_deref(), JsonWriter::string);
        addresses.write(item.key("from"), &movement.from);
        item.key("to").option(movement.to, shown);
        item.key("created_contract").option(movement.created, shown);
        item.key("fee").option(facts.fee, JsonWriter::decimal_256);
        item.key("timestamp").timestamp(movement.timestamp);
        item.key("status").option(movement.status(), JsonWriter::string);
        item.key("block_number").number(movement.block_number);
        item.key("transaction_index").number(movement.transaction_index.into());
        let (_, _, kind, index, batch) = movement.key();
        let of_kind = |own: u8, number: u32| (kind == own).then_some(u64::from(number));
        item.key("internal_transaction_index").option(of_kind(1, index), JsonWriter::number);
        item.key("token_transfer_index").option(of_kind(2, index), JsonWriter::number);
        item.key("token_transfer_batch_index").option(of_kind(2, batch), JsonWriter::number);
        write_value(item, movement, tokens);
    });
}

/// Coins have a value, tokens a total.
fn write_value(item: &mut Object<'_>, movement: &Movement, tokens: &Tokens) {
    match &movement.what {
        MovementKind::Transaction { .. } | MovementKind::Frame { .. } => {
            item.key("value").decimal_256(movement.value);
            item.key("token").null();
            item.key("total").null();
        }
        MovementKind::Transfer { token, standard, token_id, .. } => {
            item.key("value").null();
            tokens.write(item.key("token"), token, standard);
            let decimals = tokens.decimals(token);
            item.key("total")
                .object(|total| write_amounts(total, standard.as_str(), *token_id, movement.value, decimals));
        }
    }
}

/// The search filters.
#[derive(Debug)]
pub struct Search<'s> {
    /// Selectors, and the client's names of them.
    pub methods: &'s BTreeMap<String, Option<String>>,
    /// Token contracts, and their facts.
    pub tokens: (&'s BTreeSet<Address>, &'s Tokens),
}

/// Writes a page with what was searched for; `next` fills the cursor of the following page.
pub fn write_filtered_page(
    items: impl FnOnce(&mut Array<'_>),
    next: Option<impl FnOnce(&mut Object<'_>)>,
    search: &Search<'_>,
) -> Vec<u8> {
    let mut writer = JsonWriter::new();
    writer.object(|page| {
        page.key("items").array(items);
        page.key("next_page_params").option(next, |writer, next| writer.object(next));
        page.key("search_params").object(|params| {
            params.key("methods").object(|methods| {
                for (selector, name) in search.methods {
                    methods.key(selector).option(name.as_deref(), JsonWriter::string);
                }
            });
            params.key("tokens").object(|list| {
                let (searched, tokens) = search.tokens;
                // Clients read members of each token that is named.
                for (token, standard) in searched.iter().filter_map(|token| Some((token, tokens.standard(token)?))) {
                    tokens.write(list.key(&token.to_checksum(None)), token, standard);
                }
            });
        });
    });
    writer.into_bytes()
}
