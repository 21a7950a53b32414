//! Sockets that ask for much and never read.

use std::io::Write as _;
use std::net::TcpStream;
use std::time::Duration;

use crate::bed::Bed;
use crate::chain::Size;
use crate::clients::Crowd;
use crate::pace::{Growing, Pace};
use crate::processes::resident;
use crate::report::{Bound, Report, figure};
use crate::{Flags, progress};

/// Sockets that never read.
const SOCKETS: usize = 200;

/// What others notice of them.
pub fn measure(bed: &mut Bed, flags: &Flags, size: Size, report: &mut Report) -> anyhow::Result<()> {
    let target = bed.target()?;
    target.catch_up(&crate::clients::agent())?;
    let growing = Growing::start(&bed.chain, Pace { rate: 1., size, reorganise_every: None });
    let (engine, api) = (bed.engine.id(), bed.api.as_ref().map_or(0, |api| api.id()));
    let calm = asked(&target, flags.seconds);
    let before = [engine, api].map(resident);
    let head = bed.sql("SELECT max(head_block) FROM ingest_heads")?;
    let host = target.url.trim_start_matches("http://").to_owned();
    let mut sockets = Vec::new();
    for _ in 0..SOCKETS {
        let Ok(mut socket) = TcpStream::connect(&host) else { break };
        let path = "/api/v2/logs?format=ndjson&fromBlock=0&toBlock=latest";
        // One that is not taken is one that does no harm.
        let _ = write!(socket, "GET {path} HTTP/1.1\r\nhost: {host}\r\n\r\n");
        sockets.push(socket);
    }
    progress(&format!("{} sockets that never read, for {} s", sockets.len(), flags.attack_seconds));
    let hit = asked(&target, flags.attack_seconds);
    let after = [engine, api].map(resident);
    // A busy engine may not answer this either.
    let now = bed.sql("SELECT max(head_block) FROM ingest_heads").unwrap_or_else(|error| format!("{error:#}"));
    growing.stop()?;
    drop(sockets);
    let runs = bed.follow.as_mut().is_some_and(crate::processes::Follower::runs);
    std::thread::sleep(Duration::from_secs(2));
    let row = vec![
        figure(calm.0),
        figure(hit.0),
        format!("{} of {}", hit.1, hit.2),
        format!("{head} → {now}, {}", if runs { "runs" } else { "ended" }),
        format!("{:.0} → {:.0}", before[0], after[0]),
        format!("{:.0} → {:.0}", before[1], after[1]),
    ];
    let columns =
        ["p99 ms before", "p99 ms meanwhile", "failed or refused", "head of `follow`", "engine MiB", "API MiB"];
    let title =
        format!("{SOCKETS} sockets that ask for all logs and never read, {} s, 8 other clients", flags.attack_seconds);
    report.table(&title, &columns, &[row]);
    report.goal("sockets that never read: p99 of others / before", "", hit.0 / calm.0, Bound::AtMost(2.));
    report.goal("the same: answers failed or refused", "", hit.1 as f64, Bound::AtMost(0.));
    Ok(())
}

/// The slowest of 100 in milliseconds, how many failed, and how many there were.
fn asked(target: &crate::clients::Target, seconds: f64) -> (f64, u64, usize) {
    let crowd = Crowd::start(target, 8);
    std::thread::sleep(Duration::from_secs_f64(seconds));
    let (tally, _) = crowd.stop();
    let all = tally.sum();
    (all.quantile(0.99), all.failed + all.refused + all.broken_alone, all.times.len())
}
