//! Prices and addresses of real transactions, altered.

use super::*;
use crate::decode::decode;

/// A deposit of OP Sepolia that creates a contract, by receipts with and without its nonce.
#[test]
fn a_deposit_creates_at_the_nonce_of_its_receipt() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures/chains/optimism-11155420.ndjson");
    let line = std::fs::read_to_string(file).expect("the fixture");
    let line: serde_json::Value = serde_json::from_str(line.trim()).expect("one line");
    let family = trawl_chains::by_chain_id(11_155_420);
    let by_version = |version: &str, created_by: Option<u64>, of_transaction: &str, of_receipt: serde_json::Value| {
        let mut line = line.clone();
        let transaction = &mut line["block"]["transactions"][0];
        (transaction["to"], transaction["nonce"]) = (serde_json::Value::Null, of_transaction.into());
        line["receipts"][0]["depositNonce"] = of_receipt;
        line["receipts"][0]["depositReceiptVersion"] = serde_json::from_str(version).expect("JSON");
        let mut block = decode(&line.to_string()).expect("a block");
        let mut receipt = block.receipts.take().expect("receipts").remove(0);
        let transaction = &block.transactions[0];
        receipt.contract_address = created_by.map(|nonce| transaction.from.create(nonce));
        contract_address(&block, transaction, &receipt, family)
    };
    let fits = |created_by: u64, of_transaction: &str, of_receipt: serde_json::Value| {
        by_version(r#""0x1""#, Some(created_by), of_transaction, of_receipt).is_ok()
    };
    assert!(fits(7, "0x0", "0x7".into()), "the node gives no nonce of the transaction");
    assert!(fits(7, "0x7", "0x7".into()));
    assert!(!fits(0, "0x0", "0x7".into()));
    // Before Regolith receipts have no nonce.
    assert!(fits(0, "0x0", serde_json::Value::Null));
    assert!(!fits(7, "0x0", serde_json::Value::Null));
    // Between Regolith and Canyon.
    let unproven = |created_by: u64| by_version("null", Some(created_by), "0x0", "0x7".into());
    assert!(unproven(7).is_ok());
    assert!(matches!(unproven(0), Err(Misfit::Unknown(_))), "the address of nonce 0");
    assert!(matches!(unproven(3), Err(Misfit::Differs { .. })), "any other");
    let absent = |of_receipt: serde_json::Value| by_version(r#""0x1""#, None, "0x0", of_receipt);
    assert!(matches!(absent("0x7".into()), Err(Misfit::Differs { .. })), "its contract is left out");
    assert!(absent(serde_json::Value::Null).is_ok(), "before Regolith it is not known to be a creation");
}

/// The effective price of a transaction that would pay 105 with its tip, in a block of base fee 100.
fn price_fits(chain_id: u64, mix_hash: alloy_primitives::B256, price: u64, gas_used: u64) -> Result<(), Misfit> {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures/chains/optimism-goerli-5003318.json");
    let line = std::fs::read_to_string(file).expect("the fixture");
    let mut block = decode(line.lines().next().expect("a line")).expect("a block");
    (block.header.mix_hash, block.header.base_fee_per_gas) = (Some(mix_hash), Some(U256::from(100)));
    let mut transaction = block.transactions.remove(0);
    transaction.transaction_type = TransactionType::DynamicFee;
    transaction.max_fee_per_gas = Some(U256::from(200));
    transaction.max_priority_fee_per_gas = Some(U256::from(5));
    let mut receipt = block.receipts.take().expect("receipts").remove(0);
    (receipt.effective_gas_price, receipt.gas_used) = (Some(U256::from(price)), gas_used);
    let family = trawl_chains::by_chain_id(chain_id);
    price_check(&block, family)(&block, &transaction, &receipt, family)
}

/// As on chains of Frontier that are not listed, whose headers have no mix hash.
#[test]
fn a_cap_is_repeated_where_a_missing_mix_hash_hides_the_header() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures/chains/optimism-goerli-5003318.json");
    let line = std::fs::read_to_string(file).expect("the fixture");
    let mut block = decode(line.lines().next().expect("a line")).expect("a block");
    block.header.base_fee_per_gas = Some(U256::from(100));
    let mut transaction = block.transactions.remove(0);
    transaction.transaction_type = TransactionType::DynamicFee;
    transaction.max_fee_per_gas = Some(U256::from(200));
    transaction.max_priority_fee_per_gas = Some(U256::from(5));
    transaction.gas_price = Some(U256::from(200));
    let receipt = block.receipts.take().expect("receipts").remove(0);
    let mut is_named = |chain_id: u64, mix_hash: Option<alloy_primitives::B256>| {
        block.header.mix_hash = mix_hash;
        let family = trawl_chains::by_chain_id(chain_id);
        let found = repeated_price(&block, &transaction, &receipt, family).expect_err("another price");
        matches!(found, Misfit::Unknown(_))
    };
    assert!(is_named(1, None) && is_named(137, None));
    assert!(!is_named(1, Some(alloy_primitives::B256::ZERO)));
    assert!(!is_named(25, None) && !is_named(324, None), "no hash of Ethereum's header in any case");
}

/// Nodes of Arbitrum give both in blocks that collect tips.
#[test]
fn blocks_that_collect_tips_pay_either_price() {
    let of_version = |version: u8| {
        let mut mix_hash = alloy_primitives::B256::ZERO;
        mix_hash.0[23] = version;
        mix_hash
    };
    let mut flagged = of_version(60);
    flagged.0[25] = 1;
    let (proven, named, refused) = ("proven", "named", "refused");
    for (mix_hash, price, expected) in [
        (of_version(10), 100, proven),
        (of_version(10), 105, refused),
        (of_version(9), 100, named),
        (of_version(9), 105, proven),
        (of_version(9), 106, refused),
        (flagged, 105, proven),
        (flagged, 100, named),
        (of_version(60), 105, refused),
    ] {
        let found = match price_fits(42_161, mix_hash, price, 21_000) {
            Ok(()) => proven,
            Err(Misfit::Unknown(_)) => named,
            Err(Misfit::Differs { .. }) => refused,
        };
        assert_eq!(found, expected, "{mix_hash} {price}");
    }
}

/// As exports of the OP stack are: what was paid for L1 is in no price, address or sum of gas.
#[test]
fn fees_beside_the_gas_that_are_not_known_hide_no_wrong_price() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures/chains/optimism-goerli-5003318.json");
    let line = std::fs::read_to_string(file).expect("the fixture");
    let family = trawl_chains::by_chain_id(420);
    for (column, is_refused) in [("l1_fee", true), ("operator_fee", true), ("gas_price", false)] {
        let mut block = decode(line.lines().next().expect("a line")).expect("a block");
        block.transactions[1].lacking = vec![column];
        block.receipts.as_mut().expect("receipts")[1].effective_gas_price = Some(U256::from(1));
        let found = crate::verify::verify(&block, crate::verify::Depth::Full, family);
        let expected = is_refused.then_some(Check::EffectiveGasPrice);
        assert_eq!(found.err().map(|error| error.check), expected, "{column}");
    }
}

/// As Sei gives a transaction that failed before it ran, of which it keeps a receipt without gas and price.
#[test]
fn what_used_no_gas_need_not_name_a_price() {
    let none = alloy_primitives::B256::ZERO;
    assert!(matches!(price_fits(1329, none, 0, 0), Err(Misfit::Unknown(_))));
    assert!(matches!(price_fits(1329, none, 0, 1), Err(Misfit::Differs { .. })));
    assert!(matches!(price_fits(10, none, 0, 0), Err(Misfit::Differs { .. })));
}

/// As in the transaction 0x2499b178…f3ac of Celo.
#[test]
fn gas_paid_in_a_token_costs_the_base_fee_of_its_receipt() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures/chains/optimism-11155420.ndjson");
    let line = std::fs::read_to_string(file).expect("the fixture");
    let mut block = decode(line.trim()).expect("a block");
    let mut receipt = block.receipts.take().expect("receipts").remove(0);
    receipt.raw = Some(r#"{"baseFee":"0x1adff4f03"}"#.into());
    let mut transaction = block.transactions.remove(0);
    transaction.transaction_type = TransactionType::Other(0x7b);
    transaction.max_fee_per_gas = Some(U256::from(0x2_6442_dbed_u64));
    transaction.max_priority_fee_per_gas = Some(U256::from(0x4_d7ee));
    for (price, is_fit) in [(0x1_ae04_26f1_u64, true), (0x1_ae04_26f2, false)] {
        receipt.effective_gas_price = Some(U256::from(price));
        let found = signed_price(&block, &transaction, &receipt, trawl_chains::by_chain_id(42_220));
        assert_eq!(found.is_ok(), is_fit, "{price}");
    }
}
