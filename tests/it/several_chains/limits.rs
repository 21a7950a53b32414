//! What clients may take is divided: a chain that many ask leaves the others their part.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use anyhow::ensure;
use xtask::http;

use super::{get, start};
use crate::chains::chain;

/// Clients of the flooded chain: more than have a slot or a turn in the queue.
const CLIENTS: usize = 40;

#[test]
fn a_chain_that_is_flooded_does_not_starve_another() -> anyhow::Result<()> {
    let chains = format!("mainnet={},dev={}", chain("mainnet").name, chain("devchain").name);
    let small = ["--max-reads", "4", "--max-queue", "4", "--queue-timeout", "1s"];
    let uncached = ["--cache-size", "0", "--settled-cache-size", "0"];
    let api = start(&[&["--chain", &chains], &small[..], &uncached].concat(), &["mainnet", "dev"])?;
    let (is_over, refused) = (AtomicBool::new(false), AtomicU64::new(0));
    std::thread::scope(|scope| -> anyhow::Result<()> {
        for _ in 0..CLIENTS {
            scope.spawn(|| {
                let agent = http::agent();
                while !is_over.load(Ordering::Relaxed) {
                    let answer = http::get(&agent, &format!("{}/mainnet/api/v2/blocks", api.url));
                    refused.fetch_add(u64::from(answer.is_ok_and(|answer| answer.status == 503)), Ordering::Relaxed);
                }
            });
        }
        let outcome = (0..30).try_for_each(|_| {
            let answer = get(&format!("{}/dev/api/v2/blocks", api.url))?;
            ensure!(answer.status == 200, "{}: {}", answer.status, answer.text());
            Ok(())
        });
        is_over.store(true, Ordering::Relaxed);
        outcome
    })?;
    ensure!(refused.load(Ordering::Relaxed) > 100, "{refused:?} were refused: that was no flood");
    let metrics = get(&format!("{}/metrics", api.url))?.text();
    ensure!(metrics.contains("trawl_refused_total{what=\"reads\",limit=\"all\",chain=\"dev\"} 0"), "{metrics}");
    api.stop()?;
    Ok(())
}

/// A client has its rate at all chains together.
#[test]
fn rates_are_of_a_client_whatever_chain_it_asks() -> anyhow::Result<()> {
    let chains = format!("mainnet={},dev={}", chain("mainnet").name, chain("devchain").name);
    let api = start(&["--chain", &chains, "--rate-limit", "5/1h"], &["mainnet", "dev"])?;
    let status = |path: &str| Ok::<_, anyhow::Error>(get(&format!("{}{path}", api.url))?.status);
    for name in ["mainnet", "dev", "mainnet", "dev", "mainnet"] {
        ensure!(status(&format!("/{name}/api/v2/blocks"))? == 200, "{name}");
    }
    ensure!(status("/mainnet/api/v2/blocks")? == 429 && status("/dev/api/v2/blocks")? == 429);
    ensure!(status("/v2/api?chainid=1&module=block&action=eth_block_number")? == 429);
    ensure!(status("/health/ready")? == 200);
    api.stop()?;
    Ok(())
}
