//! Real blocks hold, and no single byte of one can change without being caught.

use std::io::{BufRead, BufReader};
use std::path::Path;

use flate2::read::MultiGzDecoder;
use proptest::prelude::*;
use trawl::primitives::B256;
use trawl::store::CommitEdges;

use super::{Depth, Outcome, verify};
use crate::batch::BlockRows;
use crate::block::Block;
use crate::decode::{decode, foreign_fields};
use crate::links::{Link, Links};
use crate::rows::rows;

/// The lines of a recorded chain.
fn lines(name: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures").join(name).join("chain.ndjson.gz");
    let file = std::fs::File::open(path).expect("a fixture");
    BufReader::new(MultiGzDecoder::new(file)).lines().map(|line| line.expect("text")).collect()
}

/// What a database knows of the block below a recorded one.
fn below(text: &str) -> Vec<CommitEdges> {
    let block = decode(text).expect("a recorded block");
    let below = |number: u64| CommitEdges {
        first_block: number,
        first_parent_hash: B256::ZERO,
        last_block: number,
        last_hash: block.header.parent_hash,
        last_total_difficulty: block.total_difficulty.map(|sum| sum - block.header.difficulty),
    };
    block.header.number.checked_sub(1).map(below).into_iter().collect()
}

/// What a load makes of a line: its rows and the word of its verdict, or the name of what refused it.
fn load(text: &str, below: &[CommitEdges]) -> Result<(BlockRows, Outcome), String> {
    let mut block: Block = decode(text).map_err(|error| format!("decoding: {error}"))?;
    let mut outcome = verify(&block, Depth::Full).or_else(|error| {
        block.header.foreign = foreign_fields(text).map_err(|error| error.to_string())?;
        verify(&block, Depth::Full).map_err(|_| format!("{}: {error}", error.check.name()))
    })?;
    Links::new(below).check(Link::of(&block), &mut outcome).map_err(|error| error.check.name().to_owned())?;
    block.header.size = block.header.size.or(outcome.size);
    let rows = rows(block).map_err(|error| format!("timestamp: {error}"))?;
    Ok((rows, outcome))
}

#[test]
fn every_recorded_block_is_verified() {
    for name in ["hive", "devchain", "mainnet"] {
        for line in lines(name) {
            let (rows, outcome) = load(&line, &below(&line)).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(outcome.verdict(Depth::Full), "verified", "{name}: block {}", rows.blocks[0].block_number);
        }
    }
}

/// What a block's hash commits to, and what follows from it: inner call frames and state are a node's word.
fn bound(line: String) -> String {
    let mut parts: serde_json::Map<String, serde_json::Value> = serde_json::from_str(&line).expect("a recorded block");
    parts.retain(|name, _| ["block", "receipts", "uncleHeaders", "totalDifficulty"].contains(&name.as_str()));
    serde_json::to_string(&parts).expect("it was JSON")
}

/// Blocks of every fork that have something of everything, and are short enough to be changed often.
fn subjects() -> Vec<String> {
    let mut subjects: Vec<String> = lines("hive").into_iter().filter(|line| line.len() < 60_000).collect();
    subjects.extend(lines("devchain").into_iter().step_by(11));
    subjects.into_iter().map(bound).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn a_changed_byte_is_refused_or_changes_nothing(
        subject in any::<prop::sample::Index>(),
        position in any::<prop::sample::Index>(),
        digit in prop::sample::select(b"0123456789abcdef\"{}[],:xnt ".to_vec()),
    ) {
        let subjects = SUBJECTS.with(Clone::clone);
        let line = &subjects[subject.index(subjects.len())];
        let below = below(line);
        let (wanted, _) = load(line, &below).expect("it holds");
        let mut changed = line.clone().into_bytes();
        let at = position.index(changed.len());
        changed[at] = digit;
        let Ok(changed) = String::from_utf8(changed) else { return Ok(()) };
        match load(&changed, &below) {
            Err(named) => prop_assert!(!named.is_empty()),
            // Named too: the verdict says which check could not run, and why.
            Ok((_, outcome)) if outcome.verdict(Depth::Full) == "partial" => {}
            Ok((mut found, outcome)) => {
                // A sum under an unknown name is a sum that is not there, and the row says so.
                if found.blocks[0].total_difficulty.is_none() {
                    found.blocks[0].total_difficulty = wanted.blocks[0].total_difficulty;
                }
                // So does a verdict say that a size is not that of the block.
                let names_size = outcome.impossible().iter().any(|check| check.check == "block size");
                let is_absent = decode(&changed).is_ok_and(|block| block.header.size.is_none());
                if names_size || is_absent {
                    found.blocks[0].size = wanted.blocks[0].size;
                }
                for (found, wanted) in found.uncles.iter_mut().zip(&wanted.uncles) {
                    if names_size || found.size.is_none() {
                        found.size = wanted.size;
                    }
                }
                let around = &changed[at.saturating_sub(60)..(at + 20).min(changed.len())];
                prop_assert!(found == wanted, "other rows after a change in {around}");
            }
        }
    }
}

thread_local! {
    static SUBJECTS: std::rc::Rc<Vec<String>> = std::rc::Rc::new(subjects());
}

fn cases() -> u32 {
    if std::env::var_os("TRAWL_TEST_SLOW").is_some() { 60_000 } else { 1_500 }
}
