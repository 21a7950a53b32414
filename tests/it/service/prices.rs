//! Prices of tokens: from a file or an address, exact, never older than the operator wants, and null without.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use xtask::http;

use crate::chains::dump;
use crate::env::{self, Database};

/// The scenario's DUSD: six decimals, a supply of 1000000123456782 by its node.
const DUSD: &str = "0x5FbDB2315678afecb367f032d93F642f64180aa3";
const HOLDER: &str = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";

fn loaded(database: &str) -> anyhow::Result<Database> {
    let guard = env::migrate(database)?;
    env::run(env::ingest(database, &["load", "--dump", &dump("devchain")]), 0)?;
    let hex = DUSD.trim_start_matches("0x");
    let row = format!("INSERT INTO tokens VALUES (unhex('{hex}'), 91, 'ERC-20', 'Dev Dollar', 'DUSD', 6, 5)");
    env::sql(database, &row)?;
    Ok(guard)
}

fn token(api: &str) -> anyhow::Result<Value> {
    let url = format!("{api}/api/v2/addresses/{HOLDER}/token-transfers?token={DUSD}");
    Ok(http::get(&http::agent(), &url)?.json()?["items"][0]["token"].clone())
}

#[test]
fn are_read_again_and_grow_old() -> anyhow::Result<()> {
    let database = "service_prices";
    let _database = loaded(database)?;
    let directory = env::directory()?;
    let path = directory.path().join("prices.json");
    let write = |text: &str| -> anyhow::Result<()> {
        // In one step, as who keeps such a file should.
        let next = directory.path().join("next.json");
        std::fs::write(&next, text)?;
        Ok(std::fs::rename(&next, &path)?)
    };
    write(&json!({DUSD: {"exchange_rate": "1.0003", "volume_24h": "12345678901234567890.123456789", "icon_url": "https://x.example/d.svg"}}).to_string())?;
    let file = path.display().to_string();
    let flags = ["--token-prices", &file, "--token-prices-interval", "1", "--token-prices-max-age", "60"];
    let api = env::start_api(database, &flags)?;
    let becomes = |key: &str, expected: Value| {
        let mut last = Value::Null;
        let came = env::eventually(env::SOON, || {
            last = token(&api.url)?;
            Ok(last[key] == expected)
        });
        came.with_context(|| format!("{key} is to be {expected} in {last}")).map(|()| last.clone())
    };
    let page = becomes("exchange_rate", json!("1.0003"))?;
    // Price times supply, in decimal arithmetic: 1.0003 × 1000000123.456782.
    ensure!(page["circulating_market_cap"] == "1000300123.4938190346", "{page}");
    ensure!(page["volume_24h"] == "12345678901234567890.123456789", "{page}");
    ensure!(page["total_supply"] == "1000000123456782" && page["holders_count"] == "10", "{page}");
    ensure!(page["circulating_supply"].is_null() && page["icon_url"] == "https://x.example/d.svg", "{page}");
    write(&json!({DUSD: {"exchange_rate": 0.5, "circulating_supply": "7"}}).to_string())?;
    ensure!(becomes("exchange_rate", json!("0.5"))?["circulating_market_cap"] == "3.5");
    // What cannot be read changes nothing; an old price goes.
    write("{")?;
    std::thread::sleep(Duration::from_secs(2));
    ensure!(token(&api.url)?["exchange_rate"] == "0.5");
    write(
        &json!({DUSD: {"exchange_rate": "2", "icon_url": "https://x.example/e.svg", "updated_at": 1_700_000_000}})
            .to_string(),
    )?;
    let old = becomes("exchange_rate", Value::Null)?;
    ensure!(old["circulating_market_cap"].is_null() && old["icon_url"] == "https://x.example/e.svg", "{old}");
    Ok(())
}

#[test]
fn come_from_an_address() -> anyhow::Result<()> {
    let database = "service_prices_fetched";
    let _database = loaded(database)?;
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let url = format!("http://{}/prices", listener.local_addr()?);
    // Ends with the process.
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut reader = BufReader::new(&stream);
            let mut line = String::new();
            while reader.read_line(&mut line).is_ok_and(|length| length > 2) {
                line.clear();
            }
            let body = json!({DUSD.to_lowercase(): {"exchange_rate": "0.9998"}}).to_string();
            let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
            // The client may have gone.
            let _ = stream.write_all(format!("{head}{body}").as_bytes());
        }
    });
    let api = env::start_api(database, &["--token-prices", &url])?;
    env::eventually(env::SOON, || Ok(token(&api.url)?["exchange_rate"] == "0.9998"))
}
