//! The forks of chains other than Ethereum, at the blocks where they begin and at the last ones before.

use trawl_chains::Tips;
use trawl_core::primitives::{B256, U256};

use crate::{BlockContext, Rules, RulesError, Schedule};
use revm::primitives::hardfork::SpecId;

const GNOSIS: u64 = 100;
const POLYGON: u64 = 137;
const BNB: u64 = 56;
const AVALANCHE: u64 = 43_114;
const ARBITRUM: u64 = 42_161;

/// The rules at a block with a difficulty.
fn rules(chain: u64, number: u64, timestamp: u64) -> Result<Rules, RulesError> {
    let difficulty = U256::from(2);
    at(chain, &BlockContext { number, timestamp, difficulty, ..BlockContext::default() })
}

fn at(chain: u64, block: &BlockContext) -> Result<Rules, RulesError> {
    Schedule::of_chain(chain).expect("a known chain").at(block)
}

/// At each start the fork of Ethereum is another one than a block or a second before.
fn begins(chain: u64, number: u64, timestamp: u64, forks: [SpecId; 2]) {
    let is_time = timestamp > 0;
    let before = if is_time { rules(chain, number, timestamp - 1) } else { rules(chain, number - 1, 0) };
    let found = [before, rules(chain, number, timestamp)].map(|rules| rules.map(|rules| rules.fork));
    assert_eq!(found, forks.map(Ok), "chain {chain}, block {number}, time {timestamp}");
}

#[test]
fn gnosis_follows_its_forks() {
    for (number, forks) in [
        (7_298_030, [SpecId::PETERSBURG, SpecId::ISTANBUL]),
        (16_101_500, [SpecId::ISTANBUL, SpecId::BERLIN]),
        (19_040_000, [SpecId::BERLIN, SpecId::LONDON]),
    ] {
        begins(GNOSIS, number, 0, forks);
    }
    for (time, forks) in [
        (1_690_889_660, [SpecId::LONDON, SpecId::SHANGHAI]),
        (1_710_181_820, [SpecId::SHANGHAI, SpecId::CANCUN]),
        (1_746_021_820, [SpecId::CANCUN, SpecId::PRAGUE]),
        (1_776_168_380, [SpecId::PRAGUE, SpecId::OSAKA]),
    ] {
        begins(GNOSIS, 30_000_000, time, forks);
    }
    assert_eq!(rules(GNOSIS, 1, 0).map(|rules| rules.fork), Ok(SpecId::BYZANTIUM));
    // Only the difficulty shows the merge.
    let merged = BlockContext { number: 26_000_000, timestamp: 1_680_000_000, ..BlockContext::default() };
    assert_eq!(at(GNOSIS, &merged).map(|rules| rules.fork), Ok(SpecId::MERGE));
    let refused = rules(GNOSIS, 1_604_400, 0).expect_err("never on Ethereum").to_string();
    assert!(
        refused.contains("block 1604400 follows Constantinople of chain 100, whose rules are not known"),
        "{refused}"
    );
    assert!(rules(GNOSIS, 2_508_800, 0).is_ok());
    // A blob costs one gwei at least.
    let blobs = rules(GNOSIS, 40_000_000, 1_750_000_000).expect("known").blobs.expect("since Cancun");
    assert_eq!((blobs.max_blob_count, blobs.calc_blob_fee(0)), (2, 1_000_000_000));
    let chiado = |time| rules(10_200, 1, time).map(|rules| rules.fork);
    assert_eq!((chiado(1_684_934_219), chiado(1_773_653_580)), (Ok(SpecId::LONDON), Ok(SpecId::OSAKA)));
}

#[test]
fn polygon_follows_its_forks() {
    for (number, forks) in [
        (3_395_000, [SpecId::PETERSBURG, SpecId::ISTANBUL]),
        (14_750_000, [SpecId::ISTANBUL, SpecId::BERLIN]),
        (23_850_000, [SpecId::BERLIN, SpecId::LONDON]),
        (50_523_000, [SpecId::LONDON, SpecId::SHANGHAI]),
        (54_876_000, [SpecId::SHANGHAI, SpecId::CANCUN]),
        (73_440_256, [SpecId::CANCUN, SpecId::PRAGUE]),
        (83_756_500, [SpecId::PRAGUE, SpecId::OSAKA]),
    ] {
        begins(POLYGON, number, 0, forks);
    }
    assert_eq!(rules(POLYGON, 60_000_000, 0).map(|rules| rules.blobs), Ok(None));
    let longest = |number| rules(POLYGON, number, 0).expect("known").chain.and_then(|chain| chain.longest_code);
    assert_eq!((longest(62_278_655), longest(62_278_656)), (None, Some(32_768)));
    assert!(rules(POLYGON, 87_218_599, 0).is_ok());
    let refused = rules(POLYGON, 87_218_600, 0).expect_err("not known").to_string();
    assert!(refused.contains("follows Chicago of chain 137") && refused.contains("PIP-88"), "{refused}");
    let amoy = |number| rules(80_002, number, 0).map(|rules| rules.fork);
    assert_eq!((amoy(73_099), amoy(73_100)), (Ok(SpecId::BERLIN), Ok(SpecId::SHANGHAI)));
    assert!(amoy(31_890_000).is_err());
}

#[test]
fn bnb_follows_its_forks() {
    begins(BNB, 31_302_048, 0, [SpecId::ISTANBUL, SpecId::LONDON]);
    for (time, forks) in [
        (1_705_996_800, [SpecId::LONDON, SpecId::SHANGHAI]),
        (1_718_863_500, [SpecId::SHANGHAI, SpecId::CANCUN]),
        (1_742_436_600, [SpecId::CANCUN, SpecId::PRAGUE]),
        (1_777_343_400, [SpecId::PRAGUE, SpecId::OSAKA]),
    ] {
        begins(BNB, 35_000_000, time, forks);
    }
    let blobs = rules(BNB, 50_000_000, 1_750_000_000).expect("known").blobs.expect("since Cancun");
    assert_eq!((blobs.max_blob_count, blobs.calc_blob_fee(0)), (6, 1));
    let refused = rules(BNB, 120_000_000, 1_787_625_000).expect_err("not known").to_string();
    assert!(refused.contains("follows Pasteur of chain 56"), "{refused}");
    let chapel = |time| rules(97, 40_000_000, time).map(|rules| rules.fork);
    assert_eq!((chapel(1_713_330_441), chapel(1_713_330_442)), (Ok(SpecId::SHANGHAI), Ok(SpecId::CANCUN)));
    assert!(chapel(1_748_243_100).is_err());
}

#[test]
fn avalanche_follows_its_forks() {
    for (time, forks) in [
        (1_629_813_600, [SpecId::BERLIN, SpecId::LONDON]),
        (1_709_740_800, [SpecId::LONDON, SpecId::SHANGHAI]),
        (1_734_368_400, [SpecId::SHANGHAI, SpecId::CANCUN]),
    ] {
        begins(AVALANCHE, 5_000_000, time, forks);
    }
    let before = rules(AVALANCHE, 1_640_339, 1_620_644_399).expect_err("other instructions").to_string();
    assert!(before.contains("before Apricot Phase 2"), "{before}");
    let fuji = |time| rules(43_113, 1, time).map(|rules| rules.fork);
    assert_eq!((fuji(1_707_839_999), fuji(1_707_840_000)), (Ok(SpecId::LONDON), Ok(SpecId::SHANGHAI)));
}

/// A header that tells a version, and has a flag.
fn of_version(version: u64, flags: u8) -> BlockContext {
    let mut mix_hash = B256::ZERO;
    mix_hash[16..24].copy_from_slice(&version.to_be_bytes());
    mix_hash[25] = flags;
    BlockContext { number: 200_000_000, difficulty: U256::from(1), mix_hash: Some(mix_hash), ..BlockContext::default() }
}

#[test]
fn arbitrum_follows_the_version_in_its_headers() {
    for (version, fork) in [
        (1, SpecId::MERGE),
        (10, SpecId::MERGE),
        (11, SpecId::SHANGHAI),
        (20, SpecId::CANCUN),
        (32, SpecId::CANCUN),
        (40, SpecId::PRAGUE),
        (51, SpecId::OSAKA),
        (61, SpecId::OSAKA),
    ] {
        for chain in [ARBITRUM, 42_170, 421_614, 33_139] {
            let found = at(chain, &of_version(version, 0)).map(|rules| (rules.fork, rules.tips));
            assert_eq!(found, Ok((fork, Tips::Dropped)), "{version}");
        }
    }
    assert_eq!(at(ARBITRUM, &of_version(51, 1)).map(|rules| rules.tips), Ok(Tips::Paid), "a flag says so");
    let classic = at(ARBITRUM, &of_version(0, 0)).expect_err("before Nitro").to_string();
    assert!(classic.contains("before ArbOS 1"), "{classic}");
    let later = at(ARBITRUM, &of_version(62, 0)).expect_err("not known").to_string();
    assert!(later.contains("follows ArbOS 62 of chain 42161"), "{later}");
}

#[test]
fn transactions_whose_fees_are_not_known_do_not_run_again() {
    for chain in [GNOSIS, POLYGON, BNB] {
        let rules = rules(chain, 50_000_000, 1_700_000_000).expect("known");
        let refused = rules.require_transactions().expect_err("not known").to_string();
        assert!(refused.starts_with(&format!("transactions of chain {chain} cannot be replayed here")), "{refused}");
    }
    assert_eq!(rules(10, 120_000_000, 1_750_000_000).expect("known").require_transactions(), Ok(()));
    assert_eq!(rules(1, 120_000_000, 1_750_000_000).expect("known").require_transactions(), Ok(()));
}
