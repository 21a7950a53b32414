//! `trawl_getReceiptProof`: a receipt that anyone who knows the hash of its block can check; and `eth_getProof`, the
//! same of state, where all of it is read.

use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use super::{block as block_param, height, slot};
use crate::error::Problem;
use crate::http::values::{address, bytes32, invalid};
use crate::read::rules::schedule;
use crate::read::state::State;
use crate::rpc::protocol::answer::Answer;
use crate::rpc::protocol::context::{Context, required};
use crate::rpc::protocol::params::value;
use crate::rpc::simulation::whole;
use trawl_core::primitives::{Address, B256, U256};
use trawl_evm::simulation::StateProof;
use trawl_json::JsonWriter;

/// The receipt of a transaction with its path in the trie of its block; `null` if the transaction is not readable.
pub(crate) async fn receipt(call: Context<'_>) -> Result<Answer, Problem> {
    let [hash] = call.exactly()?;
    let hash = bytes32(&value(hash)).ok_or_else(|| invalid("Transaction hash is invalid"))?;
    let (app, head) = (call.app, call.head()?);
    let Some((batch, row)) = app.transaction(&hash, head).await? else { return Ok(Answer::null()) };
    let (block, index) = (batch.view().block_number[row], batch.view().transaction_index[row]);
    let proof = app.receipt_proof(head, block, index).await?;
    Ok(Answer::of(|writer| proof.write_rpc(writer)))
}

/// Most slots of a request, which is the limit of nodes.
const MAX_SLOTS: usize = 1_024;

/// An account and slots of it after a block, with their paths from the root that its header names.
pub(crate) async fn state(call: Context<'_>) -> Result<Answer, Problem> {
    let [account, slots, block] = call.with_optional()?;
    let address = address(&value(required(account)?)).ok_or_else(|| invalid("Invalid address"))?;
    let slots = ProvenSlot::read(&value(required(slots)?))?;
    let (app, head) = (call.app, call.head()?);
    let number = height(block_param(block)?, app, head).await?;
    // The tries are not stored: they are put together from all values, if these are few.
    let Ok(schedule) = schedule(app, head) else { return Err(Problem::NoStateProofs) };
    let after = State::after(app, number, head).await.map_err(|problem| match problem {
        Problem::StateMissing(_) => Problem::NoStateProofs,
        other => other,
    })?;
    let (header, _) = app.header(head, number).await?;
    let deadline = Instant::now() + app.options().call_timeout;
    let whole = timeout_at(deadline, whole(&after, &header, &schedule)).await.map_err(|_| Problem::CallTooLong)??;
    let whole = whole.ok_or(Problem::NoStateProofs)?;
    let keys: Vec<B256> = slots.iter().map(|slot| slot.key).collect();
    let proof = app.compute(move || whole.prove(address, &keys)).await?;
    Ok(Answer::of(|writer| write(writer, address, &slots, &proof)))
}

/// A slot as it was named.
#[derive(Debug, PartialEq, Eq)]
struct ProvenSlot {
    key: B256,
    /// Whether all of its 32 bytes were given; nodes then give them back, and else a quantity.
    is_whole: bool,
}

impl ProvenSlot {
    fn read(slots: &Value) -> Result<Vec<Self>, Problem> {
        let slots = slots.as_array().ok_or_else(|| invalid("Invalid storage keys"))?;
        if slots.len() > MAX_SLOTS {
            return Err(invalid(&format!("too many slots (max {MAX_SLOTS})")));
        }
        let read = |name: &Value| {
            let is_whole = name.as_str().is_some_and(|text| text.len() > "0x".len() + 62);
            Ok(Self { key: slot(name)?, is_whole })
        };
        slots.iter().map(read).collect()
    }
}

/// Writes a proof as geth does: of an account that is not there, hash of code and root are zero.
fn write(writer: &mut JsonWriter, address: Address, slots: &[ProvenSlot], proof: &StateProof) {
    let (balance, nonce, code_hash, storage_root) = match &proof.account {
        Some(account) => (account.balance, account.nonce, account.code_hash, account.storage_root),
        None => (U256::ZERO, 0, B256::ZERO, B256::ZERO),
    };
    writer.object(|object| {
        object.key("address").hex(address.as_slice());
        object.key("accountProof").array(|nodes| proof.nodes.iter().for_each(|node| nodes.item().hex(node)));
        object.key("balance").quantity_256(balance);
        object.key("codeHash").hex(code_hash.as_slice());
        object.key("nonce").quantity(nonce);
        object.key("storageHash").hex(storage_root.as_slice());
        object.key("storageProof").array(|array| {
            for (slot, proof) in slots.iter().zip(&proof.slots) {
                array.item().object(|object| {
                    if slot.is_whole {
                        object.key("key").hex(slot.key.as_slice());
                    } else {
                        object.key("key").quantity_256(slot.key.into());
                    }
                    object.key("value").quantity_256(proof.value);
                    object.key("proof").array(|nodes| proof.nodes.iter().for_each(|node| nodes.item().hex(node)));
                });
            }
        });
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn slots_are_bounded_and_keep_their_form() {
        assert_eq!(ProvenSlot::read(&json!(vec!["0x1"; MAX_SLOTS])).map(|slots| slots.len()), Ok(MAX_SLOTS));
        let whole = |text: String| ProvenSlot::read(&json!([text])).map(|slots| slots[0].is_whole);
        assert_eq!(whole(format!("0x{}", "0".repeat(62))), Ok(false));
        assert_eq!(whole(format!("0x{}", "0".repeat(63))), Ok(true));
        assert_eq!(whole(format!("0x{}", "0".repeat(64))), Ok(true));
        for (bad, text) in [
            (json!(vec!["0x1"; MAX_SLOTS + 1]), "too many slots (max 1024)"),
            (json!("0x1"), "Invalid storage keys"),
            (json!(["0xg"]), "Invalid integer"),
        ] {
            assert_eq!(ProvenSlot::read(&bad), Err(invalid(text)), "{bad}");
        }
    }
}
