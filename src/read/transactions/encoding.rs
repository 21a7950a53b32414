//! Transactions as they were signed and hashed (EIP-2718). Pure; encoded by alloy.

use alloy_consensus::transaction::RlpEcdsaEncodableTx;
use alloy_consensus::{TxEip1559, TxEip2930, TxEip4844, TxEip7702, TxLegacy};
use alloy_eips::eip2930::{AccessList, AccessListItem};
use alloy_eips::eip7702::{Authorization, SignedAuthorization};
use alloy_primitives::{Address, Signature, TxKind, U256, keccak256};
use trawl_core::primitives::TransactionType;

use super::receipt_trie::Reason;
use trawl_core::schema::TransactionRow;

/// Columns of `transactions` that are not hashed.
const NOT_HASHED: [&str; 16] = [
    "block_hash",
    "block_timestamp",
    "from_address",
    "has_receipt",
    "status",
    "post_state_root",
    "gas_used",
    "cumulative_gas_used",
    "effective_gas_price",
    "contract_address",
    "blob_gas_used",
    "blob_gas_price",
    "logs_count",
    "transaction_index",
    "l1_fee",
    "operator_fee",
];

/// The bytes of a transaction, which hash to its hash.
pub(crate) fn encoded(row: &TransactionRow) -> Result<Vec<u8>, Reason> {
    let index = row.transaction_index;
    let lacking: Vec<&str> = row.lacking.iter().map(String::as_str).filter(|it| !NOT_HASHED.contains(it)).collect();
    if !lacking.is_empty() {
        return Err(format!("transaction {index} is indexed without {}", lacking.join(", ")));
    }
    let bytes = match row.transaction_type.into() {
        TransactionType::Legacy => legacy(row),
        TransactionType::AccessList => access_list_transaction(row),
        TransactionType::DynamicFee => dynamic_fee_transaction(row),
        TransactionType::Blob => blob_transaction(row),
        TransactionType::SetCode => set_code_transaction(row),
        TransactionType::Other(kind) => Err(format!("the hash of transactions of type {kind} is unknown")),
    }?;
    let found = keccak256(&bytes);
    if found != row.hash {
        return Err(format!("what is indexed of transaction {index} has the hash {found}, and not its own"));
    }
    Ok(bytes)
}

fn legacy(row: &TransactionRow) -> Result<Vec<u8>, Reason> {
    let is_before_eip155 = row.v == U256::from(27) || row.v == U256::from(28);
    let id = row.v.checked_sub(U256::from(35)).and_then(|twice| u64::try_from(twice >> 1).ok());
    if id.is_none() && !is_before_eip155 {
        return Err(format!("transaction {} has the v {}", row.transaction_index, row.v));
    }
    let transaction = TxLegacy {
        chain_id: id.filter(|_| !is_before_eip155),
        nonce: row.nonce,
        gas_price: wei(row.gas_price, row)?,
        gas_limit: row.gas_limit,
        to: callee(row),
        value: row.value,
        input: row.input.clone(),
    };
    let is_odd = if is_before_eip155 { row.v == U256::from(28) } else { !row.v.bit(0) };
    Ok(signed(&transaction, Signature::new(row.r, row.s, is_odd)))
}

fn access_list_transaction(row: &TransactionRow) -> Result<Vec<u8>, Reason> {
    let transaction = TxEip2930 {
        chain_id: chain_id(row)?,
        nonce: row.nonce,
        gas_price: wei(row.gas_price, row)?,
        gas_limit: row.gas_limit,
        to: callee(row),
        value: row.value,
        access_list: access_list(row),
        input: row.input.clone(),
    };
    Ok(signed(&transaction, signature(row)?))
}

fn dynamic_fee_transaction(row: &TransactionRow) -> Result<Vec<u8>, Reason> {
    let transaction = TxEip1559 {
        chain_id: chain_id(row)?,
        nonce: row.nonce,
        gas_limit: row.gas_limit,
        max_fee_per_gas: wei(row.max_fee_per_gas, row)?,
        max_priority_fee_per_gas: wei(row.max_priority_fee_per_gas, row)?,
        to: callee(row),
        value: row.value,
        access_list: access_list(row),
        input: row.input.clone(),
    };
    Ok(signed(&transaction, signature(row)?))
}

fn blob_transaction(row: &TransactionRow) -> Result<Vec<u8>, Reason> {
    let transaction = TxEip4844 {
        chain_id: chain_id(row)?,
        nonce: row.nonce,
        gas_limit: row.gas_limit,
        max_fee_per_gas: wei(row.max_fee_per_gas, row)?,
        max_priority_fee_per_gas: wei(row.max_priority_fee_per_gas, row)?,
        to: recipient(row)?,
        value: row.value,
        access_list: access_list(row),
        blob_versioned_hashes: row.blob_versioned_hashes.clone(),
        max_fee_per_blob_gas: wei(row.max_fee_per_blob_gas, row)?,
        input: row.input.clone(),
    };
    Ok(signed(&transaction, signature(row)?))
}

fn set_code_transaction(row: &TransactionRow) -> Result<Vec<u8>, Reason> {
    let transaction = TxEip7702 {
        chain_id: chain_id(row)?,
        nonce: row.nonce,
        gas_limit: row.gas_limit,
        max_fee_per_gas: wei(row.max_fee_per_gas, row)?,
        max_priority_fee_per_gas: wei(row.max_priority_fee_per_gas, row)?,
        to: recipient(row)?,
        value: row.value,
        access_list: access_list(row),
        authorization_list: row.authorization_list.iter().map(authorization).collect(),
        input: row.input.clone(),
    };
    Ok(signed(&transaction, signature(row)?))
}

fn signed<T: RlpEcdsaEncodableTx>(transaction: &T, signature: Signature) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(transaction.eip2718_encoded_length(&signature));
    transaction.eip2718_encode(&signature, &mut bytes);
    bytes
}

fn signature(row: &TransactionRow) -> Result<Signature, Reason> {
    if row.v > U256::from(1) {
        return Err(format!("transaction {} has the parity {}", row.transaction_index, row.v));
    }
    Ok(Signature::new(row.r, row.s, !row.v.is_zero()))
}

fn callee(row: &TransactionRow) -> TxKind {
    row.to_address.map_or(TxKind::Create, TxKind::Call)
}

fn recipient(row: &TransactionRow) -> Result<Address, Reason> {
    row.to_address.ok_or_else(|| format!("transaction {} has no recipient", row.transaction_index))
}

fn chain_id(row: &TransactionRow) -> Result<u64, Reason> {
    row.chain_id.ok_or_else(|| format!("transaction {} has no chain id", row.transaction_index))
}

fn wei(amount: Option<U256>, row: &TransactionRow) -> Result<u128, Reason> {
    let amount = amount.and_then(|amount| u128::try_from(amount).ok());
    amount.ok_or_else(|| format!("transaction {} has no price, or one of more than 128 bits", row.transaction_index))
}

fn access_list(row: &TransactionRow) -> AccessList {
    let item = |item: &trawl_core::schema::AccessListItem| AccessListItem {
        address: item.address,
        storage_keys: item.storage_keys.clone(),
    };
    AccessList(row.access_list.iter().map(item).collect())
}

fn authorization(one: &trawl_core::schema::Authorization) -> SignedAuthorization {
    let inner = Authorization { chain_id: one.chain_id, address: one.address, nonce: one.nonce };
    SignedAuthorization::new_unchecked(inner, one.y_parity, one.r, one.s)
}
