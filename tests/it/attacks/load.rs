//! Many clients at once: of WebSockets that do not read, of wide scans, of short requests.

use std::net::TcpStream;
use std::thread::JoinHandle;

use tungstenite::{Message, WebSocket};

use super::*;

/// Who emitted the logs: `slowly` and zeros.
const EMITTER: &str = "0x736c6f776c790000000000000000000000000000";

/// Answers of 12 MB, of which there are more than the budget holds.
#[test]
fn websockets_that_do_not_read_take_their_budget_and_no_more() -> anyhow::Result<()> {
    const BUDGET: u64 = 64;
    let (_database, api, _) = serving("attack_sockets", &["--answer-memory", "64MiB", "--max-logs", "0"])?;
    let attack = || {
        let mut sockets: Vec<WebSocket<TcpStream>> = Vec::new();
        for number in 0..24 {
            let stream = connect_from(&format!("127.0.0.{}", 2 + number % 3), &api.url)?;
            let url = format!("ws://{}/api/eth-rpc", api.url.trim_start_matches("http://"));
            let (mut socket, _) = tungstenite::client(url, stream).map_err(|error| anyhow::anyhow!("{error}"))?;
            for call in 0..4 {
                let filter = json!([{"fromBlock": "0x1", "toBlock": "0xc", "address": EMITTER}]);
                let call = json!({"jsonrpc": "2.0", "id": call, "method": "eth_getLogs", "params": filter});
                socket.send(Message::text(call.to_string()))?;
            }
            sockets.push(socket);
        }
        for _ in 0..4 {
            std::thread::sleep(Duration::from_millis(500));
            ensure_others_are_served(&api)?;
        }
        anyhow::Ok(sockets)
    };
    let (growth, _sockets) = growth(api.id(), attack)?;
    ensure!(growth < BUDGET + SLACK, "memory grew by {growth} MiB");
    let refused = metered(&api, "trawl_refused_total{what=\"answers\",limit=\"client\"}")?;
    ensure!(refused > 0.0, "nothing was refused");
    // Those who read get what they ask for, once there is room again.
    env::eventually(Duration::from_secs(30), || Ok(metered(&api, "trawl_memory_taken_bytes{of=\"answers\"}")? == 0.0))?;
    api.stop()?;
    Ok(())
}

fn all(clients: Vec<JoinHandle<anyhow::Result<http::Answer>>>) -> anyhow::Result<Vec<http::Answer>> {
    let joined = clients.into_iter().map(|client| client.join().map_err(|_| anyhow::anyhow!("a thread panicked"))?);
    joined.collect()
}

fn is_refused(answer: &http::Answer, status: u16) -> bool {
    answer.status == status && answer.header("retry-after").parse::<u64>().is_ok_and(|seconds| seconds > 0)
}

/// A client gets as many as one may have; the others are refused at once, with a time. One that waits longer than a
/// request may wait, as on a busy machine, is refused too.
#[test]
fn wide_scans_are_whole_or_refused() -> anyhow::Result<()> {
    let (_database, api, url) = serving("attack_scans", &["--max-scans", "2", "--max-scans-per-client", "4"])?;
    let scan = |_| {
        let url = url.clone();
        std::thread::spawn(move || http::get(&http::agent(), &url))
    };
    let answers = all((0..20).map(scan).collect())?;
    let whole = answers.iter().filter(|answer| answer.status == 200);
    ensure!(whole.clone().all(|answer| answer.text().trim_end().ends_with("}}")), "an answer was cut");
    let refused = |status| answers.iter().filter(|answer| is_refused(answer, status)).count();
    let (whole, at_once, after_waiting) = (whole.count(), refused(429), refused(503));
    let counts = format!("{whole} whole, {at_once} refused at once, {after_waiting} after they waited");
    ensure!(whole > 0 && at_once > 0 && whole + at_once + after_waiting == answers.len(), "{counts}");
    api.stop()?;
    Ok(())
}

/// A queue that grows without bound makes everybody wait.
#[test]
fn short_requests_are_answered_within_a_bound_or_refused() -> anyhow::Result<()> {
    let bounds = ["--max-reads", "2", "--max-queue", "4", "--queue-timeout", "1s", "--cache-size", "0"];
    let (_database, api, _) = serving("attack_queue", &bounds)?;
    let client = |number: usize| {
        let url = api.url.clone();
        std::thread::spawn(move || {
            let started = Instant::now();
            let answer = http::get(&http::agent(), &format!("{url}/api/v2/blocks?items_count={}", 1 + number % 50))?;
            ensure!(started.elapsed() < Duration::from_secs(15), "{:?}", started.elapsed());
            Ok(answer)
        })
    };
    let answers = all((0..100).map(client).collect())?;
    let served = answers.iter().filter(|answer| answer.status == 200).count();
    let refused = answers.iter().filter(|answer| is_refused(answer, 503)).count();
    ensure!(served > 0 && refused > 0 && served + refused == answers.len(), "{served} served, {refused} refused");
    // Calls are refused with a code of their own.
    let call = |_| {
        let url = format!("{}/api/eth-rpc", api.url);
        std::thread::spawn(move || http::rpc(&http::agent(), &url, "eth_getBlockByNumber", &json!(["0x5", true])))
    };
    let calls: Vec<_> = (0..60).map(call).collect();
    let mut refused = 0;
    for answer in calls {
        let answer = answer.join().map_err(|_| anyhow::anyhow!("a thread panicked"))??;
        let busy = json!({"code": -32005, "message": "Too busy; try again shortly", "data": {"retryAfterSeconds": 1}});
        refused += usize::from(answer["error"] == busy);
        ensure!(answer.get("error").is_none_or(|error| *error == busy), "{answer}");
    }
    ensure!(refused > 0, "nothing was refused");
    api.stop()?;
    Ok(())
}
