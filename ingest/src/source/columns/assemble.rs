//! Rows of block, transaction, receipt and log tables become one block. Pure.
//!
//! cryo and ethereum-etl name the same facts nearly alike, so there is one list of names. What no column holds but the
//! rules of the chain leave no doubt about (a transaction of type 0 has no access list) is filled in; all else that is
//! not there is named as lacking.

mod blocks;
mod error;
mod rollup_fields;
mod transactions;

use trawl_core::primitives::B256;

pub use blocks::BlockFacts;
pub use error::AssembleError;
pub use transactions::{Outcome, PlacedLog, log, outcome, transaction};

use crate::block::{Block, Receipt, Transaction};

/// All rows of one block, in any order.
pub struct AssembledBlock {
    /// The block's own row.
    pub block: BlockFacts,
    /// Its transactions, with the hash of the block they name.
    pub transactions: Vec<(Transaction, Option<B256>)>,
    /// Outcomes of its transactions; `None` if the source has none for this block.
    pub outcomes: Option<Vec<Outcome>>,
    /// Its logs; `None` if the source has none for this block.
    pub logs: Option<Vec<PlacedLog>>,
}

impl AssembledBlock {
    /// The block, or the error of these rows.
    pub fn into_block(self) -> Result<Block, AssembleError> {
        let Self { block, mut transactions, outcomes, logs } = self;
        let (found, hash) = (transactions.len(), block.header.hash);
        if let Some(expected) = block.transactions_count.filter(|expected| *expected != found as u64) {
            return Err(AssembleError::TransactionCount { expected, found });
        }
        transactions.sort_by_key(|(transaction, _)| transaction.index);
        for (transaction, named) in &transactions {
            same(|| format!("transaction {}", transaction.index), hash, *named)?;
        }
        let mut transactions: Vec<Transaction> = transactions.into_iter().map(|(transaction, _)| transaction).collect();
        let Some((outcomes, logs)) = outcomes.zip(logs) else { return Ok(block.with(transactions, None)) };
        let is_of_block =
            |log: &PlacedLog| log.transaction_index as usize == found && log.transaction_hash == Some(hash);
        let (of_block, logs): (Vec<PlacedLog>, Vec<PlacedLog>) = logs.into_iter().partition(is_of_block);
        let receipts = receipts(&block, &mut transactions, outcomes, logs)?;
        Ok(Block { block_receipt: block_receipt(hash, of_block), ..block.with(transactions, Some(receipts)) })
    }
}

/// The receipt of logs that name the block, after those of all transactions: what a chain calls itself has succeeded
/// and uses no gas. Whether its chain has such receipts is checked afterwards.
fn block_receipt(hash: B256, mut logs: Vec<PlacedLog>) -> Option<Box<Receipt>> {
    if logs.is_empty() {
        return None;
    }
    logs.sort_by_key(|log| log.log.index);
    Some(Box::new(Receipt {
        transaction_hash: hash,
        block_hash: Some(hash),
        status: Some(1),
        root: None,
        cumulative_gas_used: 0,
        gas_used: 0,
        effective_gas_price: None,
        contract_address: None,
        logs_bloom: None,
        blob_gas_used: None,
        blob_gas_price: None,
        logs: logs.into_iter().map(|placed| placed.log).collect(),
        raw: None,
        extra: None,
    }))
}

/// Checks the hash in a row, if it has one.
fn same(what: impl Fn() -> String, expected: B256, found: Option<B256>) -> Result<(), AssembleError> {
    match found {
        Some(found) if found != expected => Err(AssembleError::Stranger { what: what(), expected, found }),
        _ => Ok(()),
    }
}

/// Outcomes and logs joined; what the outcomes lack is added to their transactions.
fn receipts(
    block: &BlockFacts,
    transactions: &mut [Transaction],
    mut outcomes: Vec<Outcome>,
    mut logs: Vec<PlacedLog>,
) -> Result<Vec<Receipt>, AssembleError> {
    if outcomes.len() != transactions.len() {
        return Err(AssembleError::ReceiptCount { expected: transactions.len(), found: outcomes.len() });
    }
    outcomes.sort_by_key(|outcome| outcome.index);
    logs.sort_by_key(|log| log.log.index);
    let mut cumulative = 0_u64;
    let mut receipts = Vec::with_capacity(outcomes.len());
    for (transaction, mut outcome) in transactions.iter_mut().zip(outcomes) {
        cumulative = cumulative.saturating_add(outcome.receipt.gas_used);
        if !outcome.has_cumulative_gas {
            outcome.receipt.cumulative_gas_used = cumulative;
            // Without the block's own figure nothing proves that no transaction is missing before this one.
            if block.header.lacking.contains(&"gas_used") {
                outcome.lacking.push("cumulative_gas_used");
            }
        }
        transaction.lacking.extend(outcome.lacking);
        receipts.push(outcome.receipt);
    }
    for PlacedLog { transaction_index, transaction_hash, block_hash, log } in logs {
        let count = receipts.len();
        let Some(receipt) = receipts.get_mut(transaction_index as usize) else {
            return Err(AssembleError::LogOfNothing { index: transaction_index, count });
        };
        same(|| format!("log {}", log.index), receipt.transaction_hash, transaction_hash)?;
        same(|| format!("log {}", log.index), block.header.hash, block_hash)?;
        receipt.logs.push(log);
    }
    Ok(receipts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::columns::row::Row;

    const ADDRESS: &str = "0xcececececececececececececececececececece";

    /// Reads a row of text cells.
    fn read<T>(cells: &[(&str, &str)], read: impl FnOnce(Row<'_>) -> T) -> T {
        let names: Vec<String> = cells.iter().map(|(name, _)| (*name).to_owned()).collect();
        let cells: Vec<Option<Box<str>>> = cells.iter().map(|(_, cell)| Some((*cell).into())).collect();
        read(Row::of_text(&names, &cells))
    }

    #[test]
    fn logs_that_name_their_block_are_of_its_own_receipt() {
        let hash = |byte: u8| B256::repeat_byte(byte).to_string();
        let assembled = |of: &str, position: &str| {
            let block =
                read(&[("number", "7"), ("hash", &hash(1)), ("timestamp", "9")], BlockFacts::read).expect("a row");
            let log = [
                ("transaction_index", position),
                ("transaction_hash", of),
                ("log_index", "0"),
                ("address", ADDRESS),
                ("topics", &hash(9)),
                ("data", "0x"),
            ];
            let logs = Some(vec![read(&log, log_row).expect("all columns")]);
            AssembledBlock { block, transactions: Vec::new(), outcomes: Some(Vec::new()), logs }.into_block()
        };
        let block = assembled(&hash(1), "0").expect("a block");
        let receipt = block.block_receipt.expect("a receipt");
        assert_eq!((receipt.transaction_hash, receipt.logs.len(), receipt.status), (B256::repeat_byte(1), 1, Some(1)));
        assert_eq!((receipt.logs[0].index, block.receipts), (0, Some(Vec::new())));
        for (of, position) in [(hash(2), "0"), (hash(1), "1")] {
            let error = assembled(&of, position).err();
            assert!(matches!(error, Some(AssembleError::LogOfNothing { .. })), "{of} {position}: {error:?}");
        }
    }

    fn log_row(row: Row<'_>) -> Option<PlacedLog> {
        log(row).expect("readable")
    }

    /// As Ethereum ETL exports a block of the OP stack since Isthmus, whose root is of the storage of a contract.
    #[test]
    fn no_withdrawals_may_have_another_root_than_that_of_an_empty_list() {
        let root = B256::repeat_byte(7);
        let (hash, shown) = (B256::repeat_byte(1).to_string(), root.to_string());
        let cells = [("number", "7"), ("hash", &hash), ("timestamp", "9"), ("withdrawals_root", &shown)];
        let with = |withdrawals: &[(&'static str, &'static str)]| {
            let block = read(&[&cells[..], withdrawals].concat(), BlockFacts::read).expect("a row");
            block.with(Vec::new(), None)
        };
        let block = with(&[("withdrawals", "[]")]);
        assert_eq!((block.withdrawals, block.header.withdrawals_root), (Some(Vec::new()), Some(root)));
        assert_eq!(with(&[]).withdrawals, None, "the file does not have them");
    }

    /// As Ethereum ETL exports receipts of the OP stack: numbers in decimal digits.
    #[test]
    fn fees_for_data_on_l1_have_the_names_of_nodes() {
        let (hash, word) = (B256::repeat_byte(1).to_string(), B256::repeat_byte(2).to_string());
        let of = |kind: &str, fees: &[(&str, &str)]| {
            let cells = [
                ("transaction_hash", hash.as_str()),
                ("transaction_index", "1"),
                ("from_address", ADDRESS),
                ("to_address", ADDRESS),
                ("transaction_type", kind),
                ("r", &word),
                ("s", &word),
            ];
            let owner = read(&cells, |row| transaction(row, Some(10))).expect("a transaction").0;
            let cells = [&cells[..2], &[("gas_used", "21000"), ("status", "1")], fees].concat();
            read(&cells, |row| outcome(row, &owner)).expect("readable").expect("a receipt").receipt.extra
        };
        let fees =
            [("l1_fee", "64913103"), ("l1_gas_used", "4836"), ("l1_gas_price", "19625"), ("l1_fee_scalar", "0.684")];
        let found = of("2", &fees).expect("fields");
        let found: serde_json::Value = serde_json::from_str(&found).expect("JSON");
        let expected = serde_json::json!({
            "l1Fee": "0x3de7ecf", "l1GasUsed": "0x12e4", "l1GasPrice": "0x4ca9", "l1FeeScalar": "0.684",
        });
        assert_eq!(found, expected);
        let whole = of("0", &[("receipt_l1_fee", "0"), ("receipt_l1_fee_scalar", "1.0")]);
        assert_eq!(whole.as_deref(), Some(r#"{"l1Fee":"0x0","l1FeeScalar":"1"}"#));
        assert_eq!(of("2", &[]), None);
    }

    #[test]
    fn a_parity_is_the_v_of_typed_transactions_alone() {
        let of = |kind: &str| {
            let (hash, word) = (B256::repeat_byte(1).to_string(), B256::repeat_byte(2).to_string());
            let cells = [
                ("transaction_hash", hash.as_str()),
                ("transaction_index", "0"),
                ("from_address", ADDRESS),
                ("to_address", ADDRESS),
                ("transaction_type", kind),
                ("v", "true"),
                ("r", &word),
                ("s", &word),
            ];
            read(&cells, |row| transaction(row, Some(1))).expect("a transaction").0
        };
        let (legacy, dynamic) = (of("0"), of("2"));
        assert!(legacy.lacking.contains(&"v") && !dynamic.lacking.contains(&"v"), "{:?}", dynamic.lacking);
        assert_eq!(dynamic.v, trawl_core::primitives::U256::from(1));
    }
}
