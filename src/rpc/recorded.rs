//! Transactions of a block as the EVM takes them, to run them again.

use alloy_eips::eip2930::{AccessList, AccessListItem};
use alloy_eips::eip7702::{Authorization, SignedAuthorization};

use crate::app::App;
use crate::error::Problem;
use crate::read::completeness::{require_block, require_receipt, require_transaction};
use trawl_core::primitives::BlockNumber;
use trawl_core::schema::{BlockRow, TransactionRow};
use trawl_core::store::Head;
use trawl_evm::replay::Recorded;
use trawl_evm::{Call, Failure, Fees};

/// Highest type whose fields are columns (EIP-7702).
const LAST_KNOWN_TYPE: u8 = 4;

/// A block and its transactions, from the first on.
pub(super) struct RecordedBlock {
    /// The block.
    pub row: BlockRow,
    /// The transactions.
    pub transactions: Vec<Recorded>,
}

/// A block with its transactions up to the one at `last`, all of them without it.
///
/// # Errors
///
/// When receipts or columns are missing, or when a transaction is of an unknown type; or when the store fails.
pub(super) async fn recorded_block(
    app: &App,
    head: &Head,
    number: BlockNumber,
    last: Option<u32>,
) -> Result<RecordedBlock, Problem> {
    if !head.receipts.contains(number) {
        return Err(Problem::PartMissing { part: "Receipts", block: number });
    }
    let statement = trawl_query::transactions::of_block(&head.blocks.at(number));
    let (block, batches) = tokio::try_join!(app.block_at(number, head), app.rows_of(head, &statement))?;
    let block = block.ok_or(Problem::BlockNotFound)?;
    require_block(&block.view(), 0)?;
    let mut transactions = Vec::new();
    for batch in batches.iter() {
        for (row, transaction) in batch.rows().enumerate() {
            if last.is_some_and(|last| transaction.transaction_index > last) {
                break;
            }
            require_transaction(&batch.view(), row)?;
            require_receipt(&batch.view(), row)?;
            transactions.push(recorded(transaction)?);
        }
    }
    let row: BlockRow = block.rows().next().ok_or(Problem::BlockNotFound)?;
    if last.is_some_and(|last| transactions.len() != last as usize + 1) {
        return Err(Problem::Internal);
    }
    Ok(RecordedBlock { row, transactions })
}

fn recorded(row: TransactionRow) -> Result<Recorded, Problem> {
    if row.transaction_type > LAST_KNOWN_TYPE {
        let text = format!("a transaction of type {} cannot run again here", row.transaction_type);
        return Err(Problem::Call(Failure::Invalid(text)));
    }
    let list = |row: &TransactionRow| {
        let item = |item: &trawl_core::schema::AccessListItem| AccessListItem {
            address: item.address,
            storage_keys: item.storage_keys.clone(),
        };
        AccessList(row.access_list.iter().map(item).collect())
    };
    let call = Call {
        from: row.from_address,
        to: row.to_address,
        gas: Some(row.gas_limit),
        fees: fees(&row),
        value: row.value,
        nonce: Some(row.nonce),
        access_list: (row.transaction_type > 0).then(|| list(&row)),
        blob_hashes: row.blob_versioned_hashes.to_vec(),
        max_fee_per_blob_gas: row.max_fee_per_blob_gas.unwrap_or_default().saturating_to(),
        authorizations: row.authorization_list.iter().map(authorization).collect(),
        input: row.input,
    };
    Ok(Recorded { hash: row.hash, call, gas_used: row.gas_used })
}

fn fees(row: &TransactionRow) -> Fees {
    match (row.transaction_type, row.max_fee_per_gas, row.max_priority_fee_per_gas) {
        (2.., Some(max), Some(priority)) => {
            Fees::Dynamic { max: max.saturating_to(), priority: priority.saturating_to() }
        }
        _ => Fees::Price(row.gas_price.unwrap_or_default().saturating_to()),
    }
}

fn authorization(row: &trawl_core::schema::Authorization) -> SignedAuthorization {
    let inner = Authorization { chain_id: row.chain_id, address: row.address, nonce: row.nonce };
    SignedAuthorization::new_unchecked(inner, row.y_parity, row.r, row.s)
}
