//! What an address received from others and sent to them (docs/reference/http-contract.md#activity).

use crate::addresses::address::Addresses;
use crate::tokens::transfers::Tokens;
use crate::{JsonWriter, Object};
use trawl_core::primitives::{Address, U256};

/// What an address received from another and sent to it, of one token or of coins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flow {
    /// The other address.
    pub counterparty: Address,
    /// The token, and ERC-20, ERC-721 or ERC-1155; none of coins.
    pub token: Option<(Address, String)>,
    /// How often something was received and sent.
    pub times: [u64; 2],
    /// How much, in the smallest unit; none if the sum does not fit 256 bits.
    pub amounts: [Option<U256>; 2],
}

impl Flow {
    fn write(&self, item: &mut Object<'_>, addresses: &Addresses, tokens: &Tokens) {
        let ([received, sent], [received_amount, sent_amount]) = (self.times, self.amounts);
        addresses.write(item.key("address"), &self.counterparty);
        if let Some((token, token_type)) = &self.token {
            tokens.write(item.key("token"), token, token_type);
            item.key("token_type").string(token_type);
        }
        item.key("received_count").number(received);
        item.key("received_amount").option(received_amount, JsonWriter::decimal_256);
        item.key("sent_count").number(sent);
        item.key("sent_amount").option(sent_amount, JsonWriter::decimal_256);
    }
}

/// The greatest flows of an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlowList {
    /// The greatest of them, in the order in which they are shown.
    pub flows: Vec<Flow>,
    /// How many there are in all.
    pub all: usize,
    /// Whether they are of all blocks that were requested.
    pub is_complete: bool,
}

/// The greatest flows of an address, and how many there are in all.
#[must_use]
pub fn write_flows(list: &FlowList, addresses: &Addresses, tokens: &Tokens) -> Vec<u8> {
    let mut writer = JsonWriter::new();
    writer.object(|answer| {
        answer.key("items").array(|items| {
            list.flows.iter().for_each(|flow| items.item().object(|item| flow.write(item, addresses, tokens)));
        });
        answer.key("items_in_all").number(list.all as u64);
        answer.key("is_complete").bool(list.is_complete);
    });
    writer.into_bytes()
}
