//! Several nodes, and nodes behind a WebSocket.

use std::net::{TcpListener, TcpStream};
use std::process::Stdio;
use std::time::Duration;

use anyhow::ensure;
use serde_json::json;
use tungstenite::Message;
use xtask::{http, process};

use super::node::{Node, comparable, comparable_reference};
use super::state::covered;
use crate::env;

fn load(database: &str, urls: &[&str], code: i32) -> anyhow::Result<String> {
    env::create_tables(database)?;
    let mut arguments = vec!["load"];
    arguments.extend(urls.iter().flat_map(|url| ["--rpc-url", url]));
    let output = env::run(env::ingest(database, &arguments), code)?;
    Ok(String::from_utf8_lossy(&output.stderr).into_owned())
}

fn is_whole(database: &str) -> anyhow::Result<()> {
    let (found, expected) = (comparable(database)?, comparable_reference("hive")?);
    ensure!(found == expected, "{found:?}\ninstead of\n{expected:?}");
    Ok(())
}

/// The first node ends in the middle of the load; what it gave and what the second gives are one chain.
#[test]
fn another_node_takes_over() -> anyhow::Result<()> {
    let database = &env::migrate("failover_dies")?;
    let (first, second) = (Node::start("hive", &["--latency", "30"])?, Node::start("hive", &[])?);
    let mut command = env::ingest(database, &["load", "--rpc-url", &first.url, "--rpc-url", &second.url]);
    let child = command.args(["--batch-blocks", "4", "--concurrency", "1"]).stderr(Stdio::piped()).spawn()?;
    env::eventually(Duration::from_secs(30), || {
        Ok(env::sql(database, "SELECT count() >= 2 FROM ingest_commits")? == "1")
    })?;
    let before = second.control(&json!({}))?["calls"]["eth_getBlockByNumber"].as_u64().unwrap_or_default();
    drop(first);
    let output = process::output_within(child, env::LONGEST)?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let after = second.control(&json!({}))?["calls"]["eth_getBlockByNumber"].as_u64().unwrap_or_default();
    ensure!(before == 0 && after > 0, "the second node got {before} and then {after} calls for blocks");
    is_whole(database)
}

#[test]
fn a_node_that_is_down_is_passed_over() -> anyhow::Result<()> {
    let nobody = format!("http://127.0.0.1:{}", env::free_port()?);
    let broken = Node::start("hive", &["--fault", "http500=1"])?;
    let good = Node::start("hive", &[])?;
    let _database = env::database("failover_down");
    load("failover_down", &[&nobody, &broken.url, &good.url], 0)?;
    is_whole("failover_down")?;
    // The broken node is tried now and then, not for each block.
    let tried = broken.control(&json!({}))?["injected"]["http500"].as_u64().unwrap_or_default();
    ensure!((1..=40).contains(&tried), "{tried} tries");
    Ok(())
}

#[test]
fn a_node_without_the_method_is_passed_over() -> anyhow::Result<()> {
    let (bare, good) = (Node::start("hive", &["--disable", "eth_getBlockByNumber"])?, Node::start("hive", &[])?);
    let _database = env::database("failover_bare");
    load("failover_bare", &[&bare.url, &good.url], 0)?;
    is_whole("failover_bare")?;
    let _database = env::database("failover_all_bare");
    let text = load("failover_all_bare", &[&bare.url, &bare.url], 1)?;
    ensure!(text.contains("does not return block 0: error -32601"), "{text}");
    Ok(())
}

/// A node without tracers, first in turn or standing in now and then, takes nothing from what another has.
#[test]
fn a_node_without_traces_does_not_speak_for_others() -> anyhow::Result<()> {
    let poor = Node::start("hive", &["--disable", "debug_*,trace_*"])?;
    let rich = Node::start("hive", &[])?;
    let flaky = Node::start("hive", &["--fault", "http500=0.1", "--fault", "rpcerror=0.05"])?;
    for (database, urls) in
        [("failover_poor_first", [&poor.url, &rich.url]), ("failover_poor_second", [&flaky.url, &poor.url])]
    {
        let _database = env::database(database);
        load(database, &urls.map(String::as_str), 0)?;
        is_whole(database)?;
        let parts = (covered(database, "traces")?, covered(database, "state_transactions")?);
        ensure!(parts == (55, 54), "{database}: traces of {} blocks, state of {}", parts.0, parts.1);
    }
    // It is not queried again and again for what it does not have.
    let calls = poor.control(&json!({}))?["calls"]["trace_block"].as_u64().unwrap_or_default();
    ensure!((1..=20).contains(&calls), "{calls} calls");
    Ok(())
}

#[test]
fn nodes_of_different_chains_are_refused() -> anyhow::Result<()> {
    let (one, other) = (Node::start("hive", &[])?, Node::start("hive", &["--chain-id", "0x5"])?);
    let _database = env::database("failover_chains");
    let text = load("failover_chains", &[&one.url, &other.url], 3)?;
    ensure!(text.contains("is of chain 5 and the others are of chain 3503995874084926"), "{text}");
    ensure!(env::sql("failover_chains", "SELECT count() FROM blocks")? == "0");
    Ok(())
}

/// A WebSocket in front of a node; a connection ends after `messages` of them.
fn socket(node: &Node, messages: usize) -> anyhow::Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let url = format!("ws://{}", listener.local_addr()?);
    let node = node.url.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let node = node.clone();
            // Whatever ends a connection ends it for the client too, which is what is tested.
            std::thread::spawn(move || drop(serve(stream, &node, messages)));
        }
    });
    Ok(url)
}

fn serve(stream: TcpStream, node: &str, messages: usize) -> anyhow::Result<()> {
    let mut socket = tungstenite::accept(stream)?;
    let agent = http::agent();
    for _ in 0..messages {
        let request = loop {
            match socket.read()? {
                Message::Text(text) => break text,
                _ => continue,
            }
        };
        socket.send(Message::Ping(vec![1].into()))?;
        socket.send(Message::text(http::post(&agent, node, request.as_bytes())?.text()))?;
    }
    Ok(())
}

#[test]
fn websocket_gives_the_same_rows() -> anyhow::Result<()> {
    let node = Node::start("hive", &[])?;
    let _database = env::database("failover_socket");
    load("failover_socket", &[&socket(&node, usize::MAX)?], 0)?;
    is_whole("failover_socket")
}

#[test]
fn websocket_that_breaks_gives_the_same_rows() -> anyhow::Result<()> {
    let node = Node::start("hive", &["--fault", "rpcerror=0.1"])?;
    let _database = env::database("failover_broken_socket");
    load("failover_broken_socket", &[&socket(&node, 15)?], 0)?;
    is_whole("failover_broken_socket")
}
