//! Transactions as they were signed: hash, sender, root.

use alloy_consensus::crypto::secp256k1::recover_signer_unchecked;
use alloy_consensus::transaction::RlpEcdsaEncodableTx;
use alloy_consensus::{SignableTransaction, TxEip1559, TxEip2930, TxEip4844, TxEip7702, TxLegacy};
use alloy_eips::eip2930::{AccessList, AccessListItem};
use alloy_eips::eip7702::{Authorization, SignedAuthorization};
use alloy_primitives::{Address, Signature, TxKind};
use trawl_core::primitives::U256;

use super::check::Check;
use super::outcome::{NotCheckable, Outcome, VerifyError, refuse, same};
use super::trie::ordered_root;
use crate::block::{Block, LAST_KNOWN_TYPE, Transaction};
use trawl_keccak::keccak256_all;

/// A transaction as bytes, and what its sender signed.
struct Encoded {
    /// EIP-2718.
    bytes: Vec<u8>,
    signature: Signature,
    /// What was hashed and signed.
    signed: Vec<u8>,
}

/// Checks the hash and sender of each transaction that can be encoded, and the root if all can; returns the bytes of all
/// encodings.
///
/// A transaction that cannot be encoded costs its own hash and sender and the root, and no other its proof.
pub(super) fn verify_transactions(block: &Block, outcome: &mut Outcome) -> Result<Option<usize>, VerifyError> {
    let (mut encodings, mut unknown) = (Vec::with_capacity(block.transactions.len()), None);
    for transaction in &block.transactions {
        match encode(transaction) {
            Ok(encoding) => encodings.push((transaction, encoding)),
            Err(NotCheckable(reason)) => unknown = unknown.or(Some(reason)),
        }
    }
    let bytes: Vec<&[u8]> = encodings.iter().map(|(_, encoding)| encoding.bytes.as_slice()).collect();
    verify_hashes(block, &encodings, &bytes)?;
    verify_senders(block, &encodings)?;
    if let Some(reason) = unknown {
        let (all, checked) = (block.transactions.len(), encodings.len());
        for check in [Check::TransactionHash, Check::Sender] {
            outcome.not_checkable(check, &format!("{reason}; {checked} of {all} transactions hold"));
        }
        outcome.not_checkable(Check::TransactionsRoot, &reason);
        return Ok(None);
    }
    outcome.passed(Check::TransactionHash);
    outcome.passed(Check::Sender);
    if block.header.lacking.contains(&"transactions_root") {
        outcome.not_checkable(Check::TransactionsRoot, "the source has no transactions_root");
    } else {
        same(block, Check::TransactionsRoot, &block.header.transactions_root, &ordered_root(&bytes))?;
        outcome.passed(Check::TransactionsRoot);
    }
    Ok(Some(body_length(block, &bytes)))
}

/// A transaction and its encoding.
type Encoding<'a> = (&'a Transaction, Encoded);

fn verify_hashes(block: &Block, encodings: &[Encoding<'_>], bytes: &[&[u8]]) -> Result<(), VerifyError> {
    for ((transaction, _), hash) in encodings.iter().zip(keccak256_all(bytes)) {
        same(block, Check::TransactionHash, &transaction.hash, &hash)?;
    }
    Ok(())
}

fn verify_senders(block: &Block, encodings: &[Encoding<'_>]) -> Result<(), VerifyError> {
    let signed: Vec<&[u8]> = encodings.iter().map(|(_, encoding)| encoding.signed.as_slice()).collect();
    let hashes = keccak256_all(&signed);
    for ((transaction, encoded), hash) in encodings.iter().zip(hashes) {
        // The transaction's own hash has been proven by now, so what was signed is what the chain has.
        let sender = recover_signer_unchecked(&encoded.signature, hash);
        if sender.as_ref().ok() != Some(&transaction.from) {
            let found = sender.map_or_else(|_| "an invalid signature".into(), |sender: Address| sender.to_string());
            return refuse(block, Check::Sender, transaction.from.to_string(), found);
        }
    }
    Ok(())
}

/// Bytes of the transactions in the RLP of their block, where typed ones are strings.
fn body_length(block: &Block, bytes: &[&[u8]]) -> usize {
    let framed = block.transactions.iter().zip(bytes).map(|(transaction, bytes)| match transaction.transaction_type {
        0 => bytes.len(),
        _ => alloy_rlp::Encodable::length(*bytes),
    });
    framed.sum()
}

/// The transaction as alloy knows it, by type.
fn encode(transaction: &Transaction) -> Result<Encoded, NotCheckable> {
    const SIGNED: [&str; 8] =
        ["v", "r", "s", "access_list", "blob_versioned_hashes", "authorization_list", "chain_id", "gas_limit"];
    if transaction.transaction_type > LAST_KNOWN_TYPE {
        return Err(NotCheckable(format!("transaction type {} is not known", transaction.transaction_type)));
    }
    if let Some(column) = transaction.lacking.iter().find(|column| SIGNED.contains(column)) {
        return Err(NotCheckable(format!("the source has no {column} of transactions")));
    }
    if transaction.r.is_zero() && transaction.s.is_zero() {
        return Err(NotCheckable("a transaction has no signature".into()));
    }
    let (nonce, gas_limit, value) = (transaction.nonce, transaction.gas, transaction.value);
    let (to, input) = (transaction.to.map_or(TxKind::Create, TxKind::Call), transaction.input.clone());
    let chain_id = || transaction.chain_id.ok_or_else(|| NotCheckable("a transaction has no chain id".into()));
    let access_list = || access_list(transaction);
    let signature = signature(transaction)?;
    match transaction.transaction_type {
        0 => {
            let gas_price = wei(transaction.gas_price)?;
            let chain_id = legacy_chain_id(transaction.v)?;
            let signed = TxLegacy { chain_id, nonce, gas_price, gas_limit, to, value, input };
            Ok(encoded(&signed, signature))
        }
        1 => {
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
                2 => Ok(encoded(
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
                3 => Ok(encoded(
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

fn encoded<T: RlpEcdsaEncodableTx + SignableTransaction<Signature>>(transaction: &T, signature: Signature) -> Encoded {
    let mut bytes = Vec::with_capacity(transaction.eip2718_encoded_length(&signature));
    transaction.eip2718_encode(&signature, &mut bytes);
    Encoded { bytes, signature, signed: transaction.encoded_for_signing() }
}

fn signature(transaction: &Transaction) -> Result<Signature, NotCheckable> {
    let v = transaction.v;
    let is_odd = match transaction.transaction_type {
        0 if v == U256::from(27) || v == U256::from(28) => v == U256::from(28),
        0 => !v.bit(0),
        _ if v <= U256::from(1) => !v.is_zero(),
        kind => return Err(NotCheckable(format!("a transaction of type {kind} has the parity {v}"))),
    };
    Ok(Signature::new(transaction.r, transaction.s, is_odd))
}

/// The chain in the `v` of a legacy transaction (EIP-155).
fn legacy_chain_id(v: U256) -> Result<Option<u64>, NotCheckable> {
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
