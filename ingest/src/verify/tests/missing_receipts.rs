//! Receipts that the nodes of a chain do not have are missing, and not made up.

use serde_json::Value;
use trawl_chains::{ETHEREUM, Family, by_chain_id};

use super::super::{Check, Depth, Outcome, VerifyError, verify};
use super::lines;
use crate::decode::decode;
use crate::rows::rows;

/// A recorded block with at least three transactions, as JSON.
fn block() -> Value {
    let all = lines("devchain").into_iter().map(|line| serde_json::from_str::<Value>(&line).expect("JSON"));
    let mut several = all.filter(|line| line["block"]["transactions"].as_array().is_some_and(|all| all.len() > 2));
    several.next().expect("a block with several transactions")
}

fn proven(line: &Value, family: &Family) -> Result<Outcome, VerifyError> {
    verify(&decode(&line.to_string()).expect("a block"), Depth::Full, family)
}

#[test]
fn a_receipt_that_nodes_do_not_have_is_missing_and_named() {
    let cronos = by_chain_id(25);
    let mut line = block();
    let whole = line.clone();
    line["receipts"].as_array_mut().expect("receipts").remove(1);
    let refused = proven(&line, &ETHEREUM).expect_err("Ethereum's nodes have all");
    assert_eq!(refused.check, Check::ReceiptCount);
    let outcome = proven(&line, cronos).expect("not refused");
    assert_eq!(outcome.verdict(Depth::Full), "partial");
    let named = outcome.impossible().into_iter().find(|row| row.check == "number of receipts").expect("named");
    let count = whole["receipts"].as_array().expect("receipts").len();
    assert!(named.reason.ends_with(&format!(": 1 of {count} are missing")), "{}", named.reason);
    let made = |line: &Value| rows(decode(&line.to_string()).expect("a block"), cronos).expect("rows");
    let (found, expected) = (made(&line), made(&whole));
    for (position, (found, expected)) in found.transactions.iter().zip(&expected.transactions).enumerate() {
        if position != 1 {
            assert_eq!(found, expected);
            continue;
        }
        let outcome = (found.has_receipt, found.status, found.gas_used, found.contract_address);
        assert_eq!(outcome, (0, None, 0, None));
    }
    assert_eq!(found.logs.len(), expected.logs.iter().filter(|log| log.transaction_index != 1).count());
    let sums = &found.blocks[0];
    assert_eq!((sums.logs_count, sums.transaction_fees, sums.priority_fees), (None, None, None));
    // Some nodes give `null` in its place.
    let mut with_null = whole;
    with_null["receipts"][1] = Value::Null;
    assert_eq!(made(&with_null).transactions, found.transactions);
    assert_eq!(proven(&with_null, &ETHEREUM).expect_err("refused").check, Check::ReceiptCount);
}

#[test]
fn a_receipt_of_no_transaction_is_refused() {
    let mut line = block();
    line["receipts"].as_array_mut().expect("receipts").remove(1);
    line["receipts"][1]["transactionHash"] = format!("0x{}", "12".repeat(32)).into();
    let refused = proven(&line, by_chain_id(25)).expect_err("of another block");
    assert_eq!(refused.check, Check::ReceiptTransaction);
}
