//! Which delegations the authorizations of a transaction set (EIP-7702).
//!
//! Tracers leave them out: one that cannot express removed code, and one that knows no delegations at all.
//! They follow from the transaction and the nonces of the signers. <https://eips.ethereum.org/EIPS/eip-7702>

use std::collections::BTreeMap;

use alloy_eips::eip7702;
use trawl_core::primitives::{Address, Bytes, U256};
use trawl_core::schema::Authorization;

use crate::block::Transaction;

/// The code each signer has after the authorizations of `transaction`; `nonces` are those before it.
///
/// Signers without a valid authorization are absent, and so are those whose nonce is not known.
#[must_use]
pub fn delegations(transaction: &Transaction, nonces: &BTreeMap<Address, u64>) -> BTreeMap<Address, Bytes> {
    let mut nonces = nonces.clone();
    // The sender's nonce is used up before the authorizations are looked at.
    if let Some(nonce) = nonces.get_mut(&transaction.from) {
        *nonce = nonce.saturating_add(1);
    }
    let mut codes = BTreeMap::new();
    for authorization in &transaction.authorization_list {
        let is_here = authorization.chain_id.is_zero()
            || transaction.chain_id.is_some_and(|chain_id| authorization.chain_id == U256::from(chain_id));
        let Some(signer) = signer(authorization).filter(|_| is_here) else { continue };
        let Some(nonce) = nonces.get_mut(&signer).filter(|nonce| **nonce == authorization.nonce) else { continue };
        let Some(next) = nonce.checked_add(1) else { continue };
        *nonce = next;
        codes.insert(signer, designation(authorization.address));
    }
    codes
}

/// The code that delegates to `address`; none for the zero address.
fn designation(address: Address) -> Bytes {
    if address.is_zero() { Bytes::new() } else { [&[0xef, 0x01, 0x00], address.as_slice()].concat().into() }
}

fn signer(authorization: &Authorization) -> Option<Address> {
    let inner = eip7702::Authorization {
        chain_id: authorization.chain_id,
        address: authorization.address,
        nonce: authorization.nonce,
    };
    eip7702::SignedAuthorization::new_unchecked(inner, authorization.y_parity, authorization.r, authorization.s)
        .recover_authority()
        .ok()
}
