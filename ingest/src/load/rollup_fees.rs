//! What transactions of rollups paid beside their gas, where the source does not have it.

use serde_json::{Map, Value};
use trawl_chains::Family;

use crate::block::{Block, Header, Receipt, Transaction};
use crate::decode::NO_ITEMS;

/// What a source gives of a receipt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReceiptForm {
    /// All members that the node gives.
    Json,
    /// Columns of a file, which has few of a chain's own.
    Columns,
}

/// Names the fees beside the gas that the source did not have as lacking, and with them their sum over the block: what
/// is not there is not zero.
pub(super) fn lack_unknown_fees(block: &mut Block, family: &Family, form: ReceiptForm) {
    // Before it was a rollup, a chain had no such fees.
    let is_rollup = family.l1_fee.is_some() && !family.header.is_sealed_by_committee(&block.header.extra_data);
    if !is_rollup || block.receipts.is_none() {
        return;
    }
    let unknown: Vec<Vec<&'static str>> = block
        .outcomes()
        .map(|(transaction, receipt)| {
            receipt.map_or_else(Vec::new, |of| match form {
                ReceiptForm::Columns => lacking(&block.header, transaction, of, family),
                ReceiptForm::Json => lacking_in_json(transaction, of, family),
            })
        })
        .collect();
    if unknown.iter().all(Vec::is_empty) {
        return;
    }
    for (transaction, columns) in block.transactions.iter_mut().zip(unknown) {
        transaction.lacking.extend(columns);
    }
    if !block.header.lacking.contains(&"transaction_fees") {
        block.header.lacking.push("transaction_fees");
    }
}

/// The column of the fee on L1, if a receipt does not have it. Nodes leave out the parameters of the operator's fee
/// where there is none, so nothing can be said of that.
fn lacking_in_json(transaction: &Transaction, receipt: &Receipt, family: &Family) -> Vec<&'static str> {
    let Some(name) = family.l1_fee.filter(|_| !is_free(transaction, receipt, family)) else { return Vec::new() };
    let text = receipt.extra.as_deref().or(receipt.raw.as_deref());
    let fields: Map<String, Value> = text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    let is_part_of_gas = family.l1_fee_sign.is_some_and(|sign| !fields.contains_key(sign));
    let is_given = fields.get(name).is_some_and(|fee| !fee.is_null());
    if is_part_of_gas || is_given { Vec::new() } else { vec!["l1_fee"] }
}

/// Whether a transaction pays nothing, by its type or price.
fn is_free(transaction: &Transaction, receipt: &Receipt, family: &Family) -> bool {
    let kind = family.transaction_type(transaction.transaction_type.byte());
    let price = receipt.effective_gas_price.or(transaction.gas_price);
    kind.is_some_and(|kind| kind.is_free()) || price.is_some_and(|price| price.is_zero())
}

/// The columns of fees that are not known of a transaction.
fn lacking(header: &Header, transaction: &Transaction, receipt: &Receipt, family: &Family) -> Vec<&'static str> {
    if is_free(transaction, receipt, family) {
        return Vec::new();
    }
    let fields = receipt.extra.as_deref().and_then(|extra| serde_json::from_str(extra).ok()).unwrap_or_default();
    // Whether the fee is beside the gas or part of it, a field says that no file has.
    let has_l1_fee = family.l1_fee_sign.is_none() && family.l1_fee_of(&fields).is_some();
    let may_have_operator = family.has_operator_fee() && may_be_since_isthmus(header);
    let has_operator_fee = !may_have_operator || family.operator_fee_of(&fields, receipt.gas_used).is_some();
    let columns = [("l1_fee", has_l1_fee), ("operator_fee", has_operator_fee)];
    columns.into_iter().filter(|(_, is_known)| !is_known).map(|(column, _)| column).collect()
}

/// Whether a block may be of the time since Isthmus, which brought the fee of the operator: since then headers have the
/// hash of requests, and the withdrawals root is that of a contract. Files may have neither.
fn may_be_since_isthmus(header: &Header) -> bool {
    let lacks = |column| header.lacking.contains(&column);
    let is_of_contract = header.withdrawals_root.is_some_and(|root| root != NO_ITEMS);
    header.requests_hash.is_some() || (lacks("requests_hash") && (is_of_contract || lacks("withdrawals_root")))
}

#[cfg(test)]
mod tests {
    use alloy_primitives::B256;
    use trawl_chains::by_chain_id;

    use super::*;
    use crate::decode::decode;

    /// The recorded block of OP Goerli with a deposit and a transaction, as a file has it: without fields of its own but
    /// these.
    fn unknown(extra: Option<&str>, requests_hash: Option<B256>, chain_id: u64) -> (Vec<&'static str>, bool) {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures/chains/optimism-goerli-5003318.json");
        let text = std::fs::read_to_string(file).expect("the fixture");
        let mut block = decode(text.trim()).expect("a block");
        block.header.requests_hash = requests_hash;
        for receipt in block.receipts.iter_mut().flatten() {
            (receipt.extra, receipt.raw) = (extra.map(str::to_owned), None);
        }
        lack_unknown_fees(&mut block, by_chain_id(chain_id), ReceiptForm::Columns);
        assert_eq!(block.transactions.len(), 2);
        assert!(block.transactions[0].lacking.is_empty(), "a deposit pays nothing");
        (block.transactions[1].lacking.clone(), block.header.lacking.contains(&"transaction_fees"))
    }

    /// Ethereum ETL has no hash of requests.
    #[test]
    fn a_file_without_the_hash_of_requests_may_be_of_any_time() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures/chains/optimism-goerli-5003318.json");
        let text = std::fs::read_to_string(file).expect("the fixture");
        let may_be = |lacking: &[&'static str], withdrawals_root: Option<B256>| {
            let mut header = decode(text.trim()).expect("a block").header;
            (header.requests_hash, header.withdrawals_root) = (None, withdrawals_root);
            header.lacking = lacking.to_vec();
            may_be_since_isthmus(&header)
        };
        let of_contract = Some(B256::repeat_byte(1));
        assert!(may_be(&["requests_hash"], of_contract));
        assert!(may_be(&["requests_hash", "withdrawals_root"], None));
        assert!(!may_be(&["requests_hash"], Some(NO_ITEMS)), "before Isthmus there are no withdrawals");
        assert!(!may_be(&["requests_hash"], None) && !may_be(&[], of_contract));
    }

    #[test]
    fn a_fee_that_a_node_leaves_out_is_not_zero() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures/chains/optimism-goerli-5003318.json");
        let text = std::fs::read_to_string(file).expect("the fixture");
        let of = |text: &str, chain_id: u64| {
            let mut block = decode(text.trim()).expect("a block");
            lack_unknown_fees(&mut block, by_chain_id(chain_id), ReceiptForm::Json);
            let lacking: Vec<_> = block.transactions.iter().map(|transaction| transaction.lacking.clone()).collect();
            (lacking, block.header.lacking)
        };
        assert_eq!(of(&text, 10), (vec![vec![], vec![]], vec![]));
        let without = text.replace("\"l1Fee\"", "\"l1FeeOther\"");
        assert_eq!(of(&without, 10), (vec![vec![], vec!["l1_fee"]], vec!["transaction_fees"]));
        assert_eq!(of(&without, 1), (vec![vec![], vec![]], vec![]));
    }

    #[test]
    fn fees_that_a_file_lacks_are_not_zero() {
        let l1_fee = Some(r#"{"l1Fee":"0x5"}"#);
        let isthmus = Some(B256::repeat_byte(1));
        assert_eq!(unknown(None, None, 10), (vec!["l1_fee"], true));
        assert_eq!(unknown(l1_fee, None, 10), (vec![], false));
        assert_eq!(unknown(l1_fee, isthmus, 10), (vec!["operator_fee"], true));
        assert_eq!(unknown(None, isthmus, 10), (vec!["l1_fee", "operator_fee"], true));
        assert_eq!(unknown(l1_fee, None, 5000), (vec!["l1_fee"], true), "part of the gas or not");
        for without in [1, 42_161] {
            assert_eq!(unknown(None, None, without), (vec![], false), "{without}");
        }
    }
}
