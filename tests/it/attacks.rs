//! Clients that take what they can and give nothing: the API's memory stays within its bounds, and others are answered.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use serde_json::json;
use socket2::{Domain, Socket, Type};
use xtask::http;
use xtask::process::Server;

use crate::env;
use crate::scan::slow::serving;

mod load;

/// Growth that is allowed beside a budget, in MiB.
const SLACK: u64 = 256;

/// The memory of a process now, in MiB.
fn memory(id: u32) -> anyhow::Result<u64> {
    let status = std::fs::read_to_string(format!("/proc/{id}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("VmRSS")?;
    Ok(line.trim().trim_end_matches("kB").trim().parse::<u64>()? / 1024)
}

/// The most memory that a process has during `attack`, beyond what it has now, in MiB.
fn growth<T>(id: u32, attack: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<(u64, T)> {
    let before = memory(id)?;
    let (ended, end) = std::sync::mpsc::channel::<()>();
    let watching = std::thread::spawn(move || {
        let mut most = 0;
        while end
            .recv_timeout(Duration::from_millis(50))
            .is_err_and(|error| error == std::sync::mpsc::RecvTimeoutError::Timeout)
        {
            most = memory(id)?.max(most);
        }
        anyhow::Ok(most)
    });
    let outcome = attack();
    drop(ended);
    let most = watching.join().map_err(|_| anyhow::anyhow!("the thread panicked"))??;
    Ok((most.saturating_sub(before), outcome?))
}

/// A connection from an address of this machine, which counts for a client of its own.
fn connect_from(source: &str, api: &str) -> anyhow::Result<TcpStream> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
    socket.bind(&format!("{source}:0").parse::<SocketAddr>()?.into())?;
    socket.connect(&api.trim_start_matches("http://").parse::<SocketAddr>()?.into())?;
    let stream = TcpStream::from(socket);
    stream.set_read_timeout(Some(Duration::from_secs(30)))?;
    stream.set_write_timeout(Some(Duration::from_secs(10)))?;
    Ok(stream)
}

/// Sends a request for `path` and does not read.
fn ask(connection: &mut TcpStream, path: &str) -> anyhow::Result<()> {
    Ok(write!(connection, "GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")?)
}

/// The whole answer from another address.
fn answer_from(source: &str, api: &str, path: &str) -> anyhow::Result<String> {
    let mut connection = connect_from(source, api)?;
    ask(&mut connection, path)?;
    let mut answer = Vec::new();
    connection.read_to_end(&mut answer)?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

/// Others get a list, a call and a few logs, each soon.
fn ensure_others_are_served(api: &Server) -> anyhow::Result<()> {
    let started = Instant::now();
    let list = answer_from("127.0.0.9", &api.url, "/api/v2/blocks")?;
    ensure!(list.starts_with("HTTP/1.1 200"), "{list}");
    let rpc = format!("{}/api/eth-rpc", api.url);
    let agent = http::agent();
    let head = http::rpc(&agent, &rpc, "eth_blockNumber", &json!([]))?;
    ensure!(head["result"] == "0x63", "{head}");
    let filter = json!([{"fromBlock": "0x5", "toBlock": "0x5", "topics": [[format!("0x{}", "11".repeat(32))]]}]);
    let logs = http::rpc(&agent, &rpc, "eth_getLogs", &filter)?;
    ensure!(logs["result"] == json!([]), "{logs}");
    ensure!(started.elapsed() < Duration::from_secs(10), "others waited {:?}", started.elapsed());
    Ok(())
}

/// What is metered under a name and a label now.
fn metered(api: &Server, name: &str) -> anyhow::Result<f64> {
    let text = http::get(&http::agent(), &format!("{}/metrics", api.url))?.text();
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.parse().ok());
    line.with_context(|| format!("no {name} in {text}"))
}

/// Each wide scan without a reader would hold a slot of the engine for as long as its client likes.
#[test]
fn sockets_that_never_read_stop_no_other_client() -> anyhow::Result<()> {
    const DATABASE: &str = "attack_unread";
    let (_database, api, url) = serving(DATABASE, &["--write-timeout", "4s"])?;
    let path = url.trim_start_matches(&api.url).to_owned();
    let attack = || {
        let mut sockets = Vec::new();
        for number in 0..120 {
            let mut socket = connect_from(&format!("127.0.0.{}", 2 + number % 3), &api.url)?;
            ask(&mut socket, &path)?;
            sockets.push(socket);
        }
        for _ in 0..3 {
            std::thread::sleep(Duration::from_millis(500));
            ensure_others_are_served(&api)?;
        }
        let count = format!(
            "SELECT count() FROM processes WHERE current_database = '{DATABASE}' AND position(query, 'FROM logs') > 0"
        );
        let running: u64 = env::sql("system", &count)?.parse()?;
        ensure!(running <= 16, "{running} statements run");
        // They are ended, though the clients are there still.
        env::eventually(Duration::from_secs(60), || Ok(env::sql("system", &count)? == "0"))?;
        anyhow::Ok(sockets)
    };
    let (growth, sockets) = growth(api.id(), attack)?;
    ensure!(growth < SLACK, "memory grew by {growth} MiB");
    let refused = sockets.into_iter().filter_map(|mut socket| {
        let mut head = [0; 12];
        socket.read_exact(&mut head).ok().map(|()| String::from_utf8_lossy(&head).into_owned())
    });
    let refused: Vec<String> = refused.filter(|head| head.ends_with("429") || head.ends_with("503")).collect();
    ensure!(refused.len() >= 60, "only {} were refused", refused.len());
    api.stop()?;
    Ok(())
}

#[test]
fn bodies_that_do_not_end_take_their_budget_and_no_more() -> anyhow::Result<()> {
    const LENGTH: usize = 20_000_000;
    const BUDGET: u64 = 64;
    let (_database, api, _) = serving("attack_bodies", &["--body-memory", "64MiB"])?;
    let attack = || {
        let senders = (0..30).map(|number| {
            let url = api.url.clone();
            std::thread::spawn(move || {
                let mut socket = connect_from(&format!("127.0.0.{}", 2 + number % 3), &url)?;
                write!(socket, "POST /api/eth-rpc HTTP/1.1\r\nhost: x\r\ncontent-length: {LENGTH}\r\n\r\n")?;
                // A refused one is reset.
                let _ = socket.write_all(&vec![b' '; LENGTH - 1]);
                anyhow::Ok(socket)
            })
        });
        let senders: Vec<_> = senders.collect();
        std::thread::sleep(Duration::from_secs(1));
        ensure_others_are_served(&api)?;
        let join = |sender: std::thread::JoinHandle<anyhow::Result<TcpStream>>| {
            sender.join().map_err(|_| anyhow::anyhow!("the thread panicked"))?
        };
        let sockets = senders.into_iter().map(join).collect::<anyhow::Result<Vec<TcpStream>>>()?;
        ensure_others_are_served(&api)?;
        // Nothing more arrives, so they are given up.
        let taken = || metered(&api, "trawl_memory_taken_bytes{of=\"bodies\"}");
        env::eventually(Duration::from_secs(30), || Ok(taken()? == 0.0))?;
        anyhow::Ok(sockets)
    };
    let (growth, _sockets) = growth(api.id(), attack)?;
    ensure!(growth < BUDGET + SLACK, "memory grew by {growth} MiB");
    api.stop()?;
    Ok(())
}

/// Refusals name the client's own limit, or that of all, and say when to try again.
#[test]
fn half_sent_heads_keep_no_client_out() -> anyhow::Result<()> {
    let (_database, api, _) = serving("attack_heads", &["--max-connections-per-client", "50"])?;
    api.stop()?;
    // The soft limit of open files is raised.
    let command = env::api_at(env::store(), "attack_heads", &["--max-connections-per-client", "50"]);
    let mut limited = std::process::Command::new("sh");
    limited.args(["-c", "ulimit -Sn 100 && exec \"$0\" \"$@\""]).arg(command.get_program()).args(command.get_args());
    let api = Server::start(limited)?;
    env::eventually(
        env::SOON,
        || Ok(answer_from("127.0.0.9", &api.url, "/health/ready")?.starts_with("HTTP/1.1 200")),
    )?;
    let mut heads = Vec::new();
    for number in 0..200 {
        let mut socket = connect_from(&format!("127.0.0.{}", 2 + number % 2), &api.url)?;
        // A connection that is refused may be reset already.
        let _ = socket.write_all(b"GET /api/v2/blo");
        heads.push(socket);
    }
    ensure_others_are_served(&api)?;
    // While many are refused, some are closed without a word.
    env::eventually(Duration::from_secs(10), || {
        let refused = answer_from("127.0.0.2", &api.url, "/api/v2/blocks").unwrap_or_default();
        ensure!(!refused.starts_with("HTTP/1.1 200"), "{refused}");
        Ok(refused.starts_with("HTTP/1.1 503") && refused.contains("retry-after: "))
    })?;
    // Without the rest of their heads they are ended, and their client is served again.
    env::eventually(Duration::from_secs(40), || {
        Ok(answer_from("127.0.0.2", &api.url, "/api/v2/blocks").is_ok_and(|answer| answer.starts_with("HTTP/1.1 200")))
    })?;
    drop(heads);
    api.stop()?;
    Ok(())
}
