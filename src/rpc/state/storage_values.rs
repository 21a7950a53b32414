//! `eth_getStorageValues`: slots of several accounts at one block.

use serde_json::Value;

use super::{slot, state_after};
use crate::error::Problem;
use crate::http::values::{address, invalid};
use crate::rpc::protocol::answer::Answer;
use crate::rpc::protocol::context::{Context, required};
use crate::rpc::protocol::params::value;
use trawl_core::primitives::{Address, B256};

/// Most slots of a request, which is the limit of nodes.
const MAX_SLOTS: usize = 1_024;

/// The values of slots after a block, by account and in the order of the request.
pub(crate) async fn storage_values(call: Context<'_>) -> Result<Answer, Problem> {
    let [slots, block] = call.with_optional()?;
    let slots = read(&value(required(slots)?))?;
    let all: Vec<(Address, B256)> =
        slots.iter().flat_map(|(account, slots)| slots.iter().map(|slot| (*account, *slot))).collect();
    let mut values = state_after(call, block).await?.slots_of(&all).await?.into_iter();
    Ok(Answer::of(|writer| {
        writer.object(|accounts| {
            for (account, slots) in &slots {
                accounts.key(&format!("{account:#x}")).array(|array| {
                    values.by_ref().take(slots.len()).for_each(|value| array.item().hex(&value.to_be_bytes::<32>()));
                });
            }
        });
    }))
}

fn read(accounts: &Value) -> Result<Vec<(Address, Vec<B256>)>, Problem> {
    let accounts = accounts.as_object().ok_or_else(|| invalid("Invalid storage request"))?;
    let account = |(name, slots): (&String, &Value)| {
        let account = address(&Value::from(name.as_str())).ok_or_else(|| invalid("Invalid address"))?;
        let slots = slots.as_array().ok_or_else(|| invalid("Invalid storage request"))?;
        Ok((account, slots.iter().map(slot).collect::<Result<Vec<_>, _>>()?))
    };
    let all: Vec<_> = accounts.iter().map(account).collect::<Result<_, Problem>>()?;
    match all.iter().map(|(_, slots)| slots.len()).sum::<usize>() {
        0 => Err(invalid("empty request")),
        count if count > MAX_SLOTS => Err(invalid(&format!("too many slots (max {MAX_SLOTS})"))),
        _ => Ok(all),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn requests_are_bounded_and_have_a_slot() {
        let account = format!("0x{}", "11".repeat(20));
        let slots = |count: usize| json!({account.as_str(): vec!["0x1"; count]});
        assert_eq!(read(&slots(MAX_SLOTS)).map(|all| all[0].1.len()), Ok(MAX_SLOTS));
        for (bad, text) in [
            (slots(0), "empty request"),
            (json!({}), "empty request"),
            (slots(MAX_SLOTS + 1), "too many slots (max 1024)"),
            (json!([]), "Invalid storage request"),
            (json!({account.as_str(): "0x1"}), "Invalid storage request"),
            (json!({"0x1": ["0x1"]}), "Invalid address"),
            (json!({account.as_str(): [1]}), "Invalid integer"),
        ] {
            assert_eq!(read(&bad), Err(invalid(text)), "{bad}");
        }
    }
}
