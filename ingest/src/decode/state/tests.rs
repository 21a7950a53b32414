//! Differences of accounts in the notations of several nodes.

use serde_json::{Value, json};

use super::*;
use crate::block::state_diff::AccountDiff;
use crate::decode::traces::TracedBlock;

const ONE: Address = Address::repeat_byte(0x11);

fn slot(byte: u8) -> B256 {
    B256::with_last_byte(byte)
}

/// A legacy transaction; its fields do not matter here.
fn transaction() -> Transaction {
    let raw = json!({"hash": B256::ZERO, "from": Address::ZERO, "gas": "0x0", "value": "0x0", "v": "0x1b",
                     "r": "0x1", "s": "0x1", "nonce": "0x0", "input": "0x"})
    .to_string();
    crate::decode::transaction::transaction(1, 0, &RawValue::from_string(raw).expect("JSON")).expect("a transaction")
}

fn differences(diffs: &[Value]) -> BTreeMap<Address, AccountDiff> {
    let mut tracker = Tracker::default();
    let transactions: Vec<Transaction> = diffs.iter().map(|_| transaction()).collect();
    apply_transactions(&mut tracker, &json!(diffs).to_string(), &transactions).expect("differences");
    tracker.finish()
}

#[test]
fn a_slot_that_is_not_mentioned_any_more_holds_nothing() {
    let expected = AccountDiff { storage: [(slot(1), slot(0)), (slot(2), slot(9))].into(), ..AccountDiff::default() };
    let prestate = json!({"prestateDiff": {
        "pre": {ONE.to_string(): {"balance": "0x5", "nonce": 3, "code": "0x01", "storage": {slot(1).to_string(): slot(7)}}},
        "post": {ONE.to_string(): {"storage": {slot(2).to_string(): slot(9)}}}}});
    let parity = json!({"parity": {ONE.to_string(): {"balance": "=", "nonce": "=", "code": "=", "storage": {
        slot(1).to_string(): {"*": {"from": slot(7), "to": slot(0)}},
        slot(2).to_string(): {"*": {"from": slot(0), "to": slot(9)}}}}}});
    assert_eq!(differences(&[prestate]), [(ONE, expected.clone())].into());
    assert_eq!(differences(&[parity]), [(ONE, expected)].into());
}

#[test]
fn an_account_that_is_not_mentioned_any_more_is_gone() {
    let expected = AccountDiff {
        destroyed: true,
        balance: Some(U256::ZERO),
        nonce: Some(0),
        code: Some(Bytes::new()),
        code_before: Some(vec![1].into()),
        ..AccountDiff::default()
    };
    let prestate = json!({"result": {
        "pre": {ONE.to_string(): {"balance": "0x5", "nonce": 1, "code": "0x01", "storage": {slot(1).to_string(): slot(7)}}},
        "post": {}}});
    let parity = json!({"stateDiff": {ONE.to_string(): {"balance": {"-": "0x5"}, "nonce": {"-": "0x1"},
        "code": {"-": "0x01"}, "storage": {slot(1).to_string(): {"-": slot(7)}}}}});
    assert_eq!(differences(std::slice::from_ref(&prestate)), [(ONE, expected.clone())].into());
    assert_eq!(differences(&[parity]), [(ONE, expected)].into());
    // Made again in the next transaction, it has what it was made with and nothing from before.
    let again = json!({"result": {"pre": {}, "post": {
        ONE.to_string(): {"nonce": 1, "code": "0x02", "storage": {slot(3).to_string(): slot(1)}}}}});
    let expected = AccountDiff {
        destroyed: true,
        balance: Some(U256::ZERO),
        nonce: None,
        code: Some(vec![2].into()),
        code_before: Some(vec![1].into()),
        storage: [(slot(3), slot(1))].into(),
    };
    assert_eq!(differences(&[prestate, again]), [(ONE, expected)].into());
}

#[test]
fn a_contract_that_cannot_have_ended_costs_the_block_its_state() {
    let prestate =
        json!([{"result": {"pre": {ONE.to_string(): {"balance": "0x5", "nonce": 1, "code": "0x01"}}, "post": {}}}]);
    let parity = json!([{"stateDiff": {ONE.to_string(): {"balance": {"-": "0x5"}, "nonce": {"-": "0x1"},
        "code": {"-": "0x01"}, "storage": {}}}}]);
    let plain = json!([{"result": {"pre": {ONE.to_string(): {"balance": "0x5"}}, "post": {}}}]);
    let differences = |diffs: &Value, is_cancun, traces: Option<Traces>| {
        let line = json!({"block": {}, "txStateDiffs": diffs}).to_string();
        let line: Line = serde_json::from_str(&line).expect("a line");
        let ends = Ends { is_cancun, traces: traces.as_ref() };
        state(7, &line, &[transaction()], &ends).expect("state").map(|state| state.accounts[&ONE].destroyed)
    };
    let frames = |errors: [Option<&str>; 2]| {
        let call = |address: &str| {
            format!(r#""from":"{ONE}","to":"{ONE}","value":"0x0","gas":"0x1","gasUsed":"0x1"{address}"#)
        };
        let error = errors.map(|error| error.map(|error| format!(r#","error":"{error}""#)).unwrap_or_default());
        let inner = format!(r#"{{"type":"SELFDESTRUCT",{}{}}}"#, call(""), error[1]);
        let trace = format!(r#"[{{"result":{{"type":"CALL",{},"calls":[{inner}]}}}}]"#, call(&error[0]));
        let line = format!(r#"{{"block":{{}},"traces":{trace}}}"#);
        let block = TracedBlock { number: 7, hash: B256::ZERO, transactions: 1, last_transaction: None };
        crate::decode::traces::traces(block, &serde_json::from_str(&line).expect("a line")).expect("traces")
    };
    for contract in [&prestate, &parity] {
        assert_eq!(differences(contract, true, None), None, "EIP-6780");
        assert_eq!(differences(contract, true, frames([None, None])), None, "EIP-6780");
        assert_eq!(differences(contract, false, None), Some(true), "nothing speaks against it");
        assert_eq!(differences(contract, false, frames([None, None])), Some(true));
        assert_eq!(differences(contract, false, frames([Some("execution reverted"), None])), None, "undone");
    }
    assert_eq!(differences(&plain, true, None), Some(true), "an account without code");
}

#[test]
fn removed_code_may_be_given_by_its_hash() {
    let diff = json!({"result": {
        "pre": {ONE.to_string(): {"balance": "0x5", "nonce": 1, "code": "0x01"}},
        "post": {ONE.to_string(): {"nonce": 2, "codeHash": alloy_primitives::KECCAK256_EMPTY}}}});
    let expected = AccountDiff {
        nonce: Some(2),
        code: Some(Bytes::new()),
        code_before: Some(vec![1].into()),
        ..AccountDiff::default()
    };
    assert_eq!(differences(&[diff]), [(ONE, expected)].into());
}

#[test]
fn steps_of_the_system_come_before_and_after() {
    let line = json!({
        "block": {},
        "txStateDiffs": [],
        "systemDiff": {"before": {ONE.to_string(): {"balance": "0x1", "storage": {"0x1": "0x5"}}},
                       "after": {ONE.to_string(): {"balance": "0x2"}}}})
    .to_string();
    let line: Line = serde_json::from_str(&line).expect("a line");
    let ends = Ends { is_cancun: true, traces: None };
    let found = state(7, &line, &[], &ends).expect("state").expect("there");
    let expected =
        AccountDiff { balance: Some(U256::from(2)), storage: [(slot(1), slot(5))].into(), ..AccountDiff::default() };
    assert_eq!((found.scope, found.accounts), (Scope::TransactionsAndSystem, [(ONE, expected)].into()));
    assert!(state(0, &line, &[], &ends).expect("state").is_none(), "nothing ran before block 0");
}
