//! Transactions of a block.

use serde_json::value::RawValue;
use trawl_core::primitives::{TransactionType, U256};

use super::error::{DecodeError, unreadable};
use super::json::JsonTransaction;
use super::quantity::Quantity;
use crate::block::Transaction;

/// Reads the transaction at `position` of block `number`.
pub(super) fn transaction(number: u64, position: usize, raw: &RawValue) -> Result<Transaction, DecodeError> {
    let part = || format!("transaction {position}");
    let json: JsonTransaction = serde_json::from_str(raw.get()).map_err(|source| unreadable(number, part(), source))?;
    let transaction_type = TransactionType::from(json.transaction_type.map_or(0, |kind| kind.0));
    let is_known = transaction_type.has_columns();
    let is_legacy = transaction_type == TransactionType::Legacy;
    // A signed type cannot do without these; a chain's own types may, and then `raw` is what is shown.
    let missing = |field| DecodeError::Missing { number, part: part(), field };
    let required = |value: Option<Quantity<U256>>, field| match value {
        Some(value) => Ok(value.0),
        None if !is_known => Ok(U256::ZERO),
        None => Err(missing(field)),
    };
    if is_known && json.nonce.is_none() {
        return Err(missing("nonce"));
    }
    let input = json.input.or(json.data);
    if is_known && input.is_none() {
        return Err(missing("input"));
    }
    let parity = json.y_parity.map(|parity| parity.0);
    let v = match json.v {
        Some(v) if is_known && !is_legacy => parity.unwrap_or_else(|| parity_of(v.0)),
        Some(v) if !is_legacy => parity.unwrap_or(v.0),
        v => required(v.or(parity.map(Quantity)), "v")?,
    };
    let chain_id = json.chain_id.map(|id| id.0);
    let chain_id = if is_legacy { eip155_chain_id(v, chain_id) } else { chain_id };
    let transaction = Transaction {
        hash: json.hash,
        index: json.transaction_index.map_or(u32::try_from(position).unwrap_or(u32::MAX), |index| index.0),
        transaction_type,
        from: json.from,
        to: json.to,
        nonce: json.nonce.map_or(0, |nonce| nonce.0),
        value: required(json.value, "value")?,
        gas: json.gas.0,
        gas_price: json.gas_price.map(|price| price.0),
        max_fee_per_gas: json.max_fee_per_gas.map(|fee| fee.0),
        max_priority_fee_per_gas: json.max_priority_fee_per_gas.map(|fee| fee.0),
        max_fee_per_blob_gas: json.max_fee_per_blob_gas.map(|fee| fee.0),
        input: input.unwrap_or_default(),
        chain_id,
        access_list: json.access_list.unwrap_or_default().into_iter().map(Into::into).collect(),
        blob_versioned_hashes: json.blob_versioned_hashes.unwrap_or_default(),
        authorization_list: json.authorization_list.unwrap_or_default().into_iter().map(Into::into).collect(),
        v,
        r: required(json.r, "r")?,
        s: required(json.s, "s")?,
        raw: (!is_known).then(|| raw.get().to_owned()),
        extra: if is_known { json.extra.text() } else { None },
        lacking: Vec::new(),
    };
    Ok(transaction.with_members_of_type())
}

/// Some nodes give the parity of typed transactions as 27 and 28, like that of legacy ones.
fn parity_of(v: U256) -> U256 {
    v.checked_sub(U256::from(27)).filter(|parity| *parity <= U256::from(1)).unwrap_or(v)
}

/// The largest id that a chain can have (EIP-2294). Of zeros for a signature geth computes a larger one: half of -35 in
/// 64 bits.
const MAX_CHAIN_ID: u64 = u64::MAX / 2 - 36;

/// Legacy transactions carry their chain in `v` (EIP-155): 27 and 28 mean none, whatever the node adds.
fn eip155_chain_id(v: U256, given: Option<u64>) -> Option<u64> {
    if v == U256::from(27) || v == U256::from(28) {
        return None;
    }
    let signed = v.checked_sub(U256::from(35)).and_then(|twice| u64::try_from(twice >> 1).ok());
    signed.or(given.filter(|id| *id <= MAX_CHAIN_ID))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replay_protection_is_read_from_the_signature() {
        assert_eq!(eip155_chain_id(U256::from(27), Some(1)), None);
        assert_eq!(eip155_chain_id(U256::from(37), None), Some(1));
        assert_eq!(eip155_chain_id(U256::from(38), Some(1)), Some(1));
        assert_eq!(eip155_chain_id(U256::ZERO, Some(42161)), Some(42161));
        // The system transaction of block 13,683,593 of Stable.
        assert_eq!(eip155_chain_id(U256::ZERO, Some(0x7fff_ffff_ffff_ffee)), None);
        // The bound that EIP-2294 writes out.
        assert_eq!(MAX_CHAIN_ID, 9_223_372_036_854_775_771);
    }

    #[test]
    fn the_parity_of_typed_transactions_is_read_in_both_forms() {
        for (given, expected) in [(0_u64, 0_u64), (1, 1), (27, 0), (28, 1), (29, 29), (2, 2)] {
            assert_eq!(parity_of(U256::from(given)), U256::from(expected), "{given}");
        }
    }

    #[test]
    fn signed_types_have_nonce_and_input() {
        let whole = r#"{"hash":"0xHASH","from":"0xFROM","gas":"0x0","value":"0x0","v":"0x1b","r":"0x1","s":"0x1","nonce":"0x2","input":"0x"}"#
            .replace("HASH", &"11".repeat(32))
            .replace("FROM", &"22".repeat(20));
        let read = |text: String| transaction(1, 0, &RawValue::from_string(text).expect("JSON"));
        assert_eq!(read(whole.clone()).map(|transaction| transaction.nonce).ok(), Some(2));
        assert!(read(whole.replace("input", "data")).is_ok(), "the older name");
        for field in ["nonce", "input"] {
            let found = read(whole.replace(field, "other")).err();
            assert!(
                matches!(found, Some(DecodeError::Missing { field: missing, .. }) if missing == field),
                "{found:?}"
            );
        }
        assert!(read(whole.replace("nonce", "other").replace("{", r#"{"type":"0x7e","#)).is_ok(), "a chain's own");
    }

    #[test]
    fn members_that_a_type_does_not_have_are_left_out() {
        let (hash, address) = ("11".repeat(32), "22".repeat(20));
        let members = format!(
            r#""maxFeePerGas":"0x9","maxPriorityFeePerGas":"0x8","maxFeePerBlobGas":"0x7",
                "blobVersionedHashes":["0x{hash}"],
                "accessList":[{{"address":"0x{address}","storageKeys":[]}}],"authorizationList":[
                {{"chainId":"0x1","address":"0x{address}","nonce":"0x6","yParity":"0x1","r":"0x7","s":"0x8"}}]"#
        );
        let of = |kind: u8| {
            let text = format!(
                r#"{{"type":"{kind:#x}","hash":"0x{hash}","from":"0x{address}","to":"0x{address}","gas":"0x0",
                    "value":"0x0","v":"0x1b","yParity":"0x0","r":"0x1","s":"0x1","nonce":"0x2","input":"0x",
                    "gasPrice":"0x1",{members}}}"#
            );
            let read = transaction(1, 0, &RawValue::from_string(text).expect("JSON")).expect("a transaction");
            [
                read.access_list.len(),
                usize::from(read.max_fee_per_gas.is_some()),
                usize::from(read.max_priority_fee_per_gas.is_some()),
                usize::from(read.max_fee_per_blob_gas.is_some()),
                read.blob_versioned_hashes.len(),
                read.authorization_list.len(),
            ]
        };
        assert_eq!(of(0), [0, 0, 0, 0, 0, 0]);
        assert_eq!(of(1), [1, 0, 0, 0, 0, 0]);
        assert_eq!(of(2), [1, 1, 1, 0, 0, 0]);
        assert_eq!(of(3), [1, 1, 1, 1, 1, 0]);
        assert_eq!(of(4), [1, 1, 1, 0, 0, 1]);
        assert_eq!(of(0x7e), [1, 1, 1, 1, 1, 1], "a chain's own");
    }

    #[test]
    fn authorizations_are_read_in_both_forms() {
        let form = |authorization: &str| {
            let text = r#"{"type":"0x4","hash":"0xHASH","from":"0xFROM","to":"0xFROM","gas":"0x0","value":"0x0","yParity":"0x1","r":"0x1","s":"0x1","nonce":"0x2","input":"0x","authorizationList":[AUTHORIZATION]}"#
                .replace("AUTHORIZATION", authorization)
                .replace("HASH", &"11".repeat(32))
                .replace("FROM", &"22".repeat(20));
            let read = transaction(1, 0, &RawValue::from_string(text).expect("JSON"));
            read.expect("a transaction").authorization_list
        };
        let address = format!("0x{}", "33".repeat(20));
        let ethereum = form(&format!(
            r#"{{"chainId":"0x3b1","address":"{address}","nonce":"0x6","yParity":"0x1","r":"0x7","s":"0x8"}}"#
        ));
        let frontier = form(&format!(
            r#"{{"chain_id":945,"address":"{address}","nonce":"0x6","signature":{{"odd_y_parity":true,"r":"0x7","s":"0x8"}}}}"#
        ));
        assert_eq!(ethereum, frontier);
        assert_eq!((ethereum[0].y_parity, ethereum[0].r), (1, U256::from(7)));
    }
}
