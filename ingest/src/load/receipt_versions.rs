//! Receipts of deposits (OP stack) whose nonce and version a node leaves out. Since Canyon both are hashed, before it
//! neither is; which of both, the receipts root tells.

use serde_json::{Map, Value};
use trawl_chains::{DepositNonce, Family};

use crate::block::{Block, Receipt, Transaction};
use crate::load::deposits::{complete_deposits, warn_of_corrections};
use crate::verify::{Check, Depth, Outcome, VerifyError, verify};

/// Verifies a block as it is given, and where that does not prove its receipts, with nonce and version in those of its
/// deposits that lack one. The block has them afterwards if they prove the receipts root.
///
/// # Errors
///
/// What is wrong with the block as it is given.
pub(super) fn verify_any_version(block: &mut Block, depth: Depth, family: &Family) -> Result<Outcome, VerifyError> {
    let number = block.header.number;
    let corrected = complete_deposits(block, family);
    let given = verify(block, depth, family);
    if depth == Depth::Full && !is_proven(&given) {
        let below = DepositNonce::Below(number.saturating_sub(1));
        let mut tried = None;
        for nonce in [DepositNonce::Transaction, below] {
            let Some(mut whole) = with_versions(block, family, nonce) else { continue };
            let corrected = complete_deposits(&mut whole, family);
            // Both nonces are the same one where the node gives it with the transaction.
            if tried.as_ref() == Some(&whole) {
                continue;
            }
            let outcome = verify(&whole, depth, family);
            if is_proven(&outcome) {
                warn_of_corrections(number, &corrected);
                *block = whole;
                return outcome;
            }
            tried = Some(whole);
        }
    }
    if given.is_ok() {
        warn_of_corrections(number, &corrected);
    }
    given
}

fn is_proven(outcome: &Result<Outcome, VerifyError>) -> bool {
    outcome.as_ref().is_ok_and(|outcome| outcome.has_passed(Check::ReceiptsRoot))
}

/// The block with nonce and version in all receipts of deposits; `None` if none lacks them that can be completed.
fn with_versions(block: &Block, family: &Family, nonce: DepositNonce) -> Option<Block> {
    let of = |(transaction, receipt): (&Transaction, Option<&Receipt>)| {
        receipt.map(|receipt| with_version(transaction, receipt, family, nonce))
    };
    let versions: Vec<Option<String>> = block.outcomes().filter_map(of).collect();
    if versions.iter().all(Option::is_none) {
        return None;
    }
    let mut whole = block.clone();
    for (receipt, version) in whole.receipts.iter_mut().flatten().zip(versions) {
        receipt.raw = version.or_else(|| receipt.raw.take());
    }
    Some(whole)
}

/// The JSON of a receipt with them.
fn with_version(transaction: &Transaction, receipt: &Receipt, family: &Family, nonce: DepositNonce) -> Option<String> {
    let kind = family.transaction_type(transaction.transaction_type.byte())?;
    let (of, given) = (fields(transaction.raw.as_deref()?)?, fields(receipt.raw.as_deref()?)?);
    serde_json::to_string(&kind.receipt_with_version(&of, &given, nonce)?).ok()
}

fn fields(text: &str) -> Option<Map<String, Value>> {
    serde_json::from_str(text).ok()
}

#[cfg(test)]
mod tests {
    use trawl_chains::by_chain_id;

    use super::*;
    use crate::decode::decode;

    const CHAIN: u64 = 11_155_420;

    /// Block 4,089,330 of OP Sepolia, of one deposit, after a change to that and its receipt.
    fn block(change: impl FnOnce(&mut Map<String, Value>, &mut Map<String, Value>)) -> Block {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures/chains/optimism-11155420.ndjson");
        let line = std::fs::read_to_string(file).expect("the fixture");
        let mut line: Value = serde_json::from_str(line.trim()).expect("one line");
        let Value::Object(mut transaction) = line["block"]["transactions"][0].take() else { panic!("an object") };
        let Value::Object(mut receipt) = line["receipts"][0].take() else { panic!("an object") };
        change(&mut transaction, &mut receipt);
        (line["block"]["transactions"][0], line["receipts"][0]) = (transaction.into(), receipt.into());
        decode(&line.to_string()).expect("a block")
    }

    fn loaded(mut block: Block) -> (Block, Result<&'static str, Check>) {
        let outcome = verify_any_version(&mut block, Depth::Full, by_chain_id(CHAIN));
        (block, outcome.map(|outcome| outcome.verdict(Depth::Full)).map_err(|error| error.check))
    }

    fn raw(block: &Block) -> Map<String, Value> {
        let receipt = &block.receipts.as_ref().expect("receipts")[0];
        receipt.raw.as_deref().and_then(fields).expect("the JSON of the node")
    }

    #[test]
    fn nonce_and_version_are_those_that_the_root_proves() {
        let whole = loaded(block(|_, _| {}));
        assert_eq!(whole.1, Ok("verified"));
        let (nonce, version) = ("depositNonce", "depositReceiptVersion");
        for lacking in [&[version][..], &[nonce], &[nonce, version]] {
            let given = block(|_, receipt| lacking.iter().for_each(|name| drop(receipt.remove(*name))));
            assert!(verify(&given, Depth::Full, by_chain_id(CHAIN)).is_err(), "{lacking:?}");
            let (found, verdict) = loaded(given);
            assert_eq!((verdict, raw(&found)), (Ok("verified"), raw(&whole.0)), "{lacking:?}");
        }
        // Nodes that know no nonce give none, or 0: that of the deposit that begins a block is its height.
        for nonce_of_transaction in [Value::Null, "0x0".into()] {
            let (found, verdict) = loaded(block(|transaction, receipt| {
                transaction.insert("nonce".into(), nonce_of_transaction.clone());
                [nonce, version].iter().for_each(|name| drop(receipt.remove(*name)));
            }));
            assert_eq!((verdict, raw(&found)), (Ok("verified"), raw(&whole.0)), "{nonce_of_transaction}");
            assert_eq!(found.transactions[0].nonce, 4_089_329);
        }
    }

    #[test]
    fn a_root_of_no_version_is_refused() {
        let given = block(|_, receipt| {
            receipt.remove("depositReceiptVersion");
            receipt.insert("status".into(), "0x0".into());
        });
        assert_eq!(loaded(given.clone()), (given, Err(Check::ReceiptsRoot)), "nothing is changed");
        let other = block(|_, receipt| {
            receipt.remove("depositReceiptVersion");
            receipt.insert("depositNonce".into(), "0x7".into());
        });
        assert_eq!(loaded(other.clone()), (other, Err(Check::ReceiptsRoot)), "another nonce");
        // Of which the root is not looked at.
        let mut header = block(|_, receipt| drop(receipt.remove("depositReceiptVersion")));
        let given = header.clone();
        assert!(verify_any_version(&mut header, Depth::Header, by_chain_id(CHAIN)).is_ok());
        assert_eq!(header, given);
    }

    /// Block 5,003,318 of OP Goerli, before Regolith, whose receipts of deposits have neither.
    #[test]
    fn a_root_without_versions_gets_none() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures/chains/optimism-goerli-5003318.json");
        let line = std::fs::read_to_string(file).expect("the fixture");
        let mut found = decode(&line).expect("a block");
        let given = found.clone();
        let outcome = verify_any_version(&mut found, Depth::Full, by_chain_id(420));
        assert!(outcome.expect("not refused").has_passed(Check::ReceiptsRoot));
        assert_eq!(found, given);
    }

    /// Of the same block: the deposit of the protocol used no gas then, which is in its receipt and in the sums.
    #[test]
    fn a_system_deposit_before_regolith_used_no_gas() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures/chains/optimism-goerli-5003318.json");
        let block = decode(&std::fs::read_to_string(file).expect("the fixture")).expect("a block");
        let system = &block.receipts.as_ref().expect("receipts")[0];
        assert_eq!((system.gas_used, system.cumulative_gas_used), (0, 0));
        let mut same = block.clone();
        let outcome = verify_any_version(&mut same, Depth::Full, by_chain_id(420)).expect("not refused");
        for check in [Check::CumulativeGas, Check::GasUsed, Check::EffectiveGasPrice] {
            assert!(outcome.has_passed(check), "{outcome:?}");
        }
        let mut other = block;
        other.receipts.as_mut().expect("receipts")[0].gas_used = 21_000;
        let refused = verify_any_version(&mut other, Depth::Full, by_chain_id(420)).expect_err("refused");
        assert_eq!(refused.check, Check::CumulativeGas);
    }
}
