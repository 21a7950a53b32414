//! The server around the answers: its flags, its probes, what it measures, and a store that has gone silent.

use std::io::{Read as _, Write as _};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use serde_json::json;
use xtask::http;
use xtask::process::Server;

use crate::chains::{chain, dump};
use crate::env;

mod access_log;
mod addresses;
mod alerts;
mod config;
mod looks;
mod metrics_listed;
mod nginx;
mod package;
pub mod prices;
mod rates;
mod reading_account;
pub mod silence;
mod slow_statements;
pub mod tls;
mod watched;

use silence::SilentProxy;

/// Sends a request as it is written; returns the whole answer.
fn raw(api: &str, request: &str) -> anyhow::Result<String> {
    let mut connection = env::connect(api.trim_start_matches("http://"))?;
    connection.set_read_timeout(Some(Duration::from_secs(20)))?;
    connection.write_all(format!("{request}\r\nhost: x\r\nconnection: close\r\n\r\n").as_bytes())?;
    let mut answer = String::new();
    connection.read_to_string(&mut answer)?;
    Ok(answer)
}

fn metrics(api: &str) -> anyhow::Result<String> {
    Ok(http::get(&http::agent(), &format!("{api}/metrics"))?.text())
}

/// Clients may invent methods and paths; labels made of them would grow for ever.
#[test]
fn labels_are_bounded() -> anyhow::Result<()> {
    let api = &chain("hive").api;
    for number in 0..20 {
        let answer = raw(api, &format!("INVENTED{number} /api/v2/blocks HTTP/1.1"))?;
        ensure!(
            answer.starts_with("HTTP/1.1 405") && answer.contains(r#"{"message":"Method not allowed"}"#),
            "{answer}"
        );
        ensure!(http::get(&http::agent(), &format!("{api}/invented{number}"))?.status == 404);
    }
    let text = metrics(api)?;
    let requests = || text.lines().filter(|line| line.starts_with("trawl_http_requests_total"));
    ensure!(!text.to_lowercase().contains("invented"), "{text}");
    ensure!(requests().any(|line| line.contains(r#"method="other""#)), "{text}");
    ensure!(requests().any(|line| line.contains(r#"route="other""#)), "{text}");
    Ok(())
}

/// What `follow` says of its node is in `ingest::follow`; of a chain that was loaded, nothing is known of any node.
#[test]
fn nothing_is_reported_of_a_node_without_a_follower() -> anyhow::Result<()> {
    let chain = chain("hive");
    let health = http::get(&http::agent(), &format!("{}/api/health", chain.api))?.json()?;
    ensure!(health["data"] == json!({"latest_block_number": chain.head(), "ranges": 1, "following": null}), "{health}");
    Ok(())
}

/// Clients of the first version of the API family read the newest block as text.
#[test]
fn the_health_of_the_first_version_names_the_newest_block() -> anyhow::Result<()> {
    let api = &chain("devchain").api;
    let get = |path: &str| http::get(&http::agent(), &format!("{api}{path}"));
    let (health, first) = (get("/api/health")?, get("/api/v1/health")?);
    let newest = get("/api/v2/main-page/blocks")?.json()?;
    let (number, time) = (newest[0]["height"].to_string(), newest[0]["timestamp"].as_str().context("a time")?);
    let time = time.replace('T', " ");
    let due = json!({
        "healthy": health.json()?["healthy"],
        "data": {
            "latest_block_number": number,
            "latest_block_inserted_at": time,
            "cache_latest_block_number": number,
            "cache_latest_block_inserted_at": time,
        },
    });
    ensure!(first.status == health.status && first.json()? == due, "{}, due {due}", first.text());
    Ok(())
}

#[test]
fn refused_requests_are_counted() -> anyhow::Result<()> {
    let api = &chain("hive").api;
    ensure!(http::get(&http::agent(), &format!("{api}/api/v2/blocks?%zz"))?.status == 400);
    let counted = metrics(api)?.lines().any(|line| {
        line.starts_with("trawl_http_requests_total")
            && [r#"route="/api/v2/blocks""#, r#"status="400""#].iter().all(|label| line.contains(label))
    });
    ensure!(counted, "{}", metrics(api)?);
    Ok(())
}

fn chain_id(api: &str) -> anyhow::Result<serde_json::Value> {
    Ok(http::rpc(&http::agent(), &format!("{api}/api/eth-rpc"), "eth_chainId", &json!([]))?["result"].take())
}

/// `--chain-id` fills in what the data does not tell, and is refused where it contradicts the data.
#[test]
fn chain_id_is_that_of_the_data() -> anyhow::Result<()> {
    let data = chain_id(&chain("hive").api)?;
    let same = u64::from_str_radix(data.as_str().context("a quantity")?.trim_start_matches("0x"), 16)?;
    let agreeing = env::start_api("hive", &["--chain-id", &same.to_string()])?;
    ensure!(chain_id(&agreeing.url)? == data);
    agreeing.stop()?;

    let refused = env::run(env::api_at(env::store(), "hive", &["--chain-id", "5"]), 2)?;
    let text = String::from_utf8_lossy(&refused.stderr).into_owned();
    ensure!(text.contains(&format!("belong to chain {same}, but --chain-id is 5")), "{text}");
    ensure!(refused.stdout.is_empty());

    let database = "service_untold_chain";
    let _database = env::migrate(database)?;
    // Not ready yet: nothing is loaded.
    let api = Server::start(env::api_at(env::store(), database, &["--chain-id", "5"]))?;
    env::eventually(env::SOON, || Ok(chain_id(&api.url)? == json!("0x5")))?;
    env::run(env::ingest(database, &["load", "--dump", &dump("hive")]), 0)?;
    env::eventually(env::SOON, || Ok(chain_id(&api.url)? == data))?;
    api.stop()?;
    Ok(())
}

/// A database that somebody has damaged: the cause is for the log, not for clients.
#[test]
fn faults_are_hidden_in_the_ruled_words() -> anyhow::Result<()> {
    let database = &env::migrate("service_damaged")?;
    env::run(env::ingest(database, &["load", "--dump", &dump("hive")]), 0)?;
    let api = env::start_api(database, &[])?;
    for table in ["logs_by_block", "blocks"] {
        env::sql(database, &format!("DROP TABLE {table}"))?;
    }
    let rpc = format!("{}/api/eth-rpc", api.url);
    let answer = http::rpc(&http::agent(), &rpc, "eth_getLogs", &json!([{"fromBlock": "0x1"}]))?;
    ensure!(answer["error"] == json!({"code": -32603, "message": "Something went wrong"}), "{answer}");
    let answer = http::get(&http::agent(), &format!("{}/api/v2/blocks", api.url))?;
    ensure!(answer.status == 500 && answer.json()? == json!({"message": "Internal server error"}), "{}", answer.text());
    api.stop()?;
    Ok(())
}

/// It listens and says that it is not ready, and why in a word and no more; every answer about the chain is 503.
fn ensure_waiting(api: &Server, why: &str) -> anyhow::Result<()> {
    let agent = http::agent();
    let get = |path: &str| http::get(&agent, &format!("{}{path}", api.url));
    let ready = get("/health/ready")?;
    ensure!(ready.status == 503 && ready.text() == format!("{why}\n"), "{} {}", ready.status, ready.text());
    ensure!(get("/health/live")?.status == 200);
    let list = get("/api/v2/blocks")?;
    let not_ready = json!({"message": "Not ready: the database has not answered yet"});
    ensure!(list.status == 503 && list.json()? == not_ready, "{} {}", list.status, list.text());
    let answer = http::rpc(&agent, &format!("{}/api/eth-rpc", api.url), "eth_blockNumber", &json!([]))?;
    ensure!(answer["error"]["code"] == -32002, "{answer}");
    Ok(())
}

fn ensure_served(api: &Server) -> anyhow::Result<()> {
    let agent = http::agent();
    let get = |path: &str| http::get(&agent, &format!("{}{path}", api.url));
    env::eventually(Duration::from_secs(30), || Ok(get("/health/ready")?.status == 200))?;
    let list = get("/api/v2/blocks")?;
    ensure!(list.status == 200 && list.json()?["items"][0]["height"] == 54, "{}", list.text());
    Ok(())
}

/// The order in which programs of one machine start is not defined.
#[test]
fn tables_that_are_not_there_are_waited_for() -> anyhow::Result<()> {
    let unused = format!("http://127.0.0.1:{}", env::free_port()?);
    let alone = Server::start(env::api_at(&unused, "hive", &[]))?;
    ensure_waiting(&alone, "database-unreachable")?;
    ensure!(alone.stop()?.success());

    let database = "service_made_later";
    let api = Server::start(env::api_at(env::store(), database, &[]))?;
    ensure_waiting(&api, "schema-older")?;
    let _database = env::migrate(database)?;
    env::eventually(Duration::from_secs(10), || {
        let ready = http::get(&http::agent(), &format!("{}/health/ready", api.url))?;
        Ok(ready.status == 503 && ready.text() == "no block is committed yet\n")
    })?;
    env::run(env::ingest(database, &["load", "--dump", &dump("hive")]), 0)?;
    ensure_served(&api)?;
    ensure!(api.stop()?.success());
    Ok(())
}

#[test]
fn a_silent_store_is_waited_for() -> anyhow::Result<()> {
    chain("hive");
    let silent = SilentProxy::start(env::store())?;
    silent.fall_silent();
    let started = Instant::now();
    let api = Server::start(env::api_at(&silent.url, "hive", &["--query-timeout", "1"]))?;
    ensure!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
    ensure_waiting(&api, "database-silent")?;
    silent.speak();
    ensure_served(&api)?;
    ensure!(api.stop()?.success());
    Ok(())
}

/// Also if it becomes known only after the start.
#[test]
fn a_schema_of_another_release_ends_the_api() -> anyhow::Result<()> {
    let _databases = [env::migrate("service_newer")?, env::migrate("service_edited")?];
    for (database, row, why) in [
        ("service_newer", "(9999, 'later', '')", "has schema version 9999, which is newer than this program's"),
        (
            "service_edited",
            "(1, 'edited', 'another')",
            "was applied to database `service_edited` with a different text",
        ),
    ] {
        if row.starts_with("(1,") {
            env::sql(database, "TRUNCATE TABLE schema_migrations")?;
        }
        env::sql(database, &format!("INSERT INTO schema_migrations (version, name, checksum) VALUES {row}"))?;
        let output = env::run(env::api_at(env::store(), database, &[]), 7)?;
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        ensure!(text.contains(why) && output.stdout.is_empty(), "{text}");
    }
    let silent = SilentProxy::start(env::store())?;
    silent.fall_silent();
    let command = env::api_at(&silent.url, "service_newer", &["--query-timeout", "1"]);
    let waiting = std::thread::spawn(move || env::run(command, 7));
    std::thread::sleep(Duration::from_secs(8));
    ensure!(!waiting.is_finished(), "it did not wait");
    silent.speak();
    let output = waiting.join().map_err(|_| anyhow::anyhow!("the thread panicked"))??;
    ensure!(String::from_utf8_lossy(&output.stdout).starts_with("listening on "));
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    ensure!(text.contains("newer than this program's"), "{text}");
    Ok(())
}

/// A ClickHouse that accepts and never answers is one that is away; when it is back, so are the answers.
#[test]
fn a_silent_store_is_unavailable() -> anyhow::Result<()> {
    chain("hive");
    let proxy = SilentProxy::start(env::store())?;
    let api = env::start_api_at(&proxy.url, "hive", &["--query-timeout", "1"])?;
    let agent = http::agent();
    let get = |path: &str| http::get(&agent, &format!("{}{path}", api.url));
    let logs = || http::rpc(&agent, &format!("{}/api/eth-rpc", api.url), "eth_getLogs", &json!([{"fromBlock": "0x1"}]));
    ensure!(get("/api/v2/blocks")?.status == 200 && logs()?["result"].is_array());

    proxy.fall_silent();
    let started = Instant::now();
    // What was requested before is answered from memory, if no new head is known.
    ensure!(get("/api/v2/blocks")?.status == 200);
    let answer = get("/api/v2/blocks?items_count=7")?;
    let message = "The database cannot be reached; try again shortly";
    ensure!(
        answer.status == 503 && answer.json()? == json!({"message": message}) && answer.header("retry-after") == "5",
        "{}",
        answer.text()
    );
    let answer = logs()?;
    let error = json!({"code": -32005, "message": message, "data": {"retryAfterSeconds": 5}});
    ensure!(answer["error"] == error, "{answer}");
    let ready = get("/health/ready")?;
    ensure!(ready.status == 503 && ready.text() == "database-silent\n", "{}", ready.text());
    ensure!(get("/health/live")?.status == 200);
    ensure!(started.elapsed() < Duration::from_secs(25), "{:?}", started.elapsed());
    let health = get("/api/health")?;
    ensure!(
        health.status == 503 && health.json()?["problems"][0]["kind"] == "clickhouse_unreachable",
        "{}",
        health.text()
    );
    // Once it is known to be away, no request waits for it.
    env::eventually(Duration::from_secs(20), || {
        let started = Instant::now();
        Ok(get("/api/v2/blocks?items_count=8")?.status == 503 && started.elapsed() < Duration::from_secs(1))
    })?;
    let started = Instant::now();
    ensure!(get("/api/v2/blocks?items_count=8")?.status == 503 && logs()?["error"] == error);
    ensure!(started.elapsed() < Duration::from_secs(1), "{:?}", started.elapsed());
    ensure!(get("/api/v2/blocks")?.status == 200, "what is in memory is answered");

    proxy.speak();
    env::eventually(Duration::from_secs(20), || Ok(get("/health/ready")?.status == 200))?;
    ensure!(get("/api/v2/blocks")?.status == 200 && logs()?["result"].is_array());
    api.stop()?;
    Ok(())
}

/// The kernel shows which timer runs on a connection; 02 is keepalive (proc_net_tcp in the kernel's documentation).
#[test]
fn idle_clients_are_probed() -> anyhow::Result<()> {
    let api = chain("hive").api.trim_start_matches("http://");
    let mut connection = env::connect(api)?;
    connection.write_all(b"GET /health/live HTTP/1.1\r\nhost: x\r\n\r\n")?;
    ensure!(connection.read(&mut [0; 1024])? > 0);
    let end = |port: u16| format!(":{port:04X}");
    let (server, client) = (end(connection.peer_addr()?.port()), end(connection.local_addr()?.port()));
    env::eventually(Duration::from_secs(5), || {
        let table = std::fs::read_to_string("/proc/net/tcp")?;
        Ok(table.lines().any(|line| {
            let columns: Vec<&str> = line.split_whitespace().collect();
            columns.len() > 5
                && columns[1].ends_with(&server)
                && columns[2].ends_with(&client)
                && columns[5].starts_with("02:")
        }))
    })
}
