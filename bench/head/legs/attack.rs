//! Clients that take slots and memory: the effect on others, on `follow` and on memory.

use std::any::Any;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tungstenite::Message;
use xtask::process::Server;

use crate::bed::TestBed;
use crate::chain::Size;
use crate::clients::{ClientPool, Target};
use crate::pace::{GrowingChain, Pace};
use crate::processes::{Follower, resident};
use crate::report::{Bound, Report, figure};
use crate::sockets::connect;
use crate::{Flags, progress};

/// What stays open until the attack ends.
type OpenConnections = Vec<Box<dyn Any>>;

/// A kind of malicious clients.
struct Attack {
    name: &'static str,
    start: fn(&str) -> OpenConnections,
}

/// Those of the findings, the first one part of every run.
const ATTACKS: [Attack; 5] = [
    Attack { name: "200 sockets that ask for all logs and never read", start: unread_scans },
    Attack { name: "60 bodies of 20 MB that stop before their end", start: unfinished_bodies },
    Attack { name: "40 WebSockets that ask for 20 MB and never read", start: unread_sockets },
    Attack { name: "1,100 half-sent request heads", start: unfinished_heads },
    Attack { name: "200 wide scans that are read", start: read_scans },
];

fn unread_scans(host: &str) -> OpenConnections {
    many(200, host, |socket| request_scan(socket, "all"))
}

fn unfinished_bodies(host: &str) -> OpenConnections {
    many(60, host, |socket| {
        let length = 20_000_000;
        write!(socket, "POST /api/eth-rpc HTTP/1.1\r\nhost: all\r\ncontent-type: application/json\r\n")?;
        write!(socket, "content-length: {length}\r\n\r\n[\"")?;
        let piece = vec![b'a'; 1 << 20];
        let mut left = length - 10;
        while left > 0 {
            let some = left.min(piece.len());
            socket.write_all(&piece[..some])?;
            left -= some;
        }
        Ok(())
    })
}

fn unread_sockets(host: &str) -> OpenConnections {
    let call = |id: u64| json!({"jsonrpc": "2.0", "id": id, "method": "eth_getBlockReceipts", "params": ["latest"]});
    let batch = json!((0..40).map(call).collect::<Vec<_>>()).to_string();
    let open = |_| -> Option<Box<dyn Any>> {
        let mut socket = connect(host).ok()?;
        socket.send(Message::text(batch.clone())).ok()?;
        Some(Box::new(socket))
    };
    (0..40).filter_map(open).collect()
}

fn unfinished_heads(host: &str) -> OpenConnections {
    many(1_100, host, |socket| write!(socket, "GET /api/v2/blocks HTTP/1.1\r\nhost: "))
}

/// Clients that scan again and again; they end when what is held is dropped.
fn read_scans(host: &str) -> OpenConnections {
    let stop = Arc::new(());
    for _ in 0..200 {
        let (host, stop) = (host.to_owned(), Arc::downgrade(&stop));
        std::thread::spawn(move || {
            while stop.upgrade().is_some() {
                let Ok(mut socket) = TcpStream::connect(&host) else { continue };
                // A scan that is refused or breaks off is followed by the next one.
                let _ = socket.set_read_timeout(Some(Duration::from_secs(5)));
                let _ = request_scan(&mut socket, &host);
                let mut piece = vec![0; 1 << 16];
                while stop.upgrade().is_some() && socket.read(&mut piece).is_ok_and(|bytes| bytes > 0) {}
            }
        });
    }
    vec![Box::new(stop)]
}

fn request_scan(socket: &mut TcpStream, host: &str) -> std::io::Result<()> {
    let path = "/api/v2/scan/logs?format=ndjson&fromBlock=0&toBlock=latest";
    write!(socket, "GET {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n")
}

/// So many sockets on which something was sent, or as much of it as the server took.
fn many(count: usize, host: &str, send: fn(&mut TcpStream) -> std::io::Result<()>) -> OpenConnections {
    let open = |_| -> Option<Box<dyn Any>> {
        let mut socket = TcpStream::connect(host).ok()?;
        socket.set_write_timeout(Some(Duration::from_secs(1))).ok()?;
        // What the server does not take does it no harm.
        let _ = send(&mut socket);
        Some(Box::new(socket))
    };
    (0..count).filter_map(open).collect()
}

/// The first attack, or all of them.
pub fn measure(bed: &mut TestBed, flags: &Flags, size: Size, report: &mut Report) -> anyhow::Result<()> {
    let all = flags.parts.iter().any(|part| part == "attacks");
    let mut rows = Vec::new();
    for attack in &ATTACKS[..if all { ATTACKS.len() } else { 1 }] {
        progress(&format!("{}, for {} s", attack.name, flags.attack_seconds));
        rows.push(measure_one(bed, flags, size, attack, report)?);
    }
    let columns = [
        "attack",
        "p99 ms before",
        "p99 ms meanwhile",
        "failed or refused",
        "blocks `follow` went on by",
        "engine MiB, most",
        "API MiB, most",
    ];
    report.table(&format!("Attacks of {} s, beside 8 other clients", flags.attack_seconds), &columns, &rows);
    Ok(())
}

fn measure_one(
    bed: &mut TestBed,
    flags: &Flags,
    size: Size,
    attack: &Attack,
    report: &mut Report,
) -> anyhow::Result<Vec<String>> {
    // A new process, since an old one may retain memory.
    bed.serve()?;
    let target = bed.target()?;
    let growing = GrowingChain::start(&bed.chain, Pace { rate: 1., size, reorganise_every: None });
    let processes = [bed.engine.id(), bed.api.as_ref().map_or(0, Server::id)];
    let calm = impact(&target, flags.seconds, processes);
    let before = processes.map(resident);
    let head: u64 = bed.sql("SELECT max(head_block) FROM ingest_heads")?.parse()?;
    let usual = open_files(None)?;
    let held = (attack.start)(target.url.trim_start_matches("http://"));
    let hit = impact(&target, flags.attack_seconds, processes);
    growing.stop()?;
    drop(held);
    // Programs that are started later inherit it.
    open_files(Some(usual))?;
    std::thread::sleep(Duration::from_secs(3));
    let now: u64 = bed.sql("SELECT max(head_block) FROM ingest_heads")?.parse()?;
    let runs = bed.follow.as_mut().is_some_and(Follower::runs);
    let growth = |of: usize| hit.most[of] - before[of];
    report.goal(format!("{}: p99 of others / before", attack.name), "", hit.p99 / calm.p99, Bound::AtMost(2.));
    report.goal(format!("{}: growth of the API", attack.name), " MiB", growth(1), Bound::AtMost(256.));
    Ok(vec![
        attack.name.into(),
        figure(calm.p99),
        figure(hit.p99),
        format!("{} of {}", hit.lost, hit.answers),
        format!("{}{}", now - head, if runs { "" } else { ", then ended" }),
        format!("{:.0} → {:.0}", before[0], hit.most[0]),
        format!("{:.0} → {:.0}", before[1], hit.most[1]),
    ])
}

/// The effect on other clients.
struct AttackImpact {
    /// 99th percentile of their waits, in milliseconds.
    p99: f64,
    lost: u64,
    answers: usize,
    /// The most memory of the engine and of the API, in MiB.
    most: [f64; 2],
}

fn impact(target: &Target, seconds: f64, processes: [u32; 2]) -> AttackImpact {
    let crowd = ClientPool::start(target, 8);
    let mut most = [0_f64; 2];
    for _ in 0..(seconds * 10.) as u64 {
        std::thread::sleep(Duration::from_millis(100));
        for (most, process) in most.iter_mut().zip(processes) {
            *most = most.max(resident(process));
        }
    }
    let (tally, _) = crowd.stop();
    let all = tally.sum();
    let lost = all.failed + all.refused + all.broken_alone;
    AttackImpact { p99: all.quantile(0.99), lost, answers: all.times.len(), most }
}

/// Sets how many files this process may have open, or lets it have as many as the system does; how many it could
/// before.
fn open_files(requested: Option<libc::rlim_t>) -> anyhow::Result<libc::rlim_t> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the call writes to the address it is given and to nothing else.
    let read = unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) };
    let before = limit.rlim_cur;
    limit.rlim_cur = requested.unwrap_or(limit.rlim_max);
    // SAFETY: the call reads from the address it is given.
    let set = unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) };
    anyhow::ensure!(read == 0 && set == 0, "the limit of open files cannot be set");
    Ok(before)
}
