//! What Glamsterdam adds to headers, as nodes name it: the hash of a block's access list (EIP-7928), and the number of
//! its slot (EIP-7843).

use alloy_primitives::B256;
use serde_json::{Map, Value};

use crate::fields::integer;

/// Their names in the order in which they are hashed.
pub(super) const FIELDS: [&str; 2] = ["blockAccessListHash", "slotNumber"];

/// These fields of a header; `None` for what it does not have, or what is no hash and no number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AccessListFields {
    /// Keccak-256 of the RLP-encoded access list.
    pub hash: Option<B256>,
    /// Slot of the consensus layer.
    pub slot_number: Option<u64>,
}

impl AccessListFields {
    /// `extra`: the fields of a header that no column has.
    #[must_use]
    pub fn of(extra: &Map<String, Value>) -> Self {
        let [hash, slot_number] = FIELDS.map(|name| extra.get(name));
        Self {
            hash: hash.and_then(Value::as_str).and_then(|hash| hash.parse().ok()),
            slot_number: slot_number.and_then(integer).and_then(|slot| slot.try_into().ok()),
        }
    }

    /// Whether the block has an access list. The gas of such a block is counted before refunds (EIP-7778), and so is no
    /// sum of what its transactions paid for.
    #[must_use]
    pub fn has_list(self) -> bool {
        self.hash.is_some()
    }
}
