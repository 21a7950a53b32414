//! Transactions of Ethereum's types as they were signed.

use alloy_consensus::transaction::RlpEcdsaEncodableTx;
use alloy_consensus::{SignableTransaction, TxEip1559, TxEip2930, TxEip4844, TxEip7702, TxLegacy};
use alloy_eips::eip2930::{AccessList, AccessListItem};
use alloy_eips::eip7702::{Authorization, SignedAuthorization};
use alloy_primitives::{Signature, TxKind};
use trawl_core::primitives::{TransactionType, U256};

use super::outcome::NotCheckable;
use super::trie_transaction::TrieTransaction;
use crate::block::Transaction;

/// The transaction as alloy knows it, by type.
///
/// # Errors
///
/// When the source did not have a field, or the type is not Ethereum's.
pub(super) fn encode(transaction: &Transaction) -> Result<TrieTransaction, NotCheckable> {
    let kind = transaction.transaction_type;
    if !kind.has_columns() {
        return Err(NotCheckable(format!("transaction type {kind} is not known")));
    }
    require_signed(transaction)?;
    let (nonce, gas_limit, value) = (transaction.nonce, transaction.gas, transaction.value);
    let (to, input) = (transaction.to.map_or(TxKind::Create, TxKind::Call), transaction.input.clone());
    let chain_id = || transaction.chain_id.ok_or_else(|| NotCheckable("a transaction has no chain id".into()));
    let access_list = || access_list(transaction);
    let signature = signature(transaction)?;
    match kind {
        TransactionType::Legacy => {
            let gas_price = wei(transaction.gas_price)?;
            let chain_id = legacy_chain_id(transaction.v)?;
            let signed = TxLegacy { chain_id, nonce, gas_price, gas_limit, to, value, input };
            Ok(encoded(&signed, signature))
        }
        TransactionType::AccessList => {
            let (chain_id, gas_price) = (chain_id()?, wei(transaction.gas_price)?);
            let access_list = access_list();
            Ok(encoded(&TxEip2930 { chain_id, nonce, gas_price, gas_limit, to, value, access_list, input }, signature))
        }
        kind => {
            let chain_id = chain_id()?;
            let max_fee_per_gas = wei(transaction.max_fee_per_gas)?;
            let max_priority_fee_per_gas = wei(transaction.max_priority_fee_per_gas)?;
            let access_list = access_list();
            let called = || transaction.to.ok_or_else(|| NotCheckable(format!("type {kind} without a recipient")));
            match kind {
                TransactionType::DynamicFee => Ok(encoded(
                    &TxEip1559 {
                        chain_id,
                        nonce,
                        gas_limit,
                        max_fee_per_gas,
                        max_priority_fee_per_gas,
                        to,
                        value,
                        access_list,
                        input,
                    },
                    signature,
                )),
                TransactionType::Blob => Ok(encoded(
                    &TxEip4844 {
                        chain_id,
                        nonce,
                        gas_limit,
                        max_fee_per_gas,
                        max_priority_fee_per_gas,
                        to: called()?,
                        value,
                        access_list,
                        blob_versioned_hashes: transaction.blob_versioned_hashes.clone(),
                        max_fee_per_blob_gas: wei(transaction.max_fee_per_blob_gas)?,
                        input,
                    },
                    signature,
                )),
                _ => Ok(encoded(
                    &TxEip7702 {
                        chain_id,
                        nonce,
                        gas_limit,
                        max_fee_per_gas,
                        max_priority_fee_per_gas,
                        to: called()?,
                        value,
                        access_list,
                        authorization_list: authorizations(transaction),
                        input,
                    },
                    signature,
                )),
            }
        }
    }
}

fn encoded<T: RlpEcdsaEncodableTx + SignableTransaction<Signature>>(
    transaction: &T,
    signature: Signature,
) -> TrieTransaction {
    let mut bytes = Vec::with_capacity(transaction.eip2718_encoded_length(&signature));
    transaction.eip2718_encode(&signature, &mut bytes);
    TrieTransaction::signed(bytes, transaction.encoded_for_signing(), signature)
}

/// Columns that are hashed of every transaction, beside its price.
const SIGNED: [&str; 9] = ["transaction_type", "nonce", "gas_limit", "to_address", "value", "input", "v", "r", "s"];
/// Those of transactions with a type. A legacy one has its chain in `v`.
const SIGNED_WITH_TYPE: [&str; 4] = ["chain_id", "access_list", "blob_versioned_hashes", "authorization_list"];

/// Refuses a transaction of one of Ethereum's types of which the source did not have all that is hashed.
pub(super) fn require_signed(transaction: &Transaction) -> Result<(), NotCheckable> {
    let is_legacy = transaction.transaction_type == TransactionType::Legacy;
    let has_price = is_legacy || transaction.transaction_type == TransactionType::AccessList;
    let is_signed = |column: &str| {
        SIGNED.contains(&column)
            || (has_price && column == "gas_price")
            || (!is_legacy && SIGNED_WITH_TYPE.contains(&column))
    };
    match transaction.lacking.iter().find(|column| is_signed(column)) {
        Some(column) => Err(NotCheckable(format!("the source has no {column} of transactions"))),
        None => Ok(()),
    }
}

/// The signature, with the parity of its `v`.
pub(super) fn signature(transaction: &Transaction) -> Result<Signature, NotCheckable> {
    let v = transaction.v;
    let is_odd = match transaction.transaction_type {
        TransactionType::Legacy if v == U256::from(27) || v == U256::from(28) => v == U256::from(28),
        TransactionType::Legacy => !v.bit(0),
        _ if v <= U256::from(1) => !v.is_zero(),
        kind => return Err(NotCheckable(format!("a transaction of type {kind} has the parity {v}"))),
    };
    Ok(Signature::new(transaction.r, transaction.s, is_odd))
}

/// The chain in the `v` of a legacy transaction (EIP-155).
pub(super) fn legacy_chain_id(v: U256) -> Result<Option<u64>, NotCheckable> {
    if v == U256::from(27) || v == U256::from(28) {
        return Ok(None);
    }
    let id = v.checked_sub(U256::from(35)).and_then(|twice| u64::try_from(twice >> 1).ok());
    id.map(Some).ok_or_else(|| NotCheckable(format!("a legacy transaction has the v {v}")))
}

fn wei(amount: Option<U256>) -> Result<u128, NotCheckable> {
    let amount = amount.ok_or_else(|| NotCheckable("a transaction has no price".into()))?;
    u128::try_from(amount).map_err(|_| NotCheckable("a price has more than 128 bits".into()))
}

fn access_list(transaction: &Transaction) -> AccessList {
    let item = |item: &trawl_core::schema::AccessListItem| AccessListItem {
        address: item.address,
        storage_keys: item.storage_keys.clone(),
    };
    AccessList(transaction.access_list.iter().map(item).collect())
}

fn authorizations(transaction: &Transaction) -> Vec<SignedAuthorization> {
    let signed = |item: &trawl_core::schema::Authorization| {
        let inner = Authorization { chain_id: item.chain_id, address: item.address, nonce: item.nonce };
        SignedAuthorization::new_unchecked(inner, item.y_parity, item.r, item.s)
    };
    transaction.authorization_list.iter().map(signed).collect()
}
