//! What following costs: an empty block, a full one, the same rows in bulk, and an idle minute.

use std::time::{Duration, Instant};

use crate::bed::TestBed;
use crate::chain::Size;
use crate::pace::{GrowingChain, Pace};
use crate::processes::processor;
use crate::report::{Bound, Report, figure};
use crate::{Flags, progress};

const EMPTY: Size = Size { transactions: 0, logs: 0 };

/// Lets the chain grow by a round of blocks, one after the other.
fn grow(bed: &TestBed, blocks: u64, size: Size) -> anyhow::Result<()> {
    for _ in 0..blocks {
        let step = bed.chain.prepare(0, size)?;
        bed.chain.show(step);
        bed.wait_until_taken()?;
    }
    bed.wait_until_followed()
}

/// Milliseconds of the engine and of `follow` a block.
fn followed(bed: &TestBed, blocks: u64, size: Size) -> anyhow::Result<[f64; 2]> {
    // A round before it, so that the blocks that are settled meanwhile are of the same size.
    grow(bed, blocks, size)?;
    std::thread::sleep(Duration::from_secs(2));
    bed.rest()?;
    let idle = bed.idle(5.)?;
    let (before, started) = (bed.spent()?, Instant::now());
    grow(bed, blocks, size)?;
    // What is written later than the head, and merged, is part of it.
    std::thread::sleep(Duration::from_secs(2));
    bed.rest()?;
    let (after, took) = (bed.spent()?, started.elapsed().as_secs_f64());
    let of = |process: usize| (after[process] - before[process] - idle[process] * took) * 1e3 / blocks as f64;
    Ok([of(0), of(2)])
}

/// The follower alone, without an API.
pub fn measure(bed: &mut TestBed, flags: &Flags, size: Size, report: &mut Report) -> anyhow::Result<()> {
    let blocks = flags.cost_blocks;
    let at_once = blocks.to_string();
    bed.follow_with(Duration::from_millis(100), &["--settle-blocks", &at_once, "--settle-interval", "1ms"])?;
    bed.wait_until_followed()?;
    let empty = followed(bed, blocks, EMPTY)?;
    progress(&format!("an empty block: {:.1} ms of the engine", empty[0]));
    let full = followed(bed, blocks, size)?;
    let last = {
        let model = bed.chain.model();
        model.at(model.tip()).number
    };
    let (first, last_text) = ((last + 1 - blocks).to_string(), last.to_string());
    bed.launch.ingest(&bed.engine.url, "bulk", &["migrate"])?;
    bed.rest()?;
    let before = processor(bed.engine.id())?;
    let load = ["load", "--rpc-url", &bed.node.url, "--from", &first, "--to", &last_text];
    bed.launch.ingest(&bed.engine.url, "bulk", &load)?;
    let until_committed = processor(bed.engine.id())? - before;
    bed.rest()?;
    let with_merges = processor(bed.engine.id())? - before;
    bed.sql("DROP DATABASE bulk SYNC")?;
    let bulk = with_merges * 1e3 / blocks as f64;
    let rows = [
        vec!["`follow`, an empty block".into(), figure(empty[0]), figure(empty[1])],
        vec![
            format!("`follow`, {} transactions, {} logs", size.transactions, size.logs),
            figure(full[0]),
            figure(full[1]),
        ],
        vec!["`load`, a block of the same".into(), figure(bulk), String::new()],
        vec![
            "`load`, without the merges after it".into(),
            figure(until_committed * 1e3 / blocks as f64),
            String::new(),
        ],
    ];
    report.table("What writing costs, ms of CPU a block (merges included)", &["", "engine", "follow"], &rows);
    report.goal("engine CPU of `follow` for an empty block", " ms", empty[0], Bound::AtMost(15.));
    report.goal("engine CPU of `follow` for a full block / a bulk load's", "", full[0] / bulk, Bound::AtMost(2.));
    Ok(())
}

/// The engine with one API and `follow` at an empty block a second, without clients.
pub fn idle(bed: &TestBed, flags: &Flags, report: &mut Report) -> anyhow::Result<()> {
    // What is settled meanwhile is empty too.
    bed.chain.grow(usize::try_from(flags.final_after)?, EMPTY)?;
    bed.wait_until_followed()?;
    std::thread::sleep(Duration::from_secs(5));
    bed.rest()?;
    let pace = Pace { rate: 1., size: EMPTY, reorganise_every: None };
    let growing = GrowingChain::start(&bed.chain, pace);
    let shares = bed.idle(flags.idle_seconds)?;
    growing.stop()?;
    let row = shares.map(|share| format!("{} %", figure(share * 100.))).to_vec();
    report.table("Idle at an empty block a second, share of a core", &["engine", "API", "follow"], &[row]);
    report.goal("idle engine CPU, share of a core", " %", shares[0] * 100., Bound::AtMost(4.));
    Ok(())
}
