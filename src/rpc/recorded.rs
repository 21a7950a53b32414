//! Transactions of a block as the EVM takes them, to run them again.

use alloy_eips::eip2930::{AccessList, AccessListItem};
use alloy_eips::eip7702::{Authorization, SignedAuthorization};

use crate::app::App;
use crate::error::Problem;
use crate::read::completeness::{require_block, require_receipt, require_transaction};
use trawl_core::primitives::BlockNumber;
use trawl_core::schema::{BlockRow, TransactionRow};
use trawl_core::store::Head;
use trawl_evm::replay::{Recorded, Replay};
use trawl_evm::{Call, Failure, Fees};

/// Highest type whose fields are columns (EIP-7702).
const LAST_KNOWN_TYPE: u8 = 4;

/// The transaction at a position of a block, and those before it.
///
/// # Errors
///
/// When receipts or columns are missing, or when a transaction is of an unknown type; or when the store fails.
pub(super) async fn replay_of(
    app: &App,
    head: &Head,
    (number, index): (BlockNumber, u32),
) -> Result<(Replay, BlockRow), Problem> {
    if !head.receipts.contains(number) {
        return Err(Problem::PartMissing { part: "Receipts", block: number });
    }
    let transactions = trawl_query::transactions::of_block(&head.blocks.at(number));
    let (block, batches) = tokio::try_join!(app.block_at(number, head), app.rows_of(head, &transactions))?;
    let block = block.ok_or(Problem::BlockNotFound)?;
    require_block(&block.view(), 0)?;
    let mut before = Vec::new();
    for batch in batches.iter() {
        for (row, transaction) in batch.rows().enumerate() {
            if transaction.transaction_index > index {
                break;
            }
            require_transaction(&batch.view(), row)?;
            require_receipt(&batch.view(), row)?;
            before.push(recorded(transaction)?);
        }
    }
    let block: BlockRow = block.rows().next().ok_or(Problem::BlockNotFound)?;
    let traced = before.pop().filter(|_| before.len() == index as usize).ok_or(Problem::Internal)?;
    let (parent_hash, beacon_root) = (block.parent_hash, block.parent_beacon_block_root);
    Ok((Replay { before, traced, parent_hash, beacon_root }, block))
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
    Ok(Recorded { call, gas_used: row.gas_used })
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
