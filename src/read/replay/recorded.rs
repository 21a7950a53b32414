//! Transactions of a block as the EVM takes them, to run them again.

use alloy_eips::eip2930::{AccessList, AccessListItem};
use alloy_eips::eip7702::{Authorization, SignedAuthorization};

use crate::app::App;
use crate::error::Problem;
use crate::read::completeness::{require_block, require_part, require_receipt, require_transaction};
use crate::read::rules::rules;
use crate::read::state::block_context;
use trawl_chains::DataSize;
use trawl_core::primitives::{BlockNumber, TransactionType, U256};
use trawl_core::schema::{BlockPart, BlockRow, TransactionRow};
use trawl_core::store::Head;
use trawl_evm::replay::RecordedTransaction;
use trawl_evm::{Call, Failure, Fees, Origin, Rules};

/// A block and its transactions, from the first on.
pub(crate) struct RecordedBlock {
    /// Row of the block in `blocks`.
    pub row: BlockRow,
    /// The rules of the block.
    pub rules: Rules,
    /// Transactions from the first on, each with what it calls.
    pub transactions: Vec<RecordedTransaction>,
}

/// A block with its transactions up to the one at `last`, all of them without it.
///
/// # Errors
///
/// When there is no transaction at `last`; when receipts, columns or the rules of the chain are missing, or when a
/// transaction is of an unknown type; or when the store fails.
pub(crate) async fn recorded_block(
    app: &App,
    head: &Head,
    number: BlockNumber,
    last: Option<u32>,
) -> Result<RecordedBlock, Problem> {
    require_part(head, BlockPart::Receipts, number)?;
    let statement = trawl_query::transactions::of_block(&head.blocks.at(number));
    let (block, batches) = tokio::try_join!(app.block_at(number, head), app.rows_of(head, &statement))?;
    let block = block.ok_or(Problem::BlockNotFound)?;
    require_block(&block.view(), 0)?;
    let row: BlockRow = block.rows().next().ok_or(Problem::BlockNotFound)?;
    let rules = rules(app, head, &block_context(&row))?;
    rules.require_transactions().map_err(Problem::RulesUnknown)?;
    let mut transactions = Vec::new();
    for batch in batches.iter() {
        for (row, transaction) in batch.rows().enumerate() {
            if last.is_some_and(|last| transaction.transaction_index > last) {
                break;
            }
            require_transaction(&batch.view(), row)?;
            require_receipt(&batch.view(), row)?;
            transactions.push(recorded(app, transaction, &rules)?);
        }
    }
    if last.is_some_and(|last| transactions.len() != last as usize + 1) {
        let text = format!("block {number} has no transaction at this index");
        return Err(Problem::Call(Failure::Invalid(text)));
    }
    Ok(RecordedBlock { row, rules, transactions })
}

fn recorded(app: &App, row: TransactionRow, rules: &Rules) -> Result<RecordedTransaction, Problem> {
    let origin = origin(app, &row, rules)?;
    let is_deposit = matches!(origin, Origin::Deposit { .. });
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
        fees: if is_deposit { Fees::None } else { fees(&row) },
        value: row.value,
        // That of a deposit is whatever its sender has.
        nonce: (!is_deposit).then_some(row.nonce),
        access_list: has_access_list(&row).then(|| list(&row)),
        blob_hashes: row.blob_versioned_hashes.to_vec(),
        max_fee_per_blob_gas: row.max_fee_per_blob_gas.unwrap_or_default().saturating_to(),
        authorizations: row.authorization_list.iter().map(authorization).collect(),
        input: row.input,
    };
    Ok(RecordedTransaction { hash: row.hash, call, origin, gas_used: row.gas_used })
}

/// Where a transaction comes from, as far as its chain charges for that.
fn origin(app: &App, row: &TransactionRow, rules: &Rules) -> Result<Origin, Problem> {
    if rules.rollup().is_some_and(|rollup| rollup.deposit == row.transaction_type) {
        return Ok(Origin::Deposit { mint: mint(row)? });
    }
    if !TransactionType::from(row.transaction_type).has_columns() {
        return Err(refused(format!("a transaction of type {} cannot be replayed here", row.transaction_type)));
    }
    match rules.rollup() {
        Some(_) => Ok(Origin::Signed(DataSize::of(&app.encoded_row(row)?))),
        None => Ok(Origin::Call),
    }
}

/// Wei that a deposit brings from L1: a member of its JSON, which some nodes leave out where there are none.
fn mint(row: &TransactionRow) -> Result<U256, Problem> {
    let unreadable = || refused(format!("what is indexed of transaction {} does not say what it mints", row.hash));
    let raw: serde_json::Value = serde_json::from_slice(&row.raw_transaction).map_err(|_| unreadable())?;
    match raw.get("mint") {
        None | Some(serde_json::Value::Null) => Ok(U256::ZERO),
        Some(mint) => mint.as_str().and_then(|mint| mint.parse().ok()).ok_or_else(unreadable),
    }
}

fn refused(text: String) -> Problem {
    Problem::Call(Failure::Invalid(text))
}

fn has_access_list(row: &TransactionRow) -> bool {
    !matches!(row.transaction_type.into(), TransactionType::Legacy | TransactionType::Other(_))
}

fn fees(row: &TransactionRow) -> Fees {
    let has_price = matches!(row.transaction_type.into(), TransactionType::Legacy | TransactionType::AccessList);
    match row.max_fee_per_gas.zip(row.max_priority_fee_per_gas) {
        Some((max, priority)) if !has_price => {
            Fees::Dynamic { max: max.saturating_to(), priority: priority.saturating_to() }
        }
        _ => Fees::Price(row.gas_price.unwrap_or_default().saturating_to()),
    }
}

fn authorization(row: &trawl_core::schema::Authorization) -> SignedAuthorization {
    let inner = Authorization { chain_id: row.chain_id, address: row.address, nonce: row.nonce };
    SignedAuthorization::new_unchecked(inner, row.y_parity, row.r, row.s)
}
