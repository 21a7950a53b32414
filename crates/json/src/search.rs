//! Results of searches (docs/reference/http-contract.md#search).

use super::{JsonWriter, Object};
use crate::addresses::address::Addresses;
use crate::tokens::transfers::Tokens;
use trawl_core::primitives::{Address, B256, BlockNumber, Timestamp};

/// A result of a search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SearchResult {
    /// A block, of the chain or replaced by another.
    Block {
        /// Height of the block.
        number: BlockNumber,
        /// Keccak-256 of the header.
        hash: B256,
        /// Timestamp of the header.
        timestamp: Timestamp,
        /// `block` or `reorg`.
        kind: &'static str,
    },
    /// A transaction, found by its hash.
    Transaction {
        /// Keccak-256 of its encoding (EIP-2718).
        hash: B256,
        /// The time of its block.
        timestamp: Timestamp,
    },
    /// A user operation (ERC-4337), found by its hash.
    Operation {
        /// What its EntryPoint calls it.
        hash: B256,
        /// The time of its block.
        timestamp: Timestamp,
    },
    /// An address, whatever it is.
    Address(Address),
    /// The address that a name of the name service has.
    Domain {
        /// The address that its resolver returns.
        address: Address,
        /// The name as it is registered.
        name: String,
    },
    /// An address by one of its names.
    Named {
        /// The address that has the name.
        address: Address,
        /// The name that matches the search.
        name: String,
    },
}

impl SearchResult {
    /// Writes it as an item of a list.
    pub fn write(&self, writer: &mut JsonWriter, addresses: &Addresses, tokens: &Tokens) {
        writer.object(|item| match self {
            Self::Block { number, hash, timestamp, kind } => {
                item.key("type").string("block");
                item.key("block_number").number(*number);
                item.key("block_hash").hex(hash.as_slice());
                item.key("block_type").string(kind);
                item.key("timestamp").timestamp(*timestamp);
                item.key("url").string(&format!("/block/{hash}"));
            }
            Self::Transaction { hash, timestamp } => {
                item.key("type").string("transaction");
                item.key("transaction_hash").hex(hash.as_slice());
                item.key("timestamp").timestamp(*timestamp);
                item.key("url").string(&format!("/tx/{hash}"));
            }
            Self::Operation { hash, timestamp } => {
                item.key("type").string("user_operation");
                item.key("user_operation_hash").hex(hash.as_slice());
                item.key("timestamp").timestamp(*timestamp);
                item.key("url").string(&format!("/op/{hash}"));
            }
            Self::Address(address) | Self::Named { address, .. } if tokens.metadata.contains_key(address) => {
                write_token(item, address, addresses, tokens);
            }
            Self::Address(address) => {
                write_address(item, address, addresses.name_of(address), addresses);
                write_ens(item, address, addresses.ens_domain_name(address));
            }
            Self::Named { address, name } => {
                write_address(item, address, Some(name), addresses);
                write_ens(item, address, addresses.ens_domain_name(address));
            }
            Self::Domain { address, name } => {
                write_address(item, address, Some(name), addresses);
                write_ens(item, address, Some(name));
            }
        });
    }

    /// Writes the redirect of a search box.
    pub fn write_redirect(found: Option<&Self>) -> Vec<u8> {
        let target = found.map(|found| match found {
            Self::Block { hash, .. } => ("block", hash.to_string()),
            Self::Transaction { hash, .. } => ("transaction", hash.to_string()),
            Self::Operation { hash, .. } => ("user_operation", hash.to_string()),
            Self::Address(address) | Self::Named { address, .. } | Self::Domain { address, .. } => {
                ("address", address.to_checksum(None))
            }
        });
        let mut writer = JsonWriter::new();
        writer.object(|redirect| {
            redirect.key("redirect").bool(target.is_some());
            redirect.key("type").option(target.as_ref(), |writer, (kind, _)| writer.string(kind));
            redirect.key("parameter").option(target.as_ref(), |writer, (_, parameter)| writer.string(parameter));
        });
        writer.into_bytes()
    }
}

fn write_token(item: &mut Object<'_>, address: &Address, addresses: &Addresses, tokens: &Tokens) {
    item.key("type").string("token");
    tokens.write_found(item, address);
    write_links(item, address, addresses);
    item.key("token_url").string(&format!("/token/{}", address.to_checksum(None)));
    item.key("address_url").string(&format!("/address/{}", address.to_checksum(None)));
    item.key("is_verified_via_admin_panel").bool(false);
}

fn write_address(item: &mut Object<'_>, address: &Address, name: Option<&str>, addresses: &Addresses) {
    item.key("type").string(if addresses.is_contract(address) { "contract" } else { "address" });
    item.key("name").option(name, JsonWriter::string);
    write_links(item, address, addresses);
    item.key("url").string(&format!("/address/{}", address.to_checksum(None)));
}

fn write_ens(item: &mut Object<'_>, address: &Address, name: Option<&str>) {
    item.key("ens_info").option(name, |writer, name| {
        writer.object(|ens| {
            ens.key("address_hash").string(&address.to_checksum(None));
            ens.key("name").string(name);
            ens.key("expiry_date").null();
            ens.key("names_count").null();
        });
    });
}

/// The members of every item that is an address.
fn write_links(item: &mut Object<'_>, address: &Address, addresses: &Addresses) {
    item.key("address_hash").string(&address.to_checksum(None));
    item.key("is_smart_contract_verified").bool(addresses.source(address).is_some());
    item.key("reputation").string("ok");
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn a_search_box_is_led_to_what_was_found() {
        let redirect = |found: Option<&SearchResult>| -> Value {
            serde_json::from_slice(&SearchResult::write_redirect(found)).expect("valid JSON")
        };
        assert_eq!(redirect(None), json!({"redirect": false, "type": null, "parameter": null}));
        let address = Address::repeat_byte(0xab);
        let expected = json!({"redirect": true, "type": "address", "parameter": address.to_checksum(None)});
        assert_eq!(redirect(Some(&SearchResult::Address(address))), expected);
    }
}
