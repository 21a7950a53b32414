//! Messages from a rollup to L1: logs of its contracts, which no recorded block has, put into the tables of one that is
//! loaded.

use alloy_primitives::U256;
use anyhow::ensure;
use serde_json::{Value, json};
use xtask::{http, workspace};

use super::{load, write_dump};
use crate::{chains, env};

/// A block of the scenario chain with a log.
const HEIGHT: usize = 5;

/// A word of 32 bytes in hexadecimal digits.
fn word(number: u128) -> String {
    format!("{number:064x}")
}

fn get(url: &str, path: &str) -> anyhow::Result<http::Answer> {
    http::get(&http::agent(), &format!("{url}/api/v2/{path}"))
}

/// A nonce whose upper 16 bits are 1, in decimal digits.
fn text_of_version_1(nonce: u64) -> Value {
    let one: U256 = U256::ONE << 240;
    json!((one + U256::from(nonce)).to_string())
}

/// Writes logs of a contract beside the logs of the block at a height: the first topic, the others, and data. The block
/// has a log.
fn add_logs(database: &str, contract: &str, logs: &[[String; 5]]) -> anyhow::Result<()> {
    for (position, [event, first, second, third, data]) in logs.iter().enumerate() {
        let insert = format!(
            "INSERT INTO logs SELECT * REPLACE(unhex('{contract}') AS address, {} AS log_index, 4 AS topics_count, \
             unhex('{event}') AS topic0, unhex('{first}') AS topic1, unhex('{second}') AS topic2, unhex('{third}') AS topic3, \
             unhex('{data}') AS data) FROM logs LIMIT 1",
            100 + position
        );
        env::sql(database, &insert)?;
    }
    Ok(())
}

#[test]
fn of_the_op_stack_are_withdrawals() -> anyhow::Result<()> {
    let database = env::migrate("messages_optimism")?;
    let path = workspace::fixture("chains/optimism-420.ndjson");
    let line: Value = serde_json::from_str(&std::fs::read_to_string(&path)?)?;
    load(&database, &path.display().to_string(), &["--chain-id", "420", "--from", "985465"], 0)?;
    let event = "02a52367d10742d8032712c1bb8e0144ff1ec5ffda1ed7d70bb05a2744955054";
    let (sender, target) = ("11".repeat(20), "22".repeat(20));
    let of_nonce = |nonce: u128| {
        let data = [word(7), word(200_000), word(128), word(3), word(3), format!("{:0<64}", "c0ffee")].concat();
        [event.to_owned(), format!("0001{nonce:060x}"), format!("{sender:0>64}"), format!("{target:0>64}"), data]
    };
    let mut logs: Vec<[String; 5]> = (40..43).map(of_nonce).collect();
    // One that has no more data than its first word.
    logs[0][4] = word(9);
    add_logs(&database, "4200000000000000000000000000000000000016", &logs)?;
    let api = env::start_api(&database, &[])?;
    let page = get(&api.url, "optimism/withdrawals?items_count=2")?.json()?;
    let transaction = &line["block"]["transactions"][0];
    let newest = &page["items"][0];
    let text = |number: u128| json!(number.to_string());
    for (key, expected) in [
        ("msg_nonce", json!(42)),
        ("msg_nonce_version", json!(1)),
        ("msg_nonce_raw", text_of_version_1(42)),
        ("msg_sender_address_hash", json!(format!("0x{sender}"))),
        ("msg_target_address_hash", json!(format!("0x{target}"))),
        ("msg_value", text(7)),
        ("msg_gas_limit", text(200_000)),
        ("msg_data", json!("0xc0ffee")),
        ("l2_transaction_hash", transaction["hash"].clone()),
        ("status", Value::Null),
        ("l1_transaction_hash", Value::Null),
    ] {
        ensure!(newest[key] == expected, "{key}: {newest}");
    }
    let from = newest["from"]["hash"].as_str().map(str::to_lowercase);
    ensure!(from.as_deref() == transaction["from"].as_str(), "{newest}");
    ensure!(page["items"][1]["msg_nonce"] == 41 && page["items"][2].is_null(), "{page}");
    let next = &page["next_page_params"];
    let rest = get(
        &api.url,
        &format!("optimism/withdrawals?items_count=2&block_number={}&index={}", next["block_number"], next["index"]),
    )?;
    let rest = rest.json()?;
    let short = &rest["items"][0];
    ensure!(short["msg_nonce"] == 40 && short["msg_value"] == "9", "{rest}");
    ensure!(short["msg_data"].is_null() && short["msg_gas_limit"].is_null(), "{rest}");
    ensure!(rest["next_page_params"].is_null() && rest["items"][1].is_null(), "{rest}");
    let other = get(&api.url, "arbitrum/messages/from-rollup")?;
    ensure!(other.status == 400, "{other:?}");
    let wrong = get(&api.url, "optimism/withdrawals?nonce=3")?;
    ensure!(wrong.status == 422, "{wrong:?}");
    Ok(())
}

#[test]
fn of_arbitrum_are_by_their_position() -> anyhow::Result<()> {
    let database = env::migrate("messages_arbitrum")?;
    // A block with a log, of a chain that is not listed: what is served goes by the family that was stated.
    let block = chains::lines("devchain")?[HEIGHT].clone();
    let file = write_dump(&[block])?;
    let from = HEIGHT.to_string();
    let flags = ["--chain-id", "31337", "--chain-family", "arbitrum", "--from", &from, "--verify", "off"];
    load(&database, &file.path().display().to_string(), &flags, 0)?;
    let event = "3e7aafa77dbf186b7fd488006beff893744caa3c4f6f299e8a709fa2087374fc";
    let caller = "33".repeat(20);
    let data = [format!("{caller:0>64}"), word(1), word(2), word(3), word(4), word(192), word(0)].concat();
    let short = [format!("{caller:0>64}"), word(1)].concat();
    let logs = [(77, data), (78, short)].map(|(id, data)| [event.to_owned(), word(1), word(2), word(id), data]);
    add_logs(&database, &word(0x64)[24..], &logs)?;
    let api = env::start_api(&database, &[])?;
    let page = get(&api.url, "arbitrum/messages/from-rollup")?.json()?;
    ensure!(page["items"][0]["id"] == 78, "{page}");
    let item = &page["items"][1];
    ensure!(item["id"] == 77 && item["origination_address_hash"] == format!("0x{caller}"), "{page}");
    ensure!(item["origination_transaction_block_number"] == HEIGHT && item["status"].is_null(), "{page}");
    ensure!(get(&api.url, "optimism/withdrawals")?.status == 400);
    let transaction = item["origination_transaction_hash"].as_str().unwrap_or_default();
    of_a_transaction(&api.url, transaction, &caller)
}

/// The two messages of the block are those of its transaction.
fn of_a_transaction(url: &str, transaction: &str, caller: &str) -> anyhow::Result<()> {
    let list = "arbitrum/messages/withdrawals";
    let found = get(url, &format!("{list}/{transaction}"))?.json()?;
    let caller = format!("0x{caller}");
    let destination = format!("0x{:040x}", 1);
    let due = json!({
        "id": 77, "status": null, "caller_address_hash": caller, "caller": caller,
        "destination_address_hash": destination, "destination": destination,
        "arb_block_number": 1, "eth_block_number": 2, "l2_timestamp": 3, "callvalue": "4", "data": "0x",
        "token": null, "completion_transaction_hash": null,
    });
    ensure!(found["items"][0] == due && found.as_object().map(serde_json::Map::len) == Some(1), "{found}");
    let short = &found["items"][1];
    ensure!(short["id"] == 78 && short["arb_block_number"] == 1 && found["items"][2].is_null(), "{found}");
    ensure!(["eth_block_number", "callvalue", "data"].iter().all(|name| short[*name].is_null()), "{short}");
    let unknown = get(url, &format!("{list}/0x{}", "12".repeat(32)))?;
    ensure!(unknown.status == 404, "{unknown:?}");
    ensure!(get(url, &format!("{list}/0x12"))?.status == 422);
    ensure!(get(url, &format!("{list}/{transaction}?items_count=1"))?.status == 422);
    // A chain of another family has no such path.
    let other = &chains::chain("hive").api;
    let hash = format!("0x{}", "12".repeat(32));
    ensure!(get(other, &format!("{list}/{hash}"))?.status == 400);
    Ok(())
}
