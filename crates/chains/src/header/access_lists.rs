//! What Glamsterdam adds to headers, as nodes name it: the hash of a block's access list (EIP-7928), and the number of
//! its slot (EIP-7843).

use alloy_primitives::B256;
use serde_json::{Map, Value};

use crate::fields::integer;

/// These fields of a header; `None` for what it does not have, or what is no hash and no number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AccessListFields {
    /// Keccak-256 of the RLP-encoded access list.
    pub hash: Option<B256>,
    /// Slot of the consensus layer.
    pub slot_number: Option<u64>,
}

impl AccessListFields {
    /// The names in the order in which they are hashed.
    pub(super) const NAMES: [&str; 2] = ["blockAccessListHash", "slotNumber"];

    /// `extra`: the fields of a header that no column has.
    #[must_use]
    pub fn of(extra: &Map<String, Value>) -> Self {
        let [hash, slot_number] = Self::NAMES.map(|name| extra.get(name));
        Self {
            hash: hash.and_then(Value::as_str).and_then(|hash| hash.parse().ok()),
            slot_number: slot_number.and_then(integer).and_then(|slot| slot.try_into().ok()),
        }
    }

    /// Whether a header has none of them.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.hash.is_none() && self.slot_number.is_none()
    }

    /// Whether it has the field of a name.
    #[must_use]
    pub fn has(self, name: &str) -> bool {
        let [hash, slot_number] = Self::NAMES;
        (name == hash && self.hash.is_some()) || (name == slot_number && self.slot_number.is_some())
    }
}
