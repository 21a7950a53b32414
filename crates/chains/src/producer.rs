//! Who makes the blocks of a family.

use std::ops::Range;

use alloy_consensus::Header;
use alloy_consensus::crypto::secp256k1::recover_signer_unchecked;
use alloy_primitives::{Address, Signature};
use alloy_rlp::Encodable;

use crate::header::{first_fields, hash_of};

/// Who made a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProducerRule {
    /// The beneficiary of the header.
    Beneficiary,
    /// Where the header names no beneficiary, who sealed it: a signature ends the extra data (Bor, as in Clique,
    /// <https://eips.ethereum.org/EIPS/eip-225>).
    Seal,
}

/// Bytes of the seal.
const SEAL_BYTES: usize = 65;
/// Bytes before the validators and the seal.
const VANITY_BYTES: usize = 32;
/// Blocks of Mumbai whose base fee is not sealed: London came before Jaipur there.
const BEFORE_JAIPUR: Range<u64> = 22_640_000..22_770_000;
const MUMBAI: u64 = 80_001;

impl ProducerRule {
    /// Who made a block; the zero address where that is not known. `chain_id`: that of the block's transactions.
    #[must_use]
    pub fn producer(self, chain_id: Option<u64>, header: &Header) -> Address {
        if self == Self::Beneficiary || !header.beneficiary.is_zero() {
            return header.beneficiary;
        }
        let base_fee = match chain_id {
            _ if !BEFORE_JAIPUR.contains(&header.number) => header.base_fee_per_gas,
            Some(MUMBAI) => None,
            None if header.base_fee_per_gas.is_some() => return Address::ZERO,
            _ => header.base_fee_per_gas,
        };
        signer(header, base_fee).unwrap_or_default()
    }
}

/// Who signed a header, whose extra data then ends with the signature; `None` if it does not.
fn signer(header: &Header, base_fee: Option<u64>) -> Option<Address> {
    let unsealed = header.extra_data.len().checked_sub(SEAL_BYTES).filter(|length| *length >= VANITY_BYTES)?;
    let signature = Signature::from_raw(&header.extra_data[unsealed..]).ok()?;
    let extra_data = header.extra_data.slice(..unsealed);
    let mut list = first_fields(&Header { extra_data, ..header.clone() });
    header.mix_hash.encode(&mut list);
    header.nonce.encode(&mut list);
    base_fee.iter().for_each(|fee| fee.encode(&mut list));
    recover_signer_unchecked(&signature, hash_of(list)).ok()
}

#[cfg(test)]
mod tests {
    use alloy_primitives::address;

    use super::*;

    #[test]
    fn a_header_without_a_seal_says_nothing() {
        let beneficiary = address!("5973918275c01f50555d44e92c9d9b353cadad54");
        assert_eq!(ProducerRule::Seal.producer(None, &Header::default()), Address::ZERO);
        let short = Header { extra_data: vec![1; VANITY_BYTES + SEAL_BYTES - 1].into(), ..Header::default() };
        assert_eq!(ProducerRule::Seal.producer(None, &short), Address::ZERO);
        let sealed = Header { extra_data: vec![1; VANITY_BYTES + SEAL_BYTES].into(), ..Header::default() };
        for header in [&short, &sealed] {
            let named = Header { beneficiary, ..header.clone() };
            assert_eq!(ProducerRule::Seal.producer(None, &named), beneficiary);
            assert_eq!(ProducerRule::Beneficiary.producer(None, header), Address::ZERO);
        }
    }
}
