//! Transactions of a chain's own types have their JSON besides the columns: both must agree.

use std::fmt::Debug;

use crate::block::Block;
use crate::decode::{decode_receipt, decode_transaction};
use crate::verify::{Check, VerifyError};

/// Checks that the columns of transactions and receipts of a chain's own types agree with their JSON.
///
/// # Errors
///
/// The first difference.
pub(super) fn verify_own_types(block: &Block) -> Result<(), VerifyError> {
    let number = block.header.number;
    let refused = |expected: String, found: String| VerifyError { number, check: Check::Rows, expected, found };
    let same = |expected: &dyn Debug, found: &dyn Debug| {
        let (expected, found) = (format!("{expected:?}"), format!("{found:?}"));
        if expected == found { Ok(()) } else { Err(refused(format!("columns as their JSON: {expected}"), found)) }
    };
    for transaction in block.transactions.iter().filter(|transaction| transaction.lacking.is_empty()) {
        let Some(json) = &transaction.raw else { continue };
        let again = decode_transaction(number, transaction.index, json)
            .map_err(|error| refused("JSON of a transaction".into(), error.to_string()))?;
        // What a receipt says of the price stands for a price that the transaction does not name.
        let price = again.gas_price.or(transaction.gas_price);
        same(&crate::block::Transaction { gas_price: price, ..again }, transaction)?;
    }
    for receipt in block.receipts.iter().flatten() {
        let Some(json) = &receipt.raw else { continue };
        let again =
            decode_receipt(number, json).map_err(|error| refused("JSON of a receipt".into(), error.to_string()))?;
        let of = |receipt: &crate::block::Receipt| {
            (receipt.status, receipt.root, receipt.cumulative_gas_used, receipt.gas_used, receipt.contract_address)
        };
        same(&of(&again), &of(receipt))?;
    }
    Ok(())
}
