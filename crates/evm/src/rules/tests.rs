//! The rules of public chains, and of genesis files.

use super::*;
use trawl_core::primitives::U256;

fn at(schedule: &Schedule, number: u64, timestamp: u64, difficulty: u64) -> Result<SpecId, RulesError> {
    let block = BlockContext { number, timestamp, difficulty: U256::from(difficulty), ..BlockContext::default() };
    schedule.at(&block).map(|rules| rules.fork)
}

#[test]
fn mainnet_follows_its_forks() {
    let mainnet = Schedule::of_chain(1).expect("a known chain");
    // EIP-606, 607, 608, 609, 1716, 1679, 2070, London's EIP-1559; the merge at 15,537,394; EIP-4895 and on by time.
    for (number, time, difficulty, fork) in [
        (1, 1_438_269_988, 1, SpecId::FRONTIER),
        (1_150_000, 0, 1, SpecId::HOMESTEAD),
        (2_463_000, 0, 1, SpecId::TANGERINE),
        (2_675_000, 0, 1, SpecId::SPURIOUS_DRAGON),
        (4_370_000, 0, 1, SpecId::BYZANTIUM),
        (7_280_000, 0, 1, SpecId::PETERSBURG),
        (9_069_000, 0, 1, SpecId::ISTANBUL),
        (12_244_000, 0, 1, SpecId::BERLIN),
        (12_965_000, 0, 1, SpecId::LONDON),
        (15_537_393, 1_663_224_162, 1, SpecId::LONDON),
        (15_537_394, 1_663_224_179, 0, SpecId::MERGE),
        (17_034_870, 1_681_338_455, 0, SpecId::SHANGHAI),
        (19_426_587, 1_710_338_135, 0, SpecId::CANCUN),
        (22_431_084, 1_746_612_311, 0, SpecId::PRAGUE),
        (23_935_694, 1_764_798_551, 0, SpecId::OSAKA),
    ] {
        assert_eq!(at(&mainnet, number, time, difficulty), Ok(fork), "{number}");
    }
}

#[test]
fn a_genesis_has_its_forks() {
    let text = include_str!("../../../../tests/fixtures/hive/genesis.json");
    let genesis: serde_json::Value = serde_json::from_str(text).expect("JSON");
    let hive = Schedule::of_genesis(7, &genesis["config"].to_string()).expect("all known");
    assert_eq!(at(&hive, 2, 20, 1), Ok(SpecId::HOMESTEAD));
    assert_eq!(at(&hive, 11, 110, 1), Ok(SpecId::BYZANTIUM));
    let between = at(&hive, 12, 120, 1).expect_err("never on a public chain").to_string();
    assert_eq!(between, "block 12 follows rules that are not available here: Constantinople without Petersburg");
    assert_eq!(at(&hive, 15, 150, 1), Ok(SpecId::PETERSBURG));
    assert_eq!(at(&hive, 38, 380, 0), Ok(SpecId::MERGE));
    let last = BlockContext { number: 54, timestamp: 540, ..BlockContext::default() };
    let rules = hive.at(&last).expect("known");
    assert_eq!((rules.fork, rules.blobs.map(|blobs| blobs.max_blob_count)), (SpecId::OSAKA, Some(21)));
    let costs = [450, 480, 540].map(|time| hive.blobs_at(time).map(|blobs| blobs.blob_base_cost));
    assert_eq!(costs, [Some(0), Some(8_192), Some(8_192)], "EIP-7918");
}

#[test]
fn an_unknown_rule_is_named() {
    let error = Schedule::of_genesis(10, r#"{"chainId": 10, "optimism": {"eip1559Elasticity": 6}}"#);
    assert_eq!(error, Err(RulesError::UnknownRule("optimism".into())));
}
