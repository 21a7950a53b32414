//! Authorizations of a transaction (EIP-7702), and what became of them.

use std::collections::BTreeMap;

use alloy_eips::eip7702;

use crate::{Array, JsonWriter};
use trawl_core::primitives::{Address, U256};
use trawl_core::schema::Authorization;

/// What decides about the authorizations of a transaction.
#[derive(Debug, Clone, Copy)]
pub(super) struct AuthorizingTransaction<'t> {
    /// The chain that it is on, if its row says so.
    pub chain_id: Option<u64>,
    /// Who sent it.
    pub sender: Address,
    /// Nonce of the sender before the transaction, if its row says so.
    pub nonce: Option<u64>,
    /// Nonces of other accounts before the transaction, none of which has code but a delegation.
    pub authority_nonces: &'t BTreeMap<Address, u64>,
}

/// The status of an authorization; its names are Blockscout's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Status {
    Ok,
    InvalidChainId,
    InvalidNonce,
    InvalidSignature,
}

impl Status {
    fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::InvalidChainId => "invalid_chain_id",
            Self::InvalidNonce => "invalid_nonce",
            Self::InvalidSignature => "invalid_signature",
        }
    }
}

/// Writes the list of a transaction.
pub(super) fn write_authorizations(
    writer: &mut JsonWriter,
    authorizations: &[Authorization],
    transaction: &AuthorizingTransaction<'_>,
) {
    let authorities: Vec<Option<Address>> = authorizations.iter().map(authority).collect();
    let statuses = statuses(authorizations, &authorities, transaction);
    writer.array(|list| {
        for ((authorization, authority), status) in authorizations.iter().zip(authorities).zip(statuses) {
            write_authorization(list, authorization, authority, status);
        }
    });
}

fn write_authorization(
    list: &mut Array<'_>,
    authorization: &Authorization,
    authority: Option<Address>,
    status: Option<Status>,
) {
    list.item().object(|item| {
        item.key("address_hash").string(&authorization.address.to_checksum(None));
        let authority = authority.map(|authority| authority.to_checksum(None));
        item.key("authority").option(authority.as_deref(), JsonWriter::string);
        // The identifier of a chain is a number, but for the few that clients could not read as one.
        match u64::try_from(authorization.chain_id) {
            Ok(chain_id) => item.key("chain_id").number(chain_id),
            Err(_) => item.key("chain_id").decimal_256(authorization.chain_id),
        }
        item.key("nonce").decimal(authorization.nonce);
        item.key("r").decimal_256(authorization.r);
        item.key("s").decimal_256(authorization.s);
        item.key("v").number(authorization.y_parity.into());
        item.key("status").option(status, |writer, status| writer.string(status.name()));
    });
}

/// The signer of the authorization (<https://eips.ethereum.org/EIPS/eip-7702>): none where the signature is invalid.
#[must_use]
pub fn authority(authorization: &Authorization) -> Option<Address> {
    let Authorization { chain_id, address, nonce, y_parity, r, s } = authorization.clone();
    let unsigned = eip7702::Authorization { chain_id, address, nonce };
    eip7702::SignedAuthorization::new_unchecked(unsigned, y_parity, r, s).recover_authority().ok()
}

/// The status of each, by the steps of EIP-7702 in their order; `None` where it depends on a nonce that is not known.
fn statuses(
    authorizations: &[Authorization],
    authorities: &[Option<Address>],
    transaction: &AuthorizingTransaction<'_>,
) -> Vec<Option<Status>> {
    let mut nonces = transaction.authority_nonces.clone();
    // The nonce of the sender rises before its list is processed, and a sender has no code but a delegation.
    match transaction.nonce {
        Some(nonce) => nonces.insert(transaction.sender, nonce.saturating_add(1)),
        None => nonces.remove(&transaction.sender),
    };
    let status = |(authorization, authority): (&Authorization, &Option<Address>)| {
        let is_for_any_chain = authorization.chain_id.is_zero();
        let is_for_this_chain =
            transaction.chain_id.map(|chain_id| is_for_any_chain || authorization.chain_id == U256::from(chain_id));
        match (is_for_this_chain, authority) {
            (Some(false), _) => Some(Status::InvalidChainId),
            (None, _) if !is_for_any_chain => {
                // It may count, after which the nonce of who signed it is another.
                nonces.remove(&authority.unwrap_or_default());
                None
            }
            _ if authorization.nonce == u64::MAX => Some(Status::InvalidNonce),
            (_, None) => Some(Status::InvalidSignature),
            (_, Some(authority)) => {
                let nonce = nonces.get_mut(authority)?;
                if *nonce != authorization.nonce {
                    return Some(Status::InvalidNonce);
                }
                *nonce += 1;
                Some(Status::Ok)
            }
        }
    };
    authorizations.iter().zip(authorities).map(status).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Chain, code, nonce, parity, r, s: as signed by who comes last, which viem 2 recovers
    /// (recoverAuthorizationAddress).
    const SIGNED: [[&str; 7]; 3] = [
        [
            "0x1",
            "0x000000009b1d0af20d8c6d0a44e162d11f9b8f00",
            "0x2",
            "0x0",
            "0x7d2e41c5351fe9b195d6fc077fd4235a56f751da405bac176a042df996afa9b",
            "0x54c2275764d0d1d41560434382568f77a0d2b66c447cf0f00012b0fb453e1eca",
            "0x5AbAd0069981BB2B8F044deef445ca6bdA2fcBab",
        ],
        [
            "0x1",
            "0x07926b8fbfddf09cd66a7fcdc2b224b8482e6690",
            "0xb",
            "0x1",
            "0x9677629a1c1d0c4c068e87b882a16f217592c331f1a1e6b81a6aaf208e3a2244",
            "0x3e081bcf67a587b64bf7e9a25dd821e1376f15b991f7b94bf3d17126f70b664",
            "0x54042ea304Ef65829BaE182835409E039Bf36Bee",
        ],
        [
            "0x7a69",
            "0x8a791620dd6260079bf849dc5567adc3f2fdc318",
            "0x4d",
            "0x1",
            "0x848be3e631d25750d06beb53170825c3222b616abb0d7afe19315d858195f020",
            "0x7aed2f4756b7469ab6fa8a64d55b0fa83724172d4a053c050f20d795973997c2",
            "0x23618e81E3f5cdF7f54C3d65f7FBc0aBf5B21E8f",
        ],
    ];

    fn signed([chain_id, address, nonce, y_parity, r, s, _]: [&str; 7]) -> Authorization {
        let number = |text: &str| text.parse::<U256>().expect("a number");
        Authorization {
            chain_id: number(chain_id),
            address: address.parse().expect("an address"),
            nonce: number(nonce).to(),
            y_parity: number(y_parity).to(),
            r: number(r),
            s: number(s),
        }
    }

    #[test]
    fn the_authority_is_who_signed() {
        for signature in SIGNED {
            let recovered = authority(&signed(signature)).map(|authority| authority.to_checksum(None));
            assert_eq!(recovered.as_deref(), Some(signature[6]));
        }
    }

    #[test]
    fn an_invalid_signature_has_no_authority() {
        let valid = signed(SIGNED[0]);
        // The order of the curve (https://www.secg.org/sec2-v2.pdf): EIP-7702 refuses an s above half of it.
        let order = "0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141".parse::<U256>();
        let high = order.expect("a number") - valid.s;
        for invalid in [
            Authorization { s: high, y_parity: 1, ..valid.clone() },
            Authorization { y_parity: 2, ..valid.clone() },
            Authorization { r: U256::ZERO, ..valid.clone() },
            Authorization { r: U256::MAX, ..valid },
        ] {
            assert_eq!(authority(&invalid), None, "{invalid:?}");
        }
    }

    /// The words for authorizations by who signed them, their nonces and their chains.
    fn words(
        list: &[(Option<u8>, u64, u64)],
        chain_id: Option<u64>,
        known: &BTreeMap<Address, u64>,
    ) -> Vec<Option<&'static str>> {
        let of = |(_, nonce, chain_id): &(Option<u8>, u64, u64)| Authorization {
            nonce: *nonce,
            chain_id: U256::from(*chain_id),
            ..signed(SIGNED[0])
        };
        let authorizations: Vec<Authorization> = list.iter().map(of).collect();
        let authorities: Vec<_> = list.iter().map(|(signer, ..)| signer.map(Address::repeat_byte)).collect();
        let sender = Address::repeat_byte(1);
        let transaction = AuthorizingTransaction { chain_id, sender, nonce: Some(7), authority_nonces: known };
        let statuses = statuses(&authorizations, &authorities, &transaction);
        statuses.into_iter().map(|status| status.map(Status::name)).collect()
    }

    #[test]
    fn statuses_follow_the_steps_of_the_eip() {
        let known = BTreeMap::from([(Address::repeat_byte(2), 0)]);
        let (ok, chain, nonce, signature) =
            (Some("ok"), Some("invalid_chain_id"), Some("invalid_nonce"), Some("invalid_signature"));
        for (list, expected) in [
            // The sender: its own transaction has taken nonce 7.
            (vec![(Some(1), 8, 5), (Some(1), 9, 0), (Some(1), 9, 5)], vec![ok, ok, nonce]),
            (vec![(Some(1), 7, 5), (Some(1), 8, 5)], vec![nonce, ok]),
            // Somebody whose nonce is known, and somebody else.
            (vec![(Some(2), 1, 5), (Some(2), 0, 5), (Some(2), 0, 5), (Some(2), 1, 0)], vec![nonce, ok, nonce, ok]),
            (vec![(Some(3), 0, 5), (Some(3), u64::MAX, 5)], vec![None, nonce]),
            // The first step that fails is the reason.
            (
                vec![(None, 0, 5), (None, 0, 6), (None, u64::MAX, 0), (Some(2), 0, 6)],
                vec![signature, chain, nonce, chain],
            ),
            (vec![(Some(2), 0, 6), (Some(2), 0, 5)], vec![chain, ok]),
        ] {
            assert_eq!(words(&list, Some(5), &known), expected, "{list:?}");
        }
        let list = [(Some(2), 0, 5), (Some(2), 0, 0), (Some(1), 8, 0), (None, 0, 5), (None, 0, 0)];
        assert_eq!(words(&list, None, &known), [None, None, ok, None, signature], "of an unknown chain");
        let last = BTreeMap::from([(Address::repeat_byte(2), u64::MAX - 1)]);
        assert_eq!(words(&[(Some(2), u64::MAX - 1, 5), (Some(2), u64::MAX, 5)], Some(5), &last), [ok, nonce]);
    }
}
