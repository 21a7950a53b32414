//! What verification costs per core: receipts against stock alloy, and all of a block's checks.
//!
//! Real mainnet blocks; the legs take turns, medians of all rounds. `cargo xtask bench` runs it.

use std::hint::black_box;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::time::{Duration, Instant};

use flate2::read::MultiGzDecoder;
use trawl_chains::ETHEREUM;
use trawl_ingest::block::Block;
use trawl_ingest::decode::decode;
use trawl_ingest::verify::{Depth, Outcome, verify, verify_receipts};

#[path = "load/stock.rs"]
mod stock;

use stock::{AlloyPair, alloy_receipts};

const ROUNDS: usize = 21;

/// Its name, what it does, and how long that took each time.
type Leg<'a> = (&'a str, Box<dyn Fn() + 'a>, Vec<Duration>);

fn main() {
    let blocks = blocks();
    let without_blooms: Vec<Block> = blocks.iter().cloned().map(without_blooms).collect();
    let alloy: Vec<Vec<AlloyPair>> = blocks.iter().map(alloy_receipts).collect();
    let logs: usize = blocks.iter().map(Block::log_count).sum();
    println!("{} mainnet blocks, {logs} logs, one core, medians of {ROUNDS} rounds\n", blocks.len());
    let mut legs: [Leg<'_>; 5] = [
        (
            "alloy: blooms made, receipts root",
            Box::new(|| alloy.iter().for_each(|block| all_of(&stock::stock(block)))),
            Vec::new(),
        ),
        ("trawl: blooms of the source, receipts root", Box::new(|| blocks.iter().for_each(ours)), Vec::new()),
        ("trawl: blooms made, receipts root", Box::new(|| without_blooms.iter().for_each(ours)), Vec::new()),
        ("trawl: every check", Box::new(|| blocks.iter().for_each(|block| all(block, Depth::Full))), Vec::new()),
        ("trawl: header only", Box::new(|| blocks.iter().for_each(|block| all(block, Depth::Header))), Vec::new()),
    ];
    for _ in 0..ROUNDS {
        for (_, leg, times) in &mut legs {
            let start = Instant::now();
            leg();
            times.push(start.elapsed());
        }
    }
    let medians: Vec<f64> = legs.iter_mut().map(|(_, _, times)| median(times)).collect();
    println!("| leg | median ms | alloy / leg |\n|---|---|---|");
    for ((name, _, _), median) in legs.iter().zip(&medians) {
        println!("| {name} | {median:.2} | {:.2} |", medians[0] / median);
    }
}

fn median(times: &mut [Duration]) -> f64 {
    times.sort_unstable();
    times[times.len() / 2].as_secs_f64() * 1000.0
}

fn blocks() -> Vec<Block> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/mainnet/chain.ndjson.gz");
    let file = std::fs::File::open(path).expect("the fixture");
    let lines = BufReader::new(MultiGzDecoder::new(file)).lines();
    lines.map(|line| decode(&line.expect("text")).expect("a block")).collect()
}

fn without_blooms(mut block: Block) -> Block {
    for receipt in block.receipts.iter_mut().flatten() {
        receipt.logs_bloom = None;
    }
    block
}

/// Nothing of it may be left out as unused.
fn all_of(commitment: &stock::Commitment) {
    black_box((commitment.root, commitment.bloom, commitment.blooms.as_slice()));
}

fn ours(block: &Block) {
    let found = block.receipts.as_deref().unwrap_or_default();
    verify_receipts(block, &ETHEREUM, found, &mut Outcome::default()).expect("it holds");
}

fn all(block: &Block, depth: Depth) {
    black_box(verify(block, depth, &ETHEREUM).expect("it holds"));
}
