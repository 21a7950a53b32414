//! Single ids of tokens (docs/reference/http-contract.md#ids-of-tokens).

use super::id_metadata::IdMetadata;
use super::transfers::Tokens;
use crate::JsonWriter;
use crate::addresses::address::Addresses;
use trawl_core::primitives::{Address, U256};

/// One id of a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenInstance {
    /// The token contract.
    pub token: Address,
    /// Kind of its transfers.
    pub token_type: String,
    /// Id of the token in its contract.
    pub id: U256,
    /// Whether there can be only one; `None` where unknown.
    pub is_unique: Option<bool>,
    /// The owner of an ERC-721 id; `None` where unknown.
    pub owner: Option<Address>,
    /// Balance of the requested address; `None` without one, and where transfers do not determine it.
    pub value: Option<U256>,
    /// Its metadata, where the contract has them in the URI itself; `None` in lists.
    pub metadata: Option<IdMetadata>,
}

/// The ids of one token that an address has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Collection {
    /// The token contract.
    pub token: Address,
    /// Kind of its transfers.
    pub token_type: String,
    /// Number of ids; `None` where transfers do not determine it.
    pub ids: Option<u64>,
    /// The first of them.
    pub first: Vec<TokenInstance>,
}

/// Pictures are not fetched, so that nothing is known of those elsewhere, and there are no smaller ones.
const NOT_FETCHED: [&str; 2] = ["media_url", "thumbnails"];

impl TokenInstance {
    /// Writes the id, with its token if one is given.
    pub fn write(&self, writer: &mut JsonWriter, tokens: Option<&Tokens>, addresses: &Addresses) {
        writer.object(|item| {
            item.key("id").decimal_256(self.id);
            item.key("token_type").string(&self.token_type);
            item.key("value").option(self.value, JsonWriter::decimal_256);
            item.key("is_unique").option(self.is_unique, JsonWriter::bool);
            item.key("owner").option(self.owner, |writer, owner| addresses.write(writer, &owner));
            item.key("token").option(tokens, |writer, tokens| tokens.write(writer, &self.token, &self.token_type));
            IdMetadata::write(self.metadata.as_ref(), item);
            NOT_FETCHED.into_iter().for_each(|name| item.key(name).null());
        });
    }
}

impl Collection {
    /// Writes the collection; its ids are without their token, which it has itself.
    pub fn write(&self, writer: &mut JsonWriter, tokens: &Tokens, addresses: &Addresses) {
        writer.object(|item| {
            item.key("amount").option(self.ids, JsonWriter::decimal);
            tokens.write(item.key("token"), &self.token, &self.token_type);
            item.key("token_instances").array(|items| {
                self.first.iter().for_each(|id| id.write(items.item(), None, addresses));
            });
        });
    }
}
