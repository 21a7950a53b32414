//! Which chain is of which family.

use std::collections::BTreeSet;

use crate::families::{
    ARBITRUM, AUTHORITY_ROUND, AVALANCHE, BNB, CELO, COSMOS, FRONTIER, HYPEREVM, OPTIMISM, POLYGON, SCROLL, STABLE,
    TEMPO, ZKSYNC,
};
use crate::family::Family;

pub use crate::families::ETHEREUM;

/// Every family, with the ids of its chains (<https://chainlist.org>, and the documents of the chains).
static FAMILIES: [(&Family, &[u64]); 15] = [
    (&ETHEREUM, &[1, 5, 11_155_111, 17_000, 560_048]),
    // OP Mainnet, Kovan, Goerli, Sepolia; Base with Goerli and Sepolia; opBNB; Mantle; Blast; World; Unichain; Ink; Soneium;
    // Zora; Mode; MegaETH with its testnets; Lisk; Fraxtal; Worldchain Sepolia; Redstone; Cyber; Metal; Swell; Superseed.
    (
        &OPTIMISM,
        &[
            10,
            69,
            420,
            11_155_420,
            8453,
            84_531,
            84_532,
            204,
            5611,
            5000,
            5003,
            81_457,
            168_587_773,
            480,
            4801,
            130,
            1301,
            57_073,
            763_373,
            1868,
            1946,
            7_777_777,
            999_999_999,
            34_443,
            919,
            4326,
            6342,
            6343,
            1135,
            252,
            690,
            7560,
            1750,
            1923,
            5330,
        ],
    ),
    (&CELO, &[42_220, 44_787, 62_320, 11_142_220]),
    // One, Nova, Sepolia, Goerli; ApeChain; Xai; Sanko; Degen; Robinhood's testnet.
    (&ARBITRUM, &[42_161, 42_170, 421_614, 421_613, 33_139, 660_279, 1996, 666_666_666, 46_630]),
    // Polygon, Mumbai, Amoy; Shibarium.
    (&POLYGON, &[137, 80_001, 80_002, 109]),
    (&BNB, &[56, 97]),
    // Gnosis, Chiado; Sokol, POA, Energy Web, Volta, Fuse.
    (&AUTHORITY_ROUND, &[100, 10_200, 77, 99, 246, 73_799, 122]),
    (&AVALANCHE, &[43_114, 43_113]),
    (&SCROLL, &[534_352, 534_351]),
    (&TEMPO, &[4217, 42_431]),
    (&HYPEREVM, &[999, 998]),
    // Era, its testnets; Abstract, Lens, Sophon.
    (&ZKSYNC, &[324, 300, 280, 2741, 232, 50_104]),
    // Cronos, its testnet; Evmos; Kava.
    (&COSMOS, &[25, 338, 9001, 9000, 2222]),
    (&STABLE, &[988, 2201]),
    // Moonbeam, Moonriver, Moonbase; Astar; Bittensor with its testnet.
    (&FRONTIER, &[1284, 1285, 1287, 592, 964, 945]),
];

/// The family of a chain; Ethereum's rules for a chain that is not listed.
#[must_use]
pub fn by_chain_id(chain_id: u64) -> &'static Family {
    listed(chain_id).unwrap_or(&ETHEREUM)
}

/// The family of a chain that is listed.
#[must_use]
pub fn listed(chain_id: u64) -> Option<&'static Family> {
    FAMILIES.iter().find(|(_, chains)| chains.contains(&chain_id)).map(|(family, _)| *family)
}

/// The family of a chain whose operator may have `stated` one, by its name.
#[must_use]
pub fn of_chain(chain_id: u64, stated: Option<&str>) -> &'static Family {
    stated.and_then(by_name).unwrap_or_else(|| by_chain_id(chain_id))
}

/// The family of a name.
#[must_use]
pub fn by_name(name: &str) -> Option<&'static Family> {
    FAMILIES.iter().map(|(family, _)| *family).find(|family| family.name == name)
}

/// The names of all families.
pub fn names() -> impl Iterator<Item = &'static str> {
    FAMILIES.iter().map(|(family, _)| family.name)
}

/// The paths of all families' lists of messages to L1.
#[must_use]
pub fn message_paths() -> BTreeSet<&'static str> {
    FAMILIES.iter().filter_map(|(family, _)| Some(family.messages?.path)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_is_of_one_family_and_a_name_of_one() {
        let mut ids: Vec<u64> = FAMILIES.iter().flat_map(|(_, chains)| chains.iter().copied()).collect();
        let all = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), all);
        let mut names: Vec<&str> = FAMILIES.iter().map(|(family, _)| family.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), FAMILIES.len());
        assert_eq!(by_chain_id(8453).name, "optimism");
        assert_eq!(by_chain_id(1337).name, "ethereum");
    }

    #[test]
    fn a_byte_is_of_one_type_in_a_family() {
        for (family, _) in &FAMILIES {
            let mut bytes: Vec<u8> = family.transaction_types.iter().map(|known| known.byte).collect();
            bytes.sort_unstable();
            bytes.dedup();
            assert_eq!(bytes.len(), family.transaction_types.len(), "{}", family.name);
            assert!(bytes.iter().all(|byte| *byte > 4), "{}: Ethereum's types are Ethereum's", family.name);
        }
    }
}
