//! What some nodes lack or get wrong of deposits (OP stack), and what the receipts root proves since Canyon: the nonce of
//! who sent them, and the address of the contract that follows from it.

use serde_json::{Map, Value};
use trawl_chains::Family;
use trawl_core::primitives::{Address, B256};

use crate::block::{Block, Receipt, Transaction};

/// Completes the nonce of deposits, and the address of a contract that a node leaves out or derived from nonce 0, as
/// the receipts tell. The JSON that is stored of both says the same. Whether the receipts are those of the block is
/// checked afterwards. Returns the contracts whose address is another one now.
pub(super) fn complete_deposits(block: &mut Block, family: &Family) -> Vec<CorrectedContract> {
    let mut corrected = Vec::new();
    let mut receipts = block.receipts.iter_mut().flatten().peekable();
    for transaction in &mut block.transactions {
        let own = receipts.next_if(|receipt| receipt.transaction_hash == transaction.hash);
        let Some((receipt, nonce)) = own.and_then(|own| proven_nonce(own, transaction, family)) else { continue };
        if transaction.nonce != nonce {
            transaction.nonce = nonce;
            set(&mut transaction.raw, "nonce", format!("{nonce:#x}"));
        }
        if let Some(created) = created_contract(transaction, receipt, nonce) {
            receipt.contract_address = Some(created);
            set(&mut receipt.raw, "contractAddress", format!("{created:#x}"));
            corrected.push(CorrectedContract { transaction: transaction.hash, nonce, created });
        }
    }
    corrected
}

/// A contract that a deposit created, whose receipt had no address, or the one that nonce 0 gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CorrectedContract {
    /// Hash of the deposit.
    transaction: B256,
    /// The nonce of the deposit.
    nonce: u64,
    /// The address by that nonce.
    created: Address,
}

/// Says which addresses of a block are stored otherwise than the node gave them.
pub(super) fn warn_of_corrections(block: u64, corrected: &[CorrectedContract]) {
    for CorrectedContract { transaction, nonce, created } in corrected {
        tracing::warn!(
            block,
            %transaction,
            nonce,
            "a receipt lacks its contract's address, or has that of nonce 0: {created} is stored, by its nonce"
        );
    }
}

/// The receipt of a deposit with the nonce in it, if the root of the receipts covers that.
fn proven_nonce<'r>(
    receipt: &'r mut Receipt,
    transaction: &Transaction,
    family: &Family,
) -> Option<(&'r mut Receipt, u64)> {
    let kind = family.transaction_type(transaction.transaction_type.byte())?;
    let nonce = kind.proven_nonce(&fields(receipt.raw.as_deref()?)?)?;
    Some((receipt, nonce))
}

/// The contract of a deposit of a nonce, where its receipt has none, or the one that nonce 0 would give.
fn created_contract(transaction: &Transaction, receipt: &Receipt, nonce: u64) -> Option<Address> {
    let is_by_nonce_0 = nonce > 0 && receipt.contract_address == Some(transaction.from.create(0));
    let is_left_out = receipt.contract_address.is_none() && receipt.status == Some(1);
    (transaction.to.is_none() && (is_by_nonce_0 || is_left_out)).then(|| transaction.from.create(nonce))
}

fn fields(text: &str) -> Option<Map<String, Value>> {
    serde_json::from_str(text).ok()
}

/// Sets a member of an object.
fn set(object: &mut Option<String>, name: &str, value: String) {
    let Some(mut members) = object.as_deref().and_then(fields) else { return };
    members.insert(name.into(), value.into());
    *object = serde_json::to_string(&members).ok();
}

#[cfg(test)]
mod tests {
    use trawl_chains::by_chain_id;
    use trawl_core::primitives::Address;

    use super::*;
    use crate::decode::decode;
    use crate::verify::{Depth, verify};

    /// The nonce of the deposit that is in the fixture.
    const NONCE: u64 = 0x003e_65f1;

    /// A block of OP Sepolia with one deposit, after a change to that and its receipt.
    fn block(change: impl FnOnce(&mut Value, &mut Value)) -> Block {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures/chains/optimism-11155420.ndjson");
        let line = std::fs::read_to_string(file).expect("the fixture");
        let mut line: Value = serde_json::from_str(line.trim()).expect("one line");
        let mut transaction = line["block"]["transactions"][0].take();
        change(&mut transaction, &mut line["receipts"][0]);
        line["block"]["transactions"][0] = transaction;
        decode(&line.to_string()).expect("a block")
    }

    fn raw(text: Option<&String>) -> Map<String, Value> {
        text.and_then(|text| fields(text)).expect("the JSON of the node")
    }

    #[test]
    fn a_deposit_without_a_nonce_gets_that_of_its_receipt() {
        let family = by_chain_id(11_155_420);
        let lacks = |transaction: &mut Value, _: &mut Value| drop(transaction["nonce"].take());
        let is_zero = |transaction: &mut Value, _: &mut Value| transaction["nonce"] = "0x0".into();
        let is_another = |transaction: &mut Value, _: &mut Value| transaction["nonce"] = "0x5".into();
        for mut block in [block(lacks), block(is_zero), block(is_another)] {
            assert_ne!(block.transactions[0].nonce, NONCE);
            complete_deposits(&mut block, family);
            assert_eq!(block.transactions[0].nonce, NONCE);
            assert_eq!(raw(block.transactions[0].raw.as_ref())["nonce"], "0x3e65f1");
            let outcome = verify(&block, Depth::Full, family).expect("not refused");
            assert_eq!(outcome.verdict(Depth::Full), "verified");
        }
        // Between Regolith and Canyon no root covers it.
        let mut block = block(|transaction, receipt| {
            transaction["nonce"].take();
            receipt.as_object_mut().expect("an object").remove("depositReceiptVersion");
        });
        complete_deposits(&mut block, family);
        assert_eq!(block.transactions[0].nonce, 0);
        // Nothing is done to what a node gives whole.
        let whole = self::block(|_, _| {});
        let mut same = whole.clone();
        complete_deposits(&mut same, family);
        assert_eq!(same, whole);
    }

    #[test]
    fn a_contract_is_at_the_address_of_the_nonce_of_its_deposit() {
        let family = by_chain_id(11_155_420);
        let from: Address = "0xdeaddeaddeaddeaddeaddeaddeaddeaddead0001".parse().expect("an address");
        let created = |nonce: u64| {
            let mut block = block(|transaction, receipt| {
                transaction["to"] = Value::Null;
                receipt["contractAddress"] = format!("{:#x}", from.create(nonce)).into();
            });
            complete_deposits(&mut block, family);
            let receipt = &block.receipts.as_ref().expect("receipts")[0];
            let shown = raw(receipt.raw.as_ref())["contractAddress"].clone();
            assert_eq!(shown, format!("{:#x}", receipt.contract_address.expect("a contract")));
            receipt.contract_address
        };
        for nonce in [0, NONCE] {
            assert_eq!(created(nonce), Some(from.create(NONCE)), "given by nonce {nonce}");
        }
        assert_eq!(created(7), Some(from.create(7)), "any other is left for the check");
        // The first transaction of who sent it, whatever nonce the node says it had.
        let mut first = block(|transaction, receipt| {
            (transaction["to"], transaction["nonce"]) = (Value::Null, "0x5".into());
            receipt["contractAddress"] = format!("{:#x}", from.create(0)).into();
            receipt["depositNonce"] = "0x0".into();
        });
        complete_deposits(&mut first, family);
        assert_eq!(first.transactions[0].nonce, 0);
        assert_eq!(first.receipts.expect("receipts")[0].contract_address, Some(from.create(0)));
    }
}
