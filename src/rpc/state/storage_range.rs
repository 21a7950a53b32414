//! `debug_storageRangeAt`: the slots of an account before a transaction, by the hashes of their positions.

use std::collections::BTreeMap;

use alloy_primitives::keccak256;
use serde_json::Value;

use super::height;
use crate::error::Problem;
use crate::http::values::{address, bytes32, invalid, quantity};
use crate::read::replay::storage_before;
use crate::rpc::protocol::answer::Answer;
use crate::rpc::protocol::context::Context;
use crate::rpc::protocol::params::{block_id, value};
use trawl_core::primitives::{B256, BlockNumber, U256};
use trawl_evm::Failure;
use trawl_json::JsonWriter;

/// Most slots of an answer, whatever is asked for: `nextKey` tells that there are more.
const MAX_SLOTS: usize = 1_000;

/// The slots of an account before a transaction of a block, from a hash on.
pub(crate) async fn storage_range(call: Context<'_>) -> Result<Answer, Problem> {
    let [block, transaction, account, first, most] = call.exactly()?;
    let block = block_id(&value(block)).ok_or_else(|| invalid("Invalid block number"))?;
    let account = address(&value(account)).ok_or_else(|| invalid("Invalid address"))?;
    let first = first_hash(&value(first)).ok_or_else(|| invalid("Invalid start key"))?;
    let most = number(&value(most)).ok_or_else(|| invalid("Invalid number of slots"))?;
    let most = usize::try_from(most).unwrap_or(MAX_SLOTS).min(MAX_SLOTS);
    let (app, head) = (call.app, call.head()?);
    let block = height(block, app, head).await?;
    let index = position(call, &value(transaction), block).await?;
    if block == 0 {
        return Err(Problem::Call(Failure::Invalid("genesis is not traceable".into())));
    }
    let slots = storage_before(app, head, block, index, account).await?;
    let range = app.compute(move || StorageRange::of(slots, first, most)).await?;
    Ok(Answer::of(|writer| range.write(writer)))
}

/// The position of a transaction in a block: as it is, or of its hash.
async fn position(call: Context<'_>, transaction: &Value, block: BlockNumber) -> Result<u32, Problem> {
    let Some(hash) = bytes32(transaction) else {
        let index = number(transaction).and_then(|index| u32::try_from(index).ok());
        return index.ok_or_else(|| invalid("Invalid transaction: its index or hash is expected"));
    };
    let found = call.app.transaction(&hash, call.head()?).await?;
    let found = found.map(|(batch, row)| (batch.view().block_number[row], batch.view().transaction_index[row]));
    let index = found.filter(|(number, _)| *number == block).map(|(_, index)| index);
    index.ok_or_else(|| Problem::Call(Failure::Invalid("transaction not found in this block".into())))
}

/// A number, as JSON or as a quantity.
fn number(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| quantity(value.as_str()?))
}

/// The lowest hash that begins with these bytes.
fn first_hash(value: &Value) -> Option<B256> {
    let digits = value.as_str()?.strip_prefix("0x")?;
    format!("{digits:0<64}").parse().ok()
}

/// A slot that is not zero.
#[derive(Debug, PartialEq, Eq)]
struct HashedSlot {
    /// Keccak-256 of its position.
    hash: B256,
    slot: B256,
    value: U256,
}

/// Slots in the order of their hashes.
#[derive(Debug, PartialEq, Eq)]
struct StorageRange {
    slots: Vec<HashedSlot>,
    /// The hash of the first slot after them.
    next: Option<B256>,
}

impl StorageRange {
    /// At most so many of some slots, from a hash on.
    fn of(slots: BTreeMap<B256, U256>, first: B256, most: usize) -> Self {
        let hashed = slots.into_iter().map(|(slot, value)| HashedSlot { hash: keccak256(slot), slot, value });
        let mut slots: Vec<HashedSlot> = hashed.filter(|one| one.hash >= first).collect();
        slots.sort_unstable_by_key(|one| one.hash);
        let next = slots.get(most).map(|one| one.hash);
        slots.truncate(most);
        Self { slots, next }
    }

    fn write(&self, writer: &mut JsonWriter) {
        writer.object(|object| {
            object.key("storage").object(|storage| {
                for one in &self.slots {
                    storage.key(&format!("{:#x}", one.hash)).object(|item| {
                        item.key("key").hex(one.slot.as_slice());
                        item.key("value").hex(&one.value.to_be_bytes::<32>());
                    });
                }
            });
            object.key("nextKey").option(self.next, |writer, next| writer.hex(next.as_slice()));
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn slots_are_in_the_order_of_their_hashes() {
        let slots: BTreeMap<B256, U256> = (1..=9).map(|slot| (B256::with_last_byte(slot), U256::from(slot))).collect();
        let all = StorageRange::of(slots.clone(), B256::ZERO, 9);
        assert!(all.slots.is_sorted_by_key(|one| one.hash) && all.slots.len() == 9 && all.next.is_none());
        assert!(all.slots.iter().all(|one| one.hash == keccak256(one.slot) && slots[&one.slot] == one.value));
        let first = StorageRange::of(slots.clone(), B256::ZERO, 4);
        assert_eq!((&first.slots[..], first.next), (&all.slots[..4], Some(all.slots[4].hash)));
        let rest = StorageRange::of(slots, all.slots[4].hash, 1_000);
        assert_eq!((&rest.slots[..], rest.next), (&all.slots[4..], None));
    }

    #[test]
    fn a_start_is_the_first_bytes_of_a_hash() {
        assert_eq!(first_hash(&json!("0x")), Some(B256::ZERO));
        assert_eq!(first_hash(&json!("0x01")), Some(B256::right_padding_from(&[1])));
        for bad in [json!("0xg"), json!(1), json!("01"), json!(format!("0x{}", "0".repeat(65)))] {
            assert_eq!(first_hash(&bad), None, "{bad}");
        }
    }
}
