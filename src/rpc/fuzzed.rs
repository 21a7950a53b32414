//! Entry points of the targets in `fuzz/`: the parsers of messages and parameters, without a chain. Compiled only
//! there.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::calls::params;
use super::methods::known_name;
use super::protocol::endpoint::Endpoint;
use super::protocol::envelope;
use super::protocol::envelope::{Call, Id, Message};
use super::protocol::params::BlockId;
use super::state;
use crate::error::Problem;
use crate::http::values::BlockName;
use crate::read::log_filter;
use trawl_core::primitives::{Address, B256, U256};
use trawl_evm::{
    self, Account, AccountOverride, BlockContext, BlockOverrides, CallContext, Fees, Key, Limits, PartialState, Point,
    Schedule, StateCache, StateValue, Step, Storage,
};
use trawl_json::JsonWriter;

/// Answers a message; the result of every well-formed call is the name of its method.
#[must_use]
pub fn answer(text: &[u8]) -> Vec<u8> {
    let mut writer = JsonWriter::new();
    match Message::read(text) {
        Err(problem) => envelope::write_error(&mut writer, &Id::null(), &problem),
        Ok(Message::One(call)) => answer_call(&call, &mut writer),
        Ok(Message::Batch(calls)) => {
            writer.raw("[");
            for (position, call) in calls.iter().enumerate() {
                if position > 0 {
                    writer.raw(",");
                }
                answer_call(call, &mut writer);
            }
            writer.raw("]");
        }
    }
    writer.into_bytes()
}

fn answer_call(text: &serde_json::value::RawValue, writer: &mut JsonWriter) {
    let (id, call) = Call::read(text, Endpoint::Specification);
    let id = id.unwrap_or_else(Id::null);
    match call {
        Err(problem) => envelope::write_error(writer, &id, &problem),
        Ok(call) => {
            envelope::open_result(writer);
            writer.string(known_name(&call.method).unwrap_or(&call.method));
            envelope::close(writer, &id);
        }
    }
}

/// Parses a filter, writes it, and checks that the parser reads the same filter again.
///
/// # Errors
///
/// The code and text of the error if the value is not a filter.
pub fn filter(value: &Value) -> Result<(), (i64, String)> {
    let _ = log_filter::emitters_and_topics(value);
    let read = log_filter::Request::read(value).map_err(code_and_text)?;
    let again = read.written();
    assert_eq!(log_filter::Request::read(&again), Ok(read), "{value} was written {again}");
    Ok(())
}

/// Parses the parameters of a call on state, checks that each of them reads the same after it was written, and runs the
/// call where all accounts have the same code.
///
/// # Errors
///
/// The code and text of the error if a parameter is wrong.
pub fn call(params: &[Value], code: &[u8]) -> Result<(), (i64, String)> {
    let get = |position: usize| params.get(position).filter(|value| !value.is_null());
    let call = params::call(params.first().unwrap_or(&Value::Null)).map_err(code_and_text)?;
    let again = written_call(&call);
    assert_eq!(params::call(&again).as_ref(), Ok(&call), "{} was written {again}", params[0]);
    if let Some(block) = get(1) {
        let text = serde_json::value::RawValue::from_string(block.to_string()).expect("JSON");
        let id = state::block(Some(&text)).map_err(code_and_text)?;
        let again = written_block(id);
        assert_eq!(super::protocol::params::block_id(&again), Some(id), "{block} was written {again}");
    }
    let accounts = get(2).map(params::accounts).transpose().map_err(code_and_text)?.unwrap_or_default();
    let again = written_accounts(&accounts);
    assert_eq!(params::accounts(&again).as_ref(), Ok(&accounts), "written {again}");
    let block = get(3).map(params::block).transpose().map_err(code_and_text)?.unwrap_or_default();
    let again = written_overrides(&block);
    assert_eq!(params::block(&again).as_ref(), Ok(&block), "written {again}");
    run(&call, accounts, &block, code);
    Ok(())
}

/// The code and text of an error.
fn code_and_text(problem: Problem) -> (i64, String) {
    (problem.code(), problem.message())
}

/// Runs a call in every way and ignores the results.
fn run(call: &trawl_evm::Call, accounts: BTreeMap<Address, AccountOverride>, block: &BlockOverrides, code: &[u8]) {
    let context =
        BlockContext { number: 25_000_000, timestamp: 1_800_000_000, gas_limit: 60_000_000, ..BlockContext::default() };
    let rules = Schedule::of_chain(1).and_then(|schedule| schedule.at(&context).ok()).expect("rules of Mainnet");
    let limits = Limits { gas: 300_000, deadline: Instant::now() + Duration::from_secs(5) };
    let mut partial = PartialState::new(
        StateCache::new(1 << 16),
        Point { block: context.number, branch: 0 },
        std::sync::Arc::new(trawl_evm::NoNewerBlocks),
        accounts,
    );
    let code = trawl_evm::bytecode(code.to_vec().into());
    let hash = code.hash_slow();
    let learn = |partial: &mut PartialState, keys: Vec<Key>| {
        for key in keys {
            let value = match key {
                Key::Account(_) => {
                    StateValue::Account(Account { balance: U256::from(1_000_000), nonce: 1, code_hash: hash })
                }
                Key::Code(_) => StateValue::Code(code.clone()),
                Key::Slot(_, slot) => StateValue::Slot(slot.into()),
                Key::BlockHash(number) => StateValue::BlockHash(B256::from(U256::from(number))),
                Key::Block(_) => continue,
            };
            partial.learn(key, value);
        }
    };
    let here = |state| CallContext { block: &context, overrides: block, rules: &rules, state, limits };
    while let Step::Missing(keys) = trawl_evm::execute(call, here(&partial)) {
        learn(&mut partial, keys);
    }
    while let Step::Missing(keys) = trawl_evm::estimate(call, here(&partial)) {
        learn(&mut partial, keys);
    }
    while let Step::Missing(keys) = trawl_evm::access_list(call, here(&partial)) {
        learn(&mut partial, keys);
    }
}

fn quantity(number: impl std::fmt::LowerHex) -> Value {
    json!(format!("{number:#x}"))
}

fn bytes(bytes: impl AsRef<[u8]>) -> Value {
    json!(const_hex::encode_prefixed(bytes))
}

/// An object of the members that are present.
fn object<const N: usize>(members: [(&str, Option<Value>); N]) -> Value {
    members
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?)))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

fn written_block(id: BlockId) -> Value {
    match id {
        BlockId::Hash(hash) => json!({"blockHash": hash}),
        BlockId::Name(name) => crate::http::values::written(name),
    }
}

fn written_call(call: &trawl_evm::Call) -> Value {
    let (price, max, priority) = match call.fees {
        Fees::None => (None, None, None),
        Fees::Price(price) => (Some(quantity(price)), None, None),
        Fees::Dynamic { max, priority } => (None, Some(quantity(max)), Some(quantity(priority))),
    };
    let list = call.access_list.as_ref().map(|list| {
        list.iter().map(|item| json!({"address": item.address, "storageKeys": item.storage_keys})).collect::<Vec<_>>()
    });
    let authorizations: Vec<Value> = call
        .authorizations
        .iter()
        .map(|signed| {
            json!({
                "chainId": quantity(signed.chain_id), "address": signed.address, "nonce": quantity(signed.nonce),
                "yParity": quantity(signed.y_parity()), "r": quantity(signed.r()), "s": quantity(signed.s()),
            })
        })
        .collect();
    object([
        ("from", Some(json!(call.from))),
        ("to", call.to.map(|to| json!(to))),
        ("gas", call.gas.map(quantity)),
        ("gasPrice", price),
        ("maxFeePerGas", max),
        ("maxPriorityFeePerGas", priority),
        ("value", Some(quantity(call.value))),
        ("data", Some(bytes(&call.input))),
        ("nonce", call.nonce.map(quantity)),
        ("accessList", list.map(Value::from)),
        ("blobVersionedHashes", Some(json!(call.blob_hashes))),
        ("maxFeePerBlobGas", Some(quantity(call.max_fee_per_blob_gas))),
        ("authorizationList", Some(json!(authorizations))),
    ])
}

fn written_accounts(accounts: &BTreeMap<Address, AccountOverride>) -> Value {
    let slots = |slots: &BTreeMap<B256, U256>| {
        Value::Object(slots.iter().map(|(slot, value)| (slot.to_string(), quantity(*value))).collect())
    };
    let account = |account: &AccountOverride| {
        let (state, changed) = match &account.storage {
            Storage::Replaced(replaced) => (Some(slots(replaced)), None),
            Storage::Changed(changed) => (None, Some(slots(changed))),
        };
        object([
            ("balance", account.balance.map(quantity)),
            ("nonce", account.nonce.map(quantity)),
            ("code", account.code.as_ref().map(bytes)),
            ("state", state),
            ("stateDiff", changed),
        ])
    };
    Value::Object(accounts.iter().map(|(address, it)| (address.to_string(), account(it))).collect())
}

fn written_overrides(block: &BlockOverrides) -> Value {
    object([
        ("number", block.number.map(quantity)),
        ("time", block.time.map(quantity)),
        ("gasLimit", block.gas_limit.map(quantity)),
        ("feeRecipient", block.fee_recipient.map(|miner| json!(miner))),
        ("prevRandao", block.random.map(|random| json!(random))),
        ("baseFeePerGas", block.base_fee_per_gas.map(quantity)),
        ("blobBaseFee", block.blob_base_fee.map(quantity)),
        ("difficulty", block.difficulty.map(quantity)),
    ])
}
