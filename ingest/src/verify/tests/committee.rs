//! Blocks that a committee sealed: of ten fields at first, with legacy transactions of more, and a receipt of their
//! own.

use alloy_primitives::{Address, B64, B256, Bloom, U256};
use serde_json::{Value, json};
use trawl_chains::{ETHEREUM, Family, by_chain_id};
use trawl_core::primitives::TransactionType;

use super::super::{Check, Depth, Outcome, VerifyError, header, verify};
use super::tolerated::encode;
use super::{names, newest, reason, with_logs};
use crate::block::{Block, Log, Receipt};
use crate::decode::{NO_UNCLES, decode_transaction};

fn celo() -> &'static Family {
    by_chain_id(42_220)
}

fn proven(block: &Block) -> Result<Outcome, VerifyError> {
    verify(block, Depth::Full, celo())
}

/// Vanity, and the list with a seal of the block and one of the block below.
fn extra_data(seal: [u8; 3]) -> Vec<u8> {
    [&[7; 32][..], &[0xcc, 0xc0, 0xc0, 0x80, 0x80, 0xc3], &seal, &[0xc3, 4, 5, 6]].concat()
}

/// A block of ten fields, with logs of the chain's own calls.
fn sealed() -> Block {
    let mut block = with_logs();
    let header = &mut block.header;
    (header.sha3_uncles, header.difficulty, header.gas_limit) = Default::default();
    (header.mix_hash, header.nonce, header.withdrawals_root) = Default::default();
    (header.blob_gas_used, header.excess_blob_gas) = Default::default();
    (header.parent_beacon_block_root, header.requests_hash) = Default::default();
    header.lacking = vec!["sha3_uncles", "difficulty", "gas_limit"];
    header.extra_data = extra_data([1, 2, 3]).into();
    block.withdrawals = Some(Vec::new());
    let receipts = block.receipts.as_ref().expect("receipts");
    let log = Log {
        address: Address::repeat_byte(0xce),
        topics: vec![B256::repeat_byte(9)],
        data: vec![1].into(),
        index: u32::try_from(block.log_count()).expect("few"),
    };
    let of_block = Receipt {
        status: Some(1),
        cumulative_gas_used: 0,
        gas_used: 0,
        effective_gas_price: None,
        contract_address: None,
        logs_bloom: None,
        logs: vec![log],
        ..receipts[0].clone()
    };
    block.block_receipt = Some(Box::new(of_block));
    hashed(block)
}

/// The same under the roots and the hash that it has now.
fn hashed(mut block: Block) -> Block {
    let of_block = block.block_receipt.as_deref();
    let of_block = of_block.map(|receipt| encode(TransactionType::Legacy, Some(receipt)));
    let of_transactions = block.outcomes().map(|(transaction, receipt)| encode(transaction.transaction_type, receipt));
    let encoded: Vec<(Vec<u8>, Bloom)> = of_transactions.chain(of_block).collect();
    block.header.receipts_root =
        alloy_trie::root::ordered_trie_root_with_encoder(&encoded, |(bytes, _), out: &mut Vec<u8>| {
            out.extend_from_slice(bytes);
        });
    block.header.logs_bloom = encoded.iter().fold(Bloom::ZERO, |all, (_, bloom)| all | *bloom).0;
    block.header.hash = header::short_hash(&block.header, celo()).expect("ten fields");
    for receipt in block.receipts.iter_mut().flatten() {
        receipt.block_hash = Some(block.header.hash);
    }
    if let Some(receipt) = &mut block.block_receipt {
        (receipt.transaction_hash, receipt.block_hash) = (block.header.hash, Some(block.header.hash));
    }
    block
}

#[test]
fn a_block_of_ten_fields_is_verified() {
    let block = sealed();
    let outcome = proven(&block).expect("not refused");
    assert_eq!(outcome.verdict(Depth::Full), "verified", "{outcome:?}");
    // Only what the source gives is named.
    assert!(reason(&outcome, "fields of the chain's own").ends_with("baseFeePerGas"), "{outcome:?}");
    // Nodes of today name zero for what is not there, and the seal of the committee is in no hash.
    let mut today = block.clone();
    today.header.lacking.clear();
    (today.header.mix_hash, today.header.nonce) = (Some(B256::ZERO), Some(Default::default()));
    today.header.extra_data = extra_data([0x80; 3]).into();
    // A gas limit and a hash of no uncles, too.
    (today.header.gas_limit, today.header.sha3_uncles) = (20_000_000, NO_UNCLES);
    let outcome = proven(&today).expect("not refused");
    assert_eq!(outcome.verdict(Depth::Full), "verified", "{outcome:?}");
    let uncovered = reason(&outcome, "fields of the chain's own");
    assert!(uncovered.ends_with("baseFeePerGas, difficulty, gasLimit"), "{outcome:?}");
    // A mix hash or nonce that no hash covers is of no such header.
    let sealings = [(B256::repeat_byte(1), B64::ZERO), (B256::ZERO, B64::repeat_byte(1))];
    for (mix_hash, nonce) in sealings {
        let mut forged = today.clone();
        (forged.header.mix_hash, forged.header.nonce) = (Some(mix_hash), Some(nonce));
        assert!(!proven(&forged).expect("named").has_passed(Check::HeaderHash));
    }
    for mut forged in [block, today] {
        forged.header.extra_data = [&extra_data([1, 2, 3])[..44], &[7]].concat().into();
        let outcome = proven(&forged).expect("named, as no whole block was tried");
        assert!(reason(&outcome, "header hash").starts_with("the hash is not that of ten fields"), "{outcome:?}");
    }
}

/// As cryo exports it: a header of more fields without those that only it has is not taken for one of ten.
#[test]
fn columns_that_are_not_there_make_no_short_header() {
    let mut block = sealed();
    block.header.lacking = vec!["sha3_uncles", "difficulty", "gas_limit", "mix_hash", "nonce"];
    (block.uncles, block.uncle_hashes) = (None, None);
    assert!(proven(&block).expect("not refused").checked().contains(&"header hash".into()));
    // The hash is that of more fields.
    block.header.hash = B256::repeat_byte(0x12);
    for receipt in block.receipts.iter_mut().flatten().chain(block.block_receipt.as_deref_mut()) {
        receipt.block_hash = Some(block.header.hash);
    }
    let outcome = proven(&block).expect("not refused");
    assert!(reason(&outcome, "header hash").starts_with("the hash is not that of ten fields"), "{outcome:?}");
    assert_eq!(reason(&outcome, "uncles hash"), "the header has no hash of uncles", "{outcome:?}");
    assert!(outcome.checked().contains(&"receipts root".into()), "{outcome:?}");
    // Without the extra data nothing tells when it was made.
    block.header.lacking.push("extra_data");
    (block.header.extra_data, block.block_receipt) = (Default::default(), None);
    let outcome = proven(&block).expect("not refused");
    assert_eq!(reason(&outcome, "receipts root"), "the receipt of the block's own calls may be missing", "{outcome:?}");
}

#[test]
fn a_receipt_of_the_block_is_in_root_and_bloom() {
    let block = sealed();
    let mut forged = block.clone();
    forged.block_receipt.as_mut().expect("a receipt").logs[0].data = vec![2].into();
    assert_eq!(proven(&forged).expect_err("refused").check, Check::ReceiptsRoot);
    // It is the last of the receipts that a node gives.
    let mut given = block.clone();
    let of_block = given.block_receipt.take().expect("a receipt");
    given.receipts.as_mut().expect("receipts").push(*of_block);
    assert_eq!(verify(&given, Depth::Full, celo()).expect_err("refused").check, Check::ReceiptCount);
    let mut elsewhere = given.clone();
    elsewhere.separate_block_receipt(&ETHEREUM);
    assert_eq!(elsewhere, given, "no other chain has one");
    given.separate_block_receipt(celo());
    assert_eq!(given, block);
    // Where it is missing, root and bloom are not refused, but for logs that the bloom does not have.
    let mut missing = block;
    missing.block_receipt = None;
    let outcome = proven(&missing).expect("not refused");
    assert_eq!(outcome.verdict(Depth::Full), "partial");
    let found = names(&outcome);
    assert!(found.contains(&"receipts root".into()) && found.contains(&"logs bloom".into()), "{outcome:?}");
    let mut logs = missing.receipts.iter_mut().flatten().flat_map(|receipt| &mut receipt.logs);
    logs.next().expect("a log").address = Address::repeat_byte(0x12);
    assert_eq!(proven(&missing).expect_err("refused").check, Check::LogsBloom);
}

/// The first transaction of block 16,645,775 of Celo.
fn legacy() -> Value {
    json!({
        "type": "0x0", "ethCompatible": false, "feeCurrency": null, "gatewayFee": "0x0", "gatewayFeeRecipient": null,
        "hash": "0x487efb864b308ee85afd7ed5954e968457cfe84e71726114b0a44f31fb876e85",
        "from": "0x045d685d23e8aa34dc408a66fb408f20dc84d785", "to": "0xb86d682b1b6bf20d8d54f55c48f848b9487dec37",
        "nonce": format!("{:#x}", 714_820), "gasPrice": format!("{:#x}", 562_129_081), "value": "0x0",
        "gas": format!("{:#x}", 1_527_520), "input": "0x389ec778", "v": format!("{:#x}", 84_476),
        "r": "0x1c0c8776e2e9d97b9a95435d2c2439d5f634e1afc35a5a0f0bd02093dd4724e0",
        "s": "0xde418ff749f2430a85e60a4b3f81af9f8e2117cffbe32c719b9b784c01be774",
    })
}

/// A block with a transaction that is not its own, so that the transactions root is all that is wrong with it.
fn with_transaction(given: &Value) -> Block {
    let mut block = newest();
    block.transactions = vec![decode_transaction(7, 0, &given.to_string()).expect("a transaction")];
    (block.traces, block.receipts) = (None, None);
    block
}

#[test]
fn a_real_legacy_transaction_of_more_fields_is_proven() {
    let given = legacy();
    let refused = |name: &str, value: Value, family: &Family| {
        let mut given = given.clone();
        given[name] = value;
        verify(&with_transaction(&given), Depth::Full, family).expect_err("it is not in this block").check
    };
    // Its hash and its sender hold; the root is that of another block.
    assert_eq!(refused("type", "0x0".into(), celo()), Check::TransactionsRoot);
    assert_eq!(refused("gatewayFee", "0x1".into(), celo()), Check::TransactionHash);
    assert_eq!(refused("ethCompatible", true.into(), celo()), Check::TransactionHash);
    assert_eq!(refused("from", format!("{:#x}", Address::repeat_byte(1)).into(), celo()), Check::Sender);
    assert_eq!(refused("type", "0x0".into(), &ETHEREUM), Check::TransactionHash);
}

/// Files with columns have no `ethCompatible`, and some nodes leave it out.
#[test]
fn the_hash_tells_the_form_of_a_legacy_transaction() {
    let without = |names: &[&str]| {
        let mut given = legacy();
        names.iter().for_each(|name| drop(given.as_object_mut().expect("an object").remove(*name)));
        with_transaction(&given)
    };
    let all = ["ethCompatible", "feeCurrency", "gatewayFee", "gatewayFeeRecipient"];
    let refused = |block: &Block| verify(block, Depth::Full, celo()).expect_err("refused").check;
    for names in [&all[..1], &all[..2], &all[..3], &all] {
        assert_eq!(refused(&without(names)), Check::TransactionsRoot, "{names:?}: hash and sender hold");
    }
    // A legacy transaction has its chain in `v`.
    let mut column = without(&all);
    column.transactions[0].lacking = vec!["chain_id"];
    assert_eq!(refused(&column), Check::TransactionsRoot);
    // It is named what is not there, whatever the hash.
    let unknown = |block: &Block| reason(&verify(block, Depth::Full, celo()).expect("not refused"), "transaction hash");
    column.transactions[0].lacking = vec!["chain_id", "nonce"];
    column.header.extra_data = extra_data([1, 2, 3]).into();
    assert!(unknown(&column).starts_with("the source has no nonce of transactions"), "{}", unknown(&column));
    // Where a fee may be missing, another hash need not be wrong.
    let other = |block: &mut Block| block.transactions[0].nonce += 1;
    column.transactions[0].lacking = vec!["chain_id"];
    other(&mut column);
    assert!(unknown(&column).starts_with("the source has no gateway fee"), "{}", unknown(&column));
    for (extra_data, names) in [(vec![0; 9], &all[..]), (extra_data([1, 2, 3]), &all[..1])] {
        let mut block = without(names);
        block.header.extra_data = extra_data.into();
        block.header.hash = header::block_hash(&block.header, celo()).expect("all fields");
        other(&mut block);
        assert_eq!(refused(&block), Check::TransactionHash, "{names:?}");
    }
    // Nor is the sender compared that a source does not have.
    let mut column = without(&all);
    (column.transactions[0].from, column.transactions[0].lacking) = (Address::ZERO, vec!["from_address"]);
    assert_eq!(refused(&column), Check::TransactionsRoot);
}

#[test]
fn a_receipt_of_the_block_is_of_no_other_chain() {
    let refused = verify(&sealed(), Depth::Off, &ETHEREUM).expect_err("refused");
    assert_eq!(refused.check, Check::ReceiptTransaction);
}

#[test]
fn prices_in_tokens_are_named() {
    let mut block = sealed();
    let receipt = &mut block.receipts.as_mut().expect("receipts")[0];
    receipt.effective_gas_price = receipt.effective_gas_price.map(|price| price + U256::from(7));
    let outcome = proven(&block).expect("not refused");
    assert!(names(&outcome).contains(&"effective gas price".into()), "{outcome:?}");
}
