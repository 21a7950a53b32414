//! What an address has of tokens (docs/reference/http-contract.md#token-balances).

use super::transfers::Tokens;
use crate::JsonWriter;
use trawl_core::primitives::{Address, U256};

/// What an address has of a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenBalance {
    /// The token contract.
    pub token: Address,
    /// Kind of its transfers.
    pub token_type: String,
    /// Smallest units, or tokens; `None` where transfers do not tell.
    pub value: Option<U256>,
}

impl TokenBalance {
    /// Writes the balance with its token. Of tokens that have ids it is the sum over all of them.
    pub fn write(&self, writer: &mut JsonWriter, tokens: &Tokens) {
        writer.object(|item| {
            tokens.write(item.key("token"), &self.token, &self.token_type);
            item.key("token_id").null();
            item.key("token_instance").null();
            item.key("value").option(self.value, JsonWriter::decimal_256);
        });
    }
}
