//! Real blocks of OP Mainnet and OP Sepolia, executed on proven states: their gas, receipts root and bloom must come
//! out, and the state that the next block begins with.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use alloy_consensus::{Receipt, ReceiptEnvelope, ReceiptWithBloom, Signed, TxEip1559, TxEnvelope, TxLegacy};
use alloy_eips::eip2718::Encodable2718;
use alloy_primitives::{Bloom, Log, Signature, TxKind, keccak256};
use alloy_rlp::Encodable;
use alloy_trie::root::ordered_trie_root_with_encoder;
use revm::context::result::{ExecutionResult, ResultAndState};
use revm::{DatabaseCommit, DatabaseRef};
use serde_json::Value;
use trawl_chains::DataSize;

use super::block::BlockRun;
use super::changes::Changes;
use super::tracer::Tracer;
use crate::environment::environment;
use crate::replay::{Progress, RecordedTransaction, Replay};
use crate::{
    Account, BlockContext, BlockOverrides, Call, Fees, Key, NoNewerBlocks, Origin, PartialState, Point, Schedule,
    StateCache, StateValue, Step, bytecode,
};
use trawl_core::primitives::{Address, B256, Bytes, U256};

/// A deposit (<https://specs.optimism.io/protocol/deposits.html>).
const DEPOSIT: u64 = 0x7e;

fn text(path: &Path) -> String {
    let file = std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut text = String::new();
    if path.extension().is_some_and(|extension| extension == "gz") {
        flate2::read::GzDecoder::new(&*file).read_to_string(&mut text).expect("gzip");
        return text;
    }
    String::from_utf8(file).expect("text")
}

/// The blocks that are executed: of a folder that `TRAWL_TEST_PRESTATES` names, if it does.
fn folder() -> PathBuf {
    let ours = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/chains/prestates");
    std::env::var_os("TRAWL_TEST_PRESTATES").map_or(ours, PathBuf::from)
}

/// By height, blocks with the ids of their chains.
fn blocks(files: &[PathBuf]) -> BTreeMap<u64, (u64, Value)> {
    let mut found = BTreeMap::new();
    for file in files {
        let name = file.file_name().expect("a name").to_string_lossy().into_owned();
        let Some(rest) = name.strip_prefix("blocks-without-receipts-") else { continue };
        let chain_id = rest.split('.').next().and_then(|id| id.parse().ok()).expect("a chain id");
        for line in text(file).lines() {
            let mut line: Value = serde_json::from_str(line).expect("JSON");
            let block = line["block"].take();
            found.insert(number(&block["number"]), (chain_id, block));
        }
    }
    found
}

fn read<T: std::str::FromStr>(value: &Value) -> T {
    let text = value.as_str().unwrap_or_else(|| panic!("a string: {value}"));
    text.parse().unwrap_or_else(|_| panic!("a value: {text}"))
}

fn number(value: &Value) -> u64 {
    read::<U256>(value).to()
}

/// The bytes of a signed transaction, from its fields; they hash to what the block says.
fn signed(transaction: &Value) -> Vec<u8> {
    let to = transaction["to"].as_str().map_or(TxKind::Create, |to| TxKind::Call(to.parse().expect("an address")));
    let (v, r, s) = (number(&transaction["v"]), read(&transaction["r"]), read(&transaction["s"]));
    let (nonce, gas_limit) = (number(&transaction["nonce"]), number(&transaction["gas"]));
    let (value, input) = (read(&transaction["value"]), read::<Bytes>(&transaction["input"]));
    let hash: B256 = read(&transaction["hash"]);
    let envelope: TxEnvelope = match number(&transaction["type"]) {
        0 => {
            let chain_id = (v >= 35).then(|| (v - 35) / 2);
            let gas_price = number(&transaction["gasPrice"]).into();
            let fields = TxLegacy { chain_id, nonce, gas_price, gas_limit, to, value, input };
            let parity = if v >= 35 { (v - 35) % 2 == 1 } else { v == 28 };
            Signed::new_unchecked(fields, Signature::new(r, s, parity), hash).into()
        }
        2 => {
            assert_eq!(transaction["accessList"], serde_json::json!([]), "none of these has one");
            let fields = TxEip1559 {
                chain_id: number(&transaction["chainId"]),
                nonce,
                gas_limit,
                max_fee_per_gas: number(&transaction["maxFeePerGas"]).into(),
                max_priority_fee_per_gas: number(&transaction["maxPriorityFeePerGas"]).into(),
                to,
                value,
                access_list: Default::default(),
                input,
            };
            Signed::new_unchecked(fields, Signature::new(r, s, v == 1), hash).into()
        }
        other => panic!("a transaction of type {other}"),
    };
    let encoded = envelope.encoded_2718();
    assert_eq!(keccak256(&encoded), hash);
    encoded
}

fn recorded(transaction: &Value) -> RecordedTransaction {
    let kind = number(&transaction["type"]);
    let origin = match kind {
        DEPOSIT => {
            Origin::Deposit { mint: transaction["mint"].as_str().map_or(U256::ZERO, |_| read(&transaction["mint"])) }
        }
        _ => Origin::Signed(DataSize::of(&signed(transaction))),
    };
    let call = Call {
        from: read(&transaction["from"]),
        to: transaction["to"].as_str().map(|to| to.parse().expect("an address")),
        gas: Some(number(&transaction["gas"])),
        fees: match kind {
            DEPOSIT => Fees::None,
            2 => Fees::Dynamic {
                max: number(&transaction["maxFeePerGas"]).into(),
                priority: number(&transaction["maxPriorityFeePerGas"]).into(),
            },
            _ => Fees::Price(number(&transaction["gasPrice"]).into()),
        },
        value: read(&transaction["value"]),
        input: read(&transaction["input"]),
        nonce: (kind != DEPOSIT).then(|| number(&transaction["nonce"])),
        access_list: (kind == 2).then(Default::default),
        ..Call::default()
    };
    RecordedTransaction { hash: read(&transaction["hash"]), call, origin, gas_used: 0 }
}

fn replay(chain_id: u64, block: &Value) -> Replay {
    let context = BlockContext {
        number: number(&block["number"]),
        timestamp: number(&block["timestamp"]),
        miner: read(&block["miner"]),
        producer: read(&block["miner"]),
        gas_limit: number(&block["gasLimit"]),
        base_fee_per_gas: number(&block["baseFeePerGas"]),
        difficulty: U256::ZERO,
        mix_hash: Some(read(&block["mixHash"])),
        excess_blob_gas: block["excessBlobGas"].as_str().map(|_| number(&block["excessBlobGas"])),
        extra_data: read(&block["extraData"]),
    };
    Replay {
        transactions: block["transactions"].as_array().expect("transactions").iter().map(recorded).collect(),
        untraced: 0,
        tracer: Tracer::Nothing,
        rules: Schedule::of_chain(chain_id).expect("a known chain").at(&context).expect("known rules"),
        block: context,
        hash: read(&block["hash"]),
        parent_hash: read(&block["parentHash"]),
        beacon_root: block["parentBeaconBlockRoot"].as_str().map(|_| read(&block["parentBeaconBlockRoot"])),
    }
}

/// Balance, nonce and slots of accounts; their code where it is given.
fn state(file: &Path) -> BTreeMap<Address, Value> {
    let mut state: Value = serde_json::from_str(&text(file)).expect("JSON");
    serde_json::from_value(state["accounts"].take()).expect("accounts")
}

fn partial(accounts: &BTreeMap<Address, Value>) -> PartialState {
    let mut partial =
        PartialState::new(StateCache::new(1 << 20), Point::default(), Arc::new(NoNewerBlocks), BTreeMap::new());
    for (address, account) in accounts {
        let code: Bytes = read(&account["code"]);
        let (balance, nonce, code_hash) = (read(&account["balance"]), number(&account["nonce"]), keccak256(&code));
        partial.learn(Key::Account(*address), StateValue::Account(Account { balance, nonce, code_hash }));
        partial.learn(Key::Code(code_hash), StateValue::Code(bytecode(code)));
        for (slot, value) in account["storage"].as_object().expect("slots") {
            let slot: U256 = slot.parse().expect("a slot");
            partial.learn(Key::Slot(*address, slot.into()), StateValue::Slot(read(value)));
        }
    }
    partial
}

/// A receipt as it is in the trie.
fn receipt(kind: u64, success: bool, gas: u64, logs: Vec<Log>, nonce: Option<u64>) -> Vec<u8> {
    let receipt = Receipt { status: success.into(), cumulative_gas_used: gas, logs };
    let bloom = receipt.bloom_slow();
    let whole = ReceiptWithBloom { receipt, logs_bloom: bloom };
    match kind {
        0 => ReceiptEnvelope::Legacy(whole).encoded_2718(),
        2 => ReceiptEnvelope::Eip1559(whole).encoded_2718(),
        _ => {
            let mut fields = Vec::new();
            success.encode(&mut fields);
            gas.encode(&mut fields);
            bloom.encode(&mut fields);
            whole.receipt.logs.encode(&mut fields);
            // Since Canyon: the nonce, and version 1.
            if let Some(nonce) = nonce {
                nonce.encode(&mut fields);
                1_u64.encode(&mut fields);
            }
            let mut out = vec![u8::try_from(kind).expect("a byte")];
            alloy_rlp::Header { list: true, payload_length: fields.len() }.encode(&mut out);
            out.extend(fields);
            out
        }
    }
}

/// What a block made of the state before it.
struct BlockExecution<'p> {
    gas: u64,
    bloom: Bloom,
    receipts: Vec<Vec<u8>>,
    used: Vec<u64>,
    changes: Changes<'p>,
}

fn execute<'p>(replay: &'p Replay, block: &Value, run: &BlockRun<'p>) -> BlockExecution<'p> {
    let mut changes = Changes::new(run.probe);
    run.write_system(&mut changes).expect("state");
    let mut done = BlockExecution { gas: 0, bloom: Bloom::ZERO, receipts: Vec::new(), used: Vec::new(), changes };
    for (position, recorded) in replay.transactions.iter().enumerate() {
        let nonce = done.changes.basic_ref(recorded.call.from).expect("state").map_or(0, |account| account.nonce);
        let ran = run.run(&done.changes, recorded).expect("state").execute();
        let ResultAndState { result, state } = ran.unwrap_or_else(|error| panic!("transaction {position}: {error:?}"));
        done.changes.commit(state);
        let (success, used) = (result.is_success(), result.tx_gas_used());
        done.gas += used;
        done.used.push(used);
        let logs = if let ExecutionResult::Success { logs, .. } = result { logs } else { Vec::new() };
        logs.iter().for_each(|log| done.bloom.accrue_log(log));
        let nonce = Some(nonce).filter(|_| replay.rules.fork >= revm::primitives::hardfork::SpecId::SHANGHAI);
        let kind = number(&block["transactions"][position]["type"]);
        done.receipts.push(receipt(kind, success, done.gas, logs, nonce));
    }
    done
}

/// Executes a block; what is wrong with it.
fn faults(chain_id: u64, block: &Value, before: &Path, after: Option<&Path>) -> Vec<String> {
    let mut replay = replay(chain_id, block);
    let partial = partial(&state(before));
    let late = Instant::now() + Duration::from_secs(60);
    let probe = partial.probe(late);
    let environment = environment(&replay.block, &replay.rules, &BlockOverrides::default());
    let subject = replay.clone();
    let run = BlockRun { replay: &subject, probe: &probe, block: environment };
    let done = execute(&subject, block, &run);
    let mut faults: Vec<String> = probe.missing().iter().map(|key| format!("missing: {key:?}")).collect();
    let mut expect = |what: &str, found: String, expected: String| {
        if found != expected {
            faults.push(format!("{what}: {found}, and the block says {expected}"));
        }
    };
    expect("gas", done.gas.to_string(), number(&block["gasUsed"]).to_string());
    let root = ordered_trie_root_with_encoder(&done.receipts, |receipt, out| out.extend_from_slice(receipt));
    expect("receipts root", root.to_string(), read::<B256>(&block["receiptsRoot"]).to_string());
    expect("bloom", done.bloom.to_string(), read::<Bloom>(&block["logsBloom"]).to_string());
    for (address, expected) in after.map(state).unwrap_or_default() {
        let Some(account) = done.changes.cache.accounts.get(&address) else { continue };
        expect(
            &format!("balance of {address}"),
            account.info.balance.to_string(),
            read::<U256>(&expected["balance"]).to_string(),
        );
        expect(&format!("nonce of {address}"), account.info.nonce.to_string(), number(&expected["nonce"]).to_string());
        for (slot, value) in expected["storage"].as_object().expect("slots") {
            let slot: U256 = slot.parse().expect("a slot");
            if let Some(found) = account.storage.get(&slot) {
                expect(&format!("slot {slot} of {address}"), found.to_string(), read::<U256>(value).to_string());
            }
        }
    }
    // The way of replays, which compares the gas of each transaction.
    replay.transactions.iter_mut().zip(&done.used).for_each(|(recorded, used)| recorded.gas_used = *used);
    match replay.advance(&mut Progress::default(), &partial, late) {
        Step::Done(Ok(traces)) if traces.len() == done.used.len() => {}
        other => faults.push(format!("replay: {other:?}")),
    }
    faults
}

#[test]
fn blocks_of_rollups_have_their_gas_receipts_and_state() {
    let folder = folder();
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(&folder).expect("fixtures").map(|entry| entry.expect("a file").path()).collect();
    files.sort();
    let blocks = blocks(&files);
    let mut executed = 0;
    for file in &files {
        let name = file.file_name().expect("a name").to_string_lossy().into_owned();
        let Some(height) = name.strip_prefix("prestate-").and_then(|rest| rest.strip_suffix(".json.gz")) else {
            continue;
        };
        let height: u64 = height.trim_start_matches("sepolia-").parse().expect("a height");
        let (chain_id, block) = &blocks[&height];
        let next = [format!("after-{height}.json.gz"), format!("prestate-{}.json.gz", height + 1)];
        let next = next.iter().map(|name| folder.join(name)).find(|path| path.exists());
        let faults = faults(*chain_id, block, file, next.as_deref());
        assert!(faults.is_empty(), "{name}:\n{}", faults.join("\n"));
        executed += 1;
    }
    assert!(executed >= 2, "{executed} blocks");
}
