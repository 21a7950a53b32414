//! Who created contracts of the same code (docs/reference/http-contract.md#same-code).

use crate::JsonWriter;
use crate::addresses::address::Addresses;
use trawl_core::primitives::{Address, B256, BlockNumber, Timestamp};

/// What an account created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Creator {
    /// The sender, or the contract that ran the creation.
    pub address: Address,
    /// How many creations there are.
    pub creations: u64,
    /// Block and time of the first one.
    pub first: (BlockNumber, Timestamp),
    /// Block and time of the last one.
    pub last: (BlockNumber, Timestamp),
}

/// Contracts of the same code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SameCode {
    /// Keccak-256 of the code.
    pub code_hash: B256,
    /// How many creations there are of it.
    pub creations: u64,
    /// How many accounts created them.
    pub creators: u64,
    /// Those that created most.
    pub most: Vec<Creator>,
    /// Whether the code of every creation is known.
    pub is_complete: bool,
}

impl SameCode {
    /// The object as JSON text.
    #[must_use]
    pub fn write(&self, addresses: &Addresses) -> Vec<u8> {
        let mut writer = JsonWriter::new();
        writer.object(|answer| {
            answer.key("code_hash").hex(self.code_hash.as_slice());
            answer.key("creations_count").number(self.creations);
            answer.key("creators_count").number(self.creators);
            answer.key("is_complete").bool(self.is_complete);
            answer.key("items").array(|items| {
                for creator in &self.most {
                    items.item().object(|item| {
                        addresses.write(item.key("creator"), &creator.address);
                        item.key("creations_count").number(creator.creations);
                        item.key("first_block_number").number(creator.first.0);
                        item.key("first_timestamp").timestamp(creator.first.1);
                        item.key("last_block_number").number(creator.last.0);
                        item.key("last_timestamp").timestamp(creator.last.1);
                    });
                }
            });
        });
        writer.into_bytes()
    }
}
