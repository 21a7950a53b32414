//! How long a head that is committed takes to be readable, over HTTP and over a WebSocket.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use alloy_primitives::B256;

use crate::Flags;
use crate::bed::TestBed;
use crate::chain::Size;
use crate::clients::{Target, agent};
use crate::pace::{GrowingChain, Pace};
use crate::report::{Bound, Report, figure};
use crate::sockets::Subscriber;
use crate::tally::quantile;

/// Measures it at four blocks a second.
pub fn measure(bed: &TestBed, flags: &Flags, size: Size, report: &mut Report) -> anyhow::Result<()> {
    let target = bed.target()?;
    let first = target.tip_number() + 1;
    let subscriber = Subscriber::start(&target.url, &bed.chain, 6)?;
    let stop = Arc::new(AtomicBool::new(false));
    let poller = std::thread::spawn({
        let stop = Arc::clone(&stop);
        move || poll(&target, &stop)
    });
    std::thread::sleep(Duration::from_millis(500));
    let growing = GrowingChain::start(&bed.chain, Pace { rate: 4., size, reorganise_every: None });
    std::thread::sleep(Duration::from_secs_f64(flags.seconds));
    growing.stop()?;
    bed.wait_until_followed()?;
    std::thread::sleep(Duration::from_secs(1));
    stop.store(true, Ordering::Relaxed);
    let over_http = poller.join().unwrap_or_default();
    let (received, _) = subscriber.stop(&bed.chain);
    // The row is made right before it is written, so the time of the write is part of the delay.
    let sql = format!(
        "SELECT head_block, min(toUnixTimestamp64Micro(written_at)) FROM ingest_heads WHERE head_block >= {first} GROUP BY 1"
    );
    let text = bed.sql(&sql)?;
    let mut rows = Vec::new();
    for (name, shown) in [("HTTP", &over_http), ("WebSocket", &received.heads)] {
        let delays = delays(bed, &text, shown);
        let (middle, high) = (quantile(&delays, 0.5), quantile(&delays, 0.99));
        rows.push(vec![name.into(), delays.len().to_string(), figure(middle), figure(high)]);
        report.goal(format!("new head committed → readable over {name}, p99"), " ms", high, Bound::AtMost(60.));
    }
    report.table("A head is committed and readable, ms", &["over", "heads", "p50", "p99"], &rows);
    if let Some(why) = received.ended {
        report.fact(format!("The WebSocket of this was disconnected: {why}."));
    }
    Ok(())
}

/// Asks for the newest block again and again; when each was there first.
fn poll(target: &Target, stop: &AtomicBool) -> HashMap<B256, SystemTime> {
    let (agent, mut found) = (agent(), HashMap::new());
    let url = format!("{}/api/eth-rpc", target.url);
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"eth_getBlockByNumber","params":["latest",false]}"#;
    while !stop.load(Ordering::Relaxed) {
        let sent = agent.post(&url).header("content-type", "application/json").send(body);
        let answer = sent.ok().and_then(|mut response| response.body_mut().read_to_string().ok());
        let answer: Option<serde_json::Value> = answer.and_then(|text| serde_json::from_str(&text).ok());
        if let Some(hash) = answer.and_then(|answer| answer["result"]["hash"].as_str()?.parse().ok()) {
            found.entry(hash).or_insert_with(SystemTime::now);
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    found
}

fn delays(bed: &TestBed, committed: &str, shown: &HashMap<B256, SystemTime>) -> Vec<f64> {
    let model = bed.chain.model();
    let delay = |line: &str| {
        let (number, micros) = line.split_once('\t')?;
        let block_index = model.on_branch(model.tip(), number.parse().ok()?)?;
        let shown = shown.get(&model.at(block_index).hash)?.duration_since(UNIX_EPOCH).ok()?;
        Some(shown.as_secs_f64() * 1e3 - micros.parse::<f64>().ok()? / 1e3)
    };
    committed.lines().filter_map(delay).collect()
}
