//! What a transaction changes of balances (docs/reference/http-contract.md#state-changes).

use crate::JsonWriter;
use crate::addresses::address::Addresses;
use crate::addresses::coin_balances::write_difference;
use crate::tokens::transfers::Tokens;
use trawl_core::primitives::{Address, U256};

/// What is added to a balance and what is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Difference {
    /// What is added, in the smallest unit.
    pub received: U256,
    /// What is taken, in the smallest unit.
    pub given: U256,
}

impl Difference {
    /// Whether it changes nothing.
    #[must_use]
    pub fn is_none(&self) -> bool {
        self.received == self.given
    }
}

/// A token, and perhaps one of its ids.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ChangedToken {
    /// The token contract.
    pub address: Address,
    /// Kind of its transfers.
    pub token_type: String,
    /// The id; `None` for a token without ids.
    pub id: Option<U256>,
}

/// A changed balance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateChange {
    /// Whose it is.
    pub address: Address,
    /// Whether the coins are those of who gets the fees of the block.
    pub is_miner: bool,
    /// The balance before and after, if known.
    pub balances: Option<(U256, U256)>,
    /// The difference, if all of it is known.
    pub change: Option<Difference>,
    /// The token; `None` for coins.
    pub token: Option<ChangedToken>,
}

impl StateChange {
    /// Writes the change.
    pub fn write(&self, writer: &mut JsonWriter, addresses: &Addresses, tokens: &Tokens) {
        let id = self.token.as_ref().and_then(|token| token.id);
        writer.object(|item| {
            item.key("type").string(if self.token.is_some() { "token" } else { "coin" });
            addresses.write(item.key("address"), &self.address);
            item.key("is_miner").bool(self.is_miner);
            item.key("balance_before").option(self.balances.map(|both| both.0), JsonWriter::decimal_256);
            item.key("balance_after").option(self.balances.map(|both| both.1), JsonWriter::decimal_256);
            let write = |writer: &mut JsonWriter, change: Difference| {
                write_difference(writer, change.given, change.received);
            };
            item.key("change").option(self.change, write);
            let token = self.token.as_ref();
            let write = |writer: &mut JsonWriter, token: &ChangedToken| {
                tokens.write(writer, &token.address, &token.token_type);
            };
            item.key("token").option(token, write);
            item.key("token_id").option(id, JsonWriter::decimal_256);
        });
    }
}
