//! Blocks with an access list (EIP-7928), which Glamsterdam brings.

use alloy_primitives::{B256, U256};
use serde_json::{Value, json};
use trawl_chains::{ETHEREUM, by_chain_id};

use super::super::{Check, Depth, header, verify};
use super::{newest, reason, with_logs};
use crate::block::Block;
use crate::decode::decode;

/// Block 192 of a public test network of the fork, without transactions.
fn of_test_network(change: impl FnOnce(&mut Value)) -> Block {
    let none = "0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421";
    let mut block = json!({
        "number": "0xc0",
        "hash": "0x86e1583ca604ce5de648b44c41fb309b8dfe72ab21b57ad9f12eb0d92ac991f8",
        "parentHash": "0x2648510bb7819909b36373a3a2ccda82a51a0c8b154d03ff7710ef8d64b689e6",
        "sha3Uncles": "0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347",
        "miner": "0x8943545177806ed17b9f23f0a21ee5948ecaa776",
        "stateRoot": "0x2338ab0cb5b76db31251fc2352e9142fd8b2bf19de6ac4a3c201b84d6ba737d3",
        "transactionsRoot": none,
        "receiptsRoot": none,
        "logsBloom": format!("0x{}", "00".repeat(256)),
        "difficulty": "0x0",
        "gasLimit": "0xbebc200",
        "gasUsed": "0x0",
        "timestamp": "0x6abd0dcb",
        "extraData": "0x726574682f76322e372e302f6c696e7578",
        "mixHash": "0x27184df4d2e2182675a2310a546d32e0d74a7accd4fbeafa84a903cd489dd40c",
        "nonce": "0x0000000000000000",
        "baseFeePerGas": "0x7",
        "withdrawalsRoot": none,
        "blobGasUsed": "0x0",
        "excessBlobGas": "0x0",
        "parentBeaconBlockRoot": "0x1214de134cf32c261ff3c2b6f96435016e9b98bf7dcd4870ad0009a2acf79974",
        "requestsHash": "0xe3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "blockAccessListHash": "0x1d33a17375e8dd0aef5da65c3f51422043f1c40d52eceaaca238cc92501aa32e",
        "slotNumber": "0xc0",
        "transactions": [],
        "uncles": [],
        "withdrawals": [],
    });
    change(&mut block);
    decode(&json!({"block": block, "receipts": []}).to_string()).expect("a block")
}

#[test]
fn the_hash_of_a_header_covers_access_list_and_slot() {
    let outcome = verify(&of_test_network(|_| {}), Depth::Full, &ETHEREUM).expect("it holds");
    assert_eq!((outcome.verdict(Depth::Full), outcome.size), ("verified", Some(665)), "{outcome:?}");
    for (member, value) in [
        ("slotNumber", json!("0xc1")),
        ("slotNumber", Value::Null),
        ("blockAccessListHash", json!(B256::ZERO)),
        ("blockAccessListHash", json!("a list")),
        ("stateRoot", json!(B256::ZERO)),
        ("miner", json!("0x0000000000000000000000000000000000000001")),
    ] {
        let forged = of_test_network(|block| block[member] = value);
        assert_eq!(verify(&forged, Depth::Full, &ETHEREUM).expect_err(member).check, Check::HeaderHash, "{member}");
    }
}

/// A recorded block as if it had a list, with its own hash and more gas than its transactions paid for.
fn with_list(change: impl FnOnce(&mut Block)) -> Block {
    let mut block = with_logs();
    block.header.extra = Some(json!({"blockAccessListHash": B256::repeat_byte(7), "slotNumber": "0x5"}).to_string());
    block.header.gas_used += 4_800;
    block.header.size = None;
    let mut whole = header::consensus_header(&block.header).expect("all of it");
    (whole.block_access_list_hash, whole.slot_number) = (Some(B256::repeat_byte(7)), Some(5));
    block.header.hash = whole.hash_slow();
    block.receipts.iter_mut().flatten().for_each(|receipt| receipt.block_hash = None);
    change(&mut block);
    block
}

/// Nodes may give such members where nothing hashes them, and anybody can write them.
#[test]
fn members_that_no_hash_covers_are_named_and_excuse_nothing() {
    let made_up = format!(r#"{{"blockAccessListHash":"{}","slotNumber":"0x5"}}"#, B256::repeat_byte(7));
    for extra in [&made_up, r#"{"slotNumber":"0x10000000000000000"}"#, r#"{"blockAccessListHash":"a list"}"#] {
        let mut block = newest();
        block.traces = None;
        block.header.extra = Some(extra.into());
        let outcome = verify(&block, Depth::Full, &ETHEREUM).expect("it holds");
        let named = reason(&outcome, "fields of the chain's own");
        assert!(named.contains("slotNumber") || named.contains("blockAccessListHash"), "{outcome:?}");
        for chain_id in [1, 100, 137, 945] {
            let mut forged = block.clone();
            let receipt = &mut forged.receipts.as_mut().expect("all")[0];
            receipt.status = receipt.status.map(|status| 1 - status);
            let refused = verify(&forged, Depth::Full, by_chain_id(chain_id)).expect_err("refused").check;
            assert_eq!(refused, Check::ReceiptsRoot, "{chain_id} {extra}");
        }
    }
}

#[test]
fn gas_before_refunds_is_that_of_the_header_alone() {
    let family = by_chain_id(1);
    let outcome = verify(&with_list(|_| {}), Depth::Full, family).expect("it holds");
    assert!(outcome.checked().contains(&"gas used".into()), "{outcome:?}");
    let refused = |change: fn(&mut Block)| verify(&with_list(change), Depth::Full, family).expect_err("refused").check;
    assert_eq!(refused(|block| block.header.gas_used += 1), Check::GasUsed);
    assert_eq!(refused(|block| block.receipts.as_mut().expect("all")[0].gas_used += 1), Check::CumulativeGas);
    let price = |block: &mut Block| block.receipts.as_mut().expect("all")[0].effective_gas_price = Some(U256::MAX);
    assert_eq!(refused(price), Check::EffectiveGasPrice);
    // No whole block with such a header was tried, so another receipt is named; its logs are in the bloom.
    let outcome = verify(
        &with_list(|block| {
            let receipt = &mut block.receipts.as_mut().expect("all")[0];
            receipt.status = receipt.status.map(|status| 1 - status);
        }),
        Depth::Full,
        family,
    )
    .expect("not refused");
    assert!(reason(&outcome, "receipts root").contains("access list"), "{outcome:?}");
}
