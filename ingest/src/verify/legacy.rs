//! Legacy transactions as bytes, those too that have more fields than Ethereum's.

use alloy_primitives::keccak256;
use alloy_rlp::{Encodable, Header};
use trawl_chains::{Family, LegacyForm, LegacyRule};
use trawl_core::primitives::TransactionType;

use super::header::may_be_sealed_by_committee;
use super::outcome::NotCheckable;
use super::signed::{encode, legacy_chain_id, require_signed, signature};
use super::trie_transaction::TrieTransaction;
use crate::block::{Block, Transaction};

/// A signed legacy transaction of a family that has a form of its own; `None` where it is encoded as Ethereum's.
///
/// Which of two forms it has may not be stated: files with columns have no field for it, and some nodes leave it out.
/// It has the one that gives its hash. If none does, it is refused only where no field can be missing: since the chain
/// is a rollup, which has no longer ones, and where the source names the fee of a gateway.
pub(super) fn own_legacy(
    block: &Block,
    transaction: &Transaction,
    family: &Family,
) -> Option<Result<TrieTransaction, NotCheckable>> {
    if transaction.transaction_type != TransactionType::Legacy || family.legacy == LegacyRule::Ethereum {
        return None;
    }
    match family.legacy.form(&transaction.extra_fields()) {
        Ok(LegacyForm::Ethereum) => None,
        Ok(LegacyForm::Longer(items)) => Some(signed_legacy(transaction, &items)),
        Ok(LegacyForm::Either(items)) => {
            by_hash(transaction, &items).or_else(|| Some(signed_legacy(transaction, &items)))
        }
        Ok(LegacyForm::Unspecified(items)) => by_hash(transaction, &items).or_else(|| {
            let unknown = may_be_sealed_by_committee(&block.header, family).then(|| unspecified_form(transaction));
            unknown.map(Err)
        }),
        // What cannot be read is beside a transaction of Ethereum's form, if that is the one that is hashed.
        Err(_) if encode(transaction).is_ok_and(|plain| has_its_hash(transaction, &plain)) => None,
        Err(error) => Some(Err(NotCheckable(format!("a legacy transaction: {error}")))),
    }
}

fn has_its_hash(transaction: &Transaction, encoded: &TrieTransaction) -> bool {
    keccak256(&encoded.bytes) == transaction.hash
}

/// The form that has the transaction's hash.
fn by_hash(transaction: &Transaction, items: &[u8]) -> Option<Result<TrieTransaction, NotCheckable>> {
    let forms: [&dyn Fn() -> _; 2] = [&|| encode(transaction), &|| signed_legacy(transaction, items)];
    let mut encoded = forms.into_iter().map(|form| form());
    encoded.find(|form| form.as_ref().is_ok_and(|form| has_its_hash(transaction, form)))
}

/// Why a transaction of neither form may be a sound one.
fn unspecified_form(transaction: &Transaction) -> NotCheckable {
    let reason = "the source has no gateway fee of legacy transactions, and one does not have its hash without";
    require_signed(transaction).err().unwrap_or_else(|| NotCheckable(reason.into()))
}

/// Whether a transaction is hashed with more fields than Ethereum's.
pub(super) fn is_longer(transaction: &Transaction, encoded: &TrieTransaction, family: &Family) -> bool {
    let may_be = transaction.transaction_type == TransactionType::Legacy && family.legacy != LegacyRule::Ethereum;
    may_be && encode(transaction).is_ok_and(|plain| plain.bytes != encoded.bytes)
}

/// A legacy transaction with these fields between gas and recipient.
fn signed_legacy(transaction: &Transaction, more: &[u8]) -> Result<TrieTransaction, NotCheckable> {
    require_signed(transaction)?;
    let list = legacy(transaction, more);
    let mut payload = list.clone();
    // As on Ethereum, the chain stands for the signature in what is signed (EIP-155).
    if let Some(chain_id) = legacy_chain_id(transaction.v)? {
        chain_id.encode(&mut payload);
        payload.extend_from_slice(&[alloy_rlp::EMPTY_STRING_CODE; 2]);
    }
    let signature = signature(transaction)?;
    Ok(TrieTransaction::signed(with_signature(transaction, list), listed(&payload), signature))
}

/// The items of a legacy transaction before the signature; `more` stands between gas and recipient.
pub(super) fn legacy(transaction: &Transaction, more: &[u8]) -> Vec<u8> {
    let mut list = Vec::new();
    transaction.nonce.encode(&mut list);
    transaction.gas_price.unwrap_or_default().encode(&mut list);
    transaction.gas.encode(&mut list);
    list.extend_from_slice(more);
    match &transaction.to {
        Some(to) => to.encode(&mut list),
        None => list.push(alloy_rlp::EMPTY_STRING_CODE),
    }
    transaction.value.encode(&mut list);
    transaction.input.encode(&mut list);
    list
}

/// The list of a legacy transaction, with its `v` as it is.
pub(super) fn with_signature(transaction: &Transaction, mut list: Vec<u8>) -> Vec<u8> {
    for part in [transaction.v, transaction.r, transaction.s] {
        part.encode(&mut list);
    }
    listed(&list)
}

fn listed(items: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(items.len() + 9);
    Header { list: true, payload_length: items.len() }.encode(&mut bytes);
    bytes.extend_from_slice(items);
    bytes
}
