//! Headers of Celo while it was a chain of its own, up to 2025-03 (celo-org/celo-blockchain, `core/types`): a committee
//! signs them, and its signature stands in the extra data.

use alloy_consensus::Header;
use alloy_consensus::constants::EMPTY_OMMER_ROOT_HASH;
use alloy_primitives::{B256, keccak256};
use alloy_rlp::{EMPTY_STRING_CODE, Encodable, Header as RlpHeader};

use crate::fields::RawList;

/// Bytes before the list in the extra data.
const VANITY_BYTES: usize = 32;
/// Items of that list: validators added, their keys, validators removed, the proposer's seal, the committee's, and the
/// committee's of the block below.
const ITEMS: usize = 6;
/// The committee's seal, which is not there yet when the block is hashed: bitmap, signature and round.
const SEAL: usize = 4;
const NO_SEAL: [u8; 3] = [EMPTY_STRING_CODE; 3];

/// Whether a header is of that time. That of a rollup has less extra data.
pub(super) fn is_sealed(extra_data: &[u8]) -> bool {
    extra_data.len() > VANITY_BYTES
}

/// Whether it may have ten fields, as before Gingerbread: others are not there, or what nodes of today make of them.
fn may_be_short(header: &Header) -> bool {
    let has_no_uncles = header.ommers_hash.is_zero() || header.ommers_hash == EMPTY_OMMER_ROOT_HASH;
    let has_no_seal = header.mix_hash.is_zero() && header.nonce.is_zero();
    let has_later = header.withdrawals_root.is_some()
        || header.blob_gas_used.is_some()
        || header.excess_blob_gas.is_some()
        || header.parent_beacon_block_root.is_some()
        || header.requests_hash.is_some();
    is_sealed(&header.extra_data) && has_no_uncles && has_no_seal && !has_later
}

/// The hash of Ethereum's fields, without the committee's seal.
pub(super) fn hash(header: &Header) -> B256 {
    unsealed(header).hash_slow()
}

fn unsealed(header: &Header) -> Header {
    let extra_data = without_seal(&header.extra_data).unwrap_or_else(|| header.extra_data.to_vec());
    Header { extra_data: extra_data.into(), ..header.clone() }
}

/// The hash of ten fields; `None` if another one has a value.
pub(super) fn short_hash(header: &Header) -> Option<B256> {
    if !may_be_short(header) {
        return None;
    }
    let header = unsealed(header);
    let mut list = Vec::new();
    let fields: [&dyn Encodable; 10] = [
        &header.parent_hash,
        &header.beneficiary,
        &header.state_root,
        &header.transactions_root,
        &header.receipts_root,
        &header.logs_bloom,
        &header.number,
        &header.gas_used,
        &header.timestamp,
        &header.extra_data,
    ];
    fields.iter().for_each(|field| field.encode(&mut list));
    Some(keccak256(RawList(list).encoded()))
}

/// The extra data with an empty seal; `None` if it is not of that form.
fn without_seal(extra_data: &[u8]) -> Option<Vec<u8>> {
    let (vanity, mut rest) = extra_data.split_at_checked(VANITY_BYTES)?;
    let mut payload = RlpHeader::decode_bytes(&mut rest, true).ok()?;
    let mut list = Vec::new();
    for position in 0..ITEMS {
        let item = next(&mut payload)?;
        match position {
            SEAL => RawList(NO_SEAL.to_vec()).encode(&mut list),
            _ => list.extend_from_slice(item),
        }
    }
    let is_whole = payload.is_empty() && rest.is_empty();
    is_whole.then(|| [vanity, &RawList(list).encoded()].concat())
}

/// The next item as it is encoded.
fn next<'l>(list: &mut &'l [u8]) -> Option<&'l [u8]> {
    let all = *list;
    let mut rest = all;
    let header = RlpHeader::decode(&mut rest).ok()?;
    *list = rest.get(header.payload_length..)?;
    all.get(..all.len() - list.len())
}

#[cfg(test)]
mod tests {
    use alloy_primitives::{address, b256, hex};

    use super::*;

    /// Block 19,042,560 of Celo, of ten fields, as a node gives it.
    fn header() -> (Header, B256) {
        let vanity = "d983010704846765746889676f312e31372e3133856c696e7578000000000000";
        let proposer = "f8ccc0c080b84177cdc8f22ff53bd1ed75f2a09b920957d7cbbc01a283c8eb40c7dcf96bbcd41434e06fa9dd\
             afbe61e83dec0a2cb11d5435971242b4a25e6f129768b183e8886700";
        let committee = "f8418e325007fdf89adf7e7f7e2cfff8ffb05e98abf6071b03bd3b2d420188991b04c874a2cce546e299fef6\
             fccb2b2dc8828e42da4b3dffa483e5b7cf7e79807b8080";
        let of_parent = "f8418e3fffffffffffffffffffffffffffb06009638e885c0870c288f816403d0dd04055e4feb3b8e157dc0a\
             cdf5f0da3b84636a4c997234969ace1a56084733840080";
        let bloom = "2833101222d26aa2000821a9c0a28529948200409056708002002108083a02408908988388a0c48000312614\
             2e41a48c0190884321c43010005c8c0242209002379005102fc20c5e6941505a430a7da0085c115008f22f00\
             0010199042228c03000006300224d00420341400700408010e4107c09a001021601dc292043d930025843c00\
             830170c00400103002f840421a4500710111981a0434805400d6e8104223b8009121010d0301404a88230c10\
             380200107a2b00050020d18c44159440a0b024222425d2522142f12610eac0910c09612700153911b0a8a510\
             c01060a1da1303a546482c40008a0d282a80b30020402411100f2c00404c305555200035";
        let bytes = |text: &str| hex::decode(text).expect("hexadecimal");
        let header = Header {
            parent_hash: b256!("1469ec2ace32ba4f18a7abbc634cf13119a07167b65bc0a2319bb2513625d1c7"),
            ommers_hash: B256::ZERO,
            beneficiary: address!("aa397ca08bbebc31717f8ab2cea35320c51568e6"),
            state_root: b256!("481088b07b8e111f532b8edb2d2881e1747f5d61248b28c096c120b010b336f2"),
            transactions_root: b256!("4a1e09afdc7e40256ac262da49396fe7c5bae0b7d9f46e4bc1fe495ef6d8514b"),
            receipts_root: b256!("7c0af0b3d3d9d750eb8dccffe633794583960b7e72bef95e33aaa0aaf09c58ac"),
            logs_bloom: alloy_primitives::Bloom::from_slice(&bytes(bloom)),
            number: 19_042_560,
            gas_used: 1_074_097,
            timestamp: 1_682_881_011,
            extra_data: bytes(&[vanity, proposer, committee, of_parent].concat()).into(),
            ..Header::default()
        };
        (header, b256!("f09d2d8cb7d4ac4c8b49b18030ce09c0be3a40a33a83bb627d27363513907240"))
    }

    #[test]
    fn a_real_header_of_ten_fields_has_its_hash() {
        let (header, expected) = header();
        assert_eq!(short_hash(&header), Some(expected));
        assert_ne!(hash(&header), expected);
        // Nodes of today give the extra data without the committee's seal, and a gas limit and a hash of no uncles that
        // are not hashed.
        let extra_data = without_seal(&header.extra_data).expect("a seal");
        assert!(extra_data.len() < header.extra_data.len());
        let today = Header { extra_data: extra_data.into(), gas_limit: 20_000_000, ..header };
        let today = Header { ommers_hash: EMPTY_OMMER_ROOT_HASH, ..today };
        assert_eq!(short_hash(&today), Some(expected));
        assert_ne!(short_hash(&Header { gas_used: header.gas_used + 1, ..header.clone() }), Some(expected));
        // None of the other fields may have a value that was not hashed.
        for forged in [
            Header { mix_hash: B256::repeat_byte(1), ..header.clone() },
            Header { ommers_hash: B256::repeat_byte(1), ..header.clone() },
            Header { nonce: 1_u64.into(), ..header.clone() },
            Header { withdrawals_root: Some(B256::ZERO), ..header.clone() },
            Header { blob_gas_used: Some(0), ..header.clone() },
            Header { parent_beacon_block_root: Some(B256::ZERO), ..header.clone() },
            Header { requests_hash: Some(B256::ZERO), ..header.clone() },
        ] {
            assert!(short_hash(&forged).is_none() && hash(&forged) != expected, "{forged:?}");
        }
        let mut forged = header.extra_data.to_vec();
        *forged.last_mut().expect("bytes") ^= 1;
        let forged = short_hash(&Header { extra_data: forged.into(), ..header });
        assert_ne!(forged, Some(expected), "the seal of the block below");
    }

    #[test]
    fn extra_data_of_another_form_is_hashed_as_it_is() {
        let (header, _) = header();
        let whole = header.extra_data;
        for other in [&whole[..31], &whole[..40], &[&whole[..], &[0]].concat()[..]] {
            assert_eq!(without_seal(other), None);
        }
        // As since it is a rollup.
        let rollup = Header { extra_data: vec![0; 9].into(), ..Header::default() };
        assert_eq!((hash(&rollup), short_hash(&rollup)), (rollup.hash_slow(), None));
    }
}
