//! `trace_block`: a flat list of frames with paths, rewards at its end.
//!
//! <https://openethereum.github.io/JSONRPC-trace-module#trace_block>; recordings have a list per transaction instead,
//! and the rewards apart.

use serde::Deserialize;
use serde::de::Error as _;
use serde_json::value::RawValue;
use trawl_core::primitives::{Address, B256, Bytes, U256};

use crate::block::trace::{DEEPEST_PATH, Frame, FrameKind, Reward, TransactionTrace};
use crate::decode::quantity::Quantity;

/// How many traces beyond those of the transactions are read, so that verification can refuse the excess.
const SURPLUS: usize = 100;

/// What a list holds.
#[derive(Debug, Default)]
pub(super) struct FlatTraces {
    pub transactions: Vec<TransactionTrace>,
    pub rewards: Vec<Reward>,
}

/// Reads the frames of a block with `transactions` transactions, and the rewards if they are apart.
pub(super) fn read(
    flat: &RawValue,
    rewards: Option<&RawValue>,
    transactions: usize,
) -> Result<FlatTraces, serde_json::Error> {
    let items: Vec<&RawValue> = serde_json::from_str(flat.get())?;
    let mut found = FlatTraces::default();
    found.transactions.resize_with(transactions, TransactionTrace::default);
    for (position, item) in items.into_iter().enumerate() {
        if item.get().starts_with('[') {
            for entry in serde_json::from_str::<Vec<Entry>>(item.get())? {
                found.add(entry, Some(position))?;
            }
        } else {
            found.add(serde_json::from_str(item.get())?, None)?;
        }
    }
    if let Some(rewards) = rewards {
        for entry in serde_json::from_str::<Vec<Entry>>(rewards.get())? {
            found.add(entry, None)?;
        }
    }
    Ok(found)
}

/// Whether every entry is of the block with this hash.
pub(super) fn are_of(flat: &RawValue, block_hash: B256) -> Result<bool, serde_json::Error> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Peek {
        block_hash: Option<B256>,
    }
    let entries: Vec<Peek> = serde_json::from_str(flat.get())?;
    Ok(entries.iter().all(|entry| entry.block_hash.is_none_or(|hash| hash == block_hash)))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    #[serde(rename = "type")]
    kind: String,
    action: Action,
    result: Option<Outcome>,
    error: Option<String>,
    subtraces: Quantity<u32>,
    trace_address: Vec<u32>,
    block_hash: Option<B256>,
    transaction_hash: Option<B256>,
    transaction_position: Option<Quantity<u32>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Action {
    from: Option<Address>,
    to: Option<Address>,
    call_type: Option<String>,
    creation_method: Option<String>,
    gas: Option<Quantity<u64>>,
    input: Option<Bytes>,
    init: Option<Bytes>,
    value: Option<Quantity<U256>>,
    address: Option<Address>,
    refund_address: Option<Address>,
    balance: Option<Quantity<U256>>,
    author: Option<Address>,
    reward_type: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
struct Outcome {
    gas_used: Option<Quantity<u64>>,
    output: Option<Bytes>,
    code: Option<Bytes>,
    address: Option<Address>,
}

impl FlatTraces {
    /// Adds an entry; `listed` is the transaction in whose list it stood.
    fn add(&mut self, entry: Entry, listed: Option<usize>) -> Result<(), serde_json::Error> {
        if entry.kind == "reward" {
            self.rewards.push(entry.into_reward()?);
            return Ok(());
        }
        let found = entry.transaction_position.map(|position| position.0 as usize);
        let position = found.or(listed).ok_or_else(|| missing("transactionPosition"))?;
        if listed.is_some_and(|listed| listed != position) || position >= self.transactions.len() + SURPLUS {
            return Err(custom(format!("a frame is of transaction {position}, which it cannot be")));
        }
        if position >= self.transactions.len() {
            self.transactions.resize_with(position + 1, TransactionTrace::default);
        }
        let trace = &mut self.transactions[position];
        if trace.frames.is_empty() {
            (trace.transaction_hash, trace.block_hash) = (entry.transaction_hash, entry.block_hash);
        } else if (trace.transaction_hash, trace.block_hash) != (entry.transaction_hash, entry.block_hash) {
            return Err(custom(format!("frames of transaction {position} name several transactions or blocks")));
        }
        trace.frames.push(entry.into_frame()?);
        Ok(())
    }
}

impl Entry {
    fn into_reward(self) -> Result<Reward, serde_json::Error> {
        Ok(Reward {
            author: self.action.author.ok_or_else(|| missing("author"))?,
            reward_type: self.action.reward_type.ok_or_else(|| missing("rewardType"))?,
            value: self.action.value.ok_or_else(|| missing("value"))?.0,
            block_hash: self.block_hash,
        })
    }

    fn into_frame(self) -> Result<Frame, serde_json::Error> {
        if self.trace_address.len() > DEEPEST_PATH {
            return Err(custom(format!("calls are nested deeper than {DEEPEST_PATH}")));
        }
        let (action, result) = (self.action, self.result.unwrap_or_default());
        let error = self.error.filter(|error| !error.is_empty());
        let kind = kind(&self.kind, &action, self.trace_address.is_empty())?;
        let frame = Frame {
            trace_address: self.trace_address,
            kind,
            from: action.from.or(action.address).ok_or_else(|| missing("from"))?,
            to: None,
            created_contract: None,
            value: U256::ZERO,
            gas_limit: 0,
            gas_used: Some(0),
            input: action.input.or(action.init).unwrap_or_default(),
            output: result.output.or(result.code).unwrap_or_default(),
            error,
            subtraces: self.subtraces.0,
        };
        let value = action.value.or(action.balance).map(|value| value.0);
        if kind == FrameKind::Selfdestruct {
            return Ok(Frame { to: action.refund_address, value: value.unwrap_or_default(), ..frame });
        }
        let gas_used = result.gas_used.map(|gas| gas.0);
        if frame.error.is_none() && gas_used.is_none() {
            return Err(missing("gasUsed"));
        }
        let is_made = kind.is_create() && frame.error.is_none();
        Ok(Frame {
            to: if kind.is_create() { None } else { Some(action.to.ok_or_else(|| missing("to"))?) },
            created_contract: if is_made { Some(result.address.ok_or_else(|| missing("address"))?) } else { None },
            value: if kind.moves_value() { value.ok_or_else(|| missing("value"))? } else { U256::ZERO },
            gas_limit: action.gas.ok_or_else(|| missing("gas"))?.0,
            gas_used,
            ..frame
        })
    }
}

fn kind(name: &str, action: &Action, is_root: bool) -> Result<FrameKind, serde_json::Error> {
    Ok(match (name, action.call_type.as_deref(), action.creation_method.as_deref()) {
        ("call", Some("call"), _) => FrameKind::Call,
        ("call", Some("callcode"), _) => FrameKind::Callcode,
        ("call", Some("delegatecall"), _) => FrameKind::Delegatecall,
        ("call", Some("staticcall"), _) => FrameKind::Staticcall,
        ("create", _, Some("create2")) => FrameKind::Create2,
        ("create", _, Some("create")) => FrameKind::Create,
        // A transaction creates in one way only.
        ("create", _, None) if is_root => FrameKind::Create,
        ("create", _, None) => FrameKind::SomeCreate,
        ("suicide" | "selfdestruct", ..) => FrameKind::Selfdestruct,
        (_, call_type, creation_method) => {
            let method = call_type.or(creation_method).unwrap_or_default();
            let (name, method) = (name.escape_debug(), method.escape_debug());
            return Err(custom(format!("`{name}` with `{method}` is no known type of frame")));
        }
    })
}

fn missing(field: &'static str) -> serde_json::Error {
    serde_json::Error::missing_field(field)
}

fn custom(message: String) -> serde_json::Error {
    serde_json::Error::custom(message)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CALL: &str = r#"{"type":"call","action":{"callType":"call","from":"0x0000000000000000000000000000000000000001","to":"0x0000000000000000000000000000000000000002","gas":"0x5","value":"0x0","input":"0x"},"result":{"gasUsed":"0x4","output":"0x"},"subtraces":0,"traceAddress":[],"transactionPosition":0}"#;

    fn found(text: &str) -> Result<FlatTraces, serde_json::Error> {
        read(&RawValue::from_string(text.into())?, None, 1)
    }

    #[test]
    fn a_list_per_transaction_and_one_list_are_the_same() {
        let (nested, flat) =
            (found(&format!("[[{CALL}]]")).expect("nested"), found(&format!("[{CALL}]")).expect("flat"));
        assert_eq!(nested.transactions, flat.transactions);
        assert_eq!(flat.transactions[0].frames.len(), 1);
    }

    #[test]
    fn entries_that_do_not_say_what_they_must_are_errors() {
        for (what, instead) in [
            ("\"transactionPosition\":0", "\"transactionPosition\":4000000000"),
            ("\"transactionPosition\":0", "\"no\":0"),
            ("\"type\":\"call\"", "\"type\":\"jump\""),
            ("\"callType\":\"call\"", "\"callType\":\"jump\""),
            ("\"value\":\"0x0\"", "\"no\":0"),
            ("\"gasUsed\":\"0x4\"", "\"no\":0"),
            ("\"to\"", "\"no\""),
            ("\"traceAddress\":[]", "\"traceAddress\":[-1]"),
        ] {
            assert!(CALL.contains(what), "{what}");
            let text = format!("[{}]", CALL.replace(what, instead));
            assert!(found(&text).is_err(), "{text}");
        }
        let other = CALL.replace("\"subtraces\"", &format!("\"transactionHash\":\"{}\",\"subtraces\"", B256::ZERO));
        assert!(found(&format!("[{CALL},{other}]")).is_err(), "two transactions in one");
        for text in ["{}", "[7]", "[[7]]", "[null]", "[{}]"] {
            assert!(found(text).is_err(), "{text}");
        }
    }
}
