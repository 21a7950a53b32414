//! Views of events: what they show is what viem reads, and the bundled ones are those that the program makes.

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context as _, ensure};
use serde_json::Value;
use xtask::workspace;

use super::rows;
use crate::chains::chain;
use crate::env;

/// The event in the notation of `views add`.
fn notation(line: &Value) -> String {
    let parameter = |parameter: &Value| {
        let indexed = if parameter["indexed"] == true { " indexed" } else { "" };
        format!(
            "{}{indexed} {}",
            parameter["type"].as_str().unwrap_or_default(),
            parameter["name"].as_str().unwrap_or_default()
        )
    };
    let parameters: Vec<String> = line["parameters"].as_array().into_iter().flatten().map(parameter).collect();
    format!("{}({})", line["event"].as_str().unwrap_or_default(), parameters.join(", "))
}

/// What viem says of a value, and the expression that makes the same text of the column.
fn compared(parameter: &Value) -> (String, String) {
    let (name, kind) = (parameter["name"].as_str().unwrap_or_default(), parameter["type"].as_str().unwrap_or_default());
    let value = &parameter["value"];
    let text = value.as_str().map_or_else(|| value.to_string().replace('"', ""), str::to_owned);
    let is_hash = parameter["indexed"] == true && (kind == "string" || kind == "bytes");
    match kind {
        "address" => (text.to_lowercase(), format!("hex0x(`{name}`)")),
        _ if is_hash || kind.starts_with("bytes") => (text, format!("hex0x(`{name}`)")),
        _ => (text, format!("toString(`{name}`)")),
    }
}

#[test]
fn show_what_viem_reads() -> anyhow::Result<()> {
    let database = chain("devchain").name;
    let lines = fs::read_to_string(workspace::fixture("labels/decoded.json"))?;
    let mut events: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for line in lines.lines() {
        let line: Value = serde_json::from_str(line)?;
        events.entry(notation(&line)).or_default().push(line);
    }
    ensure!(events.len() >= 8, "{} events", events.len());
    for (position, (event, logs)) in events.iter().enumerate() {
        let view = format!("v_of_test_{position}");
        env::run(env::ingest(database, &["views", "add", "--event", event, "--name", &view]), 0)?;
        for log in logs {
            let compared: Vec<_> = log["parameters"].as_array().context("parameters")?.iter().map(compared).collect();
            let columns: Vec<&str> = compared.iter().map(|(_, column)| column.as_str()).collect();
            let sql = format!(
                "SELECT {} FROM {view} WHERE transaction_hash_hex = '{}' AND log_index = {} FORMAT TSVRaw",
                columns.join(", "),
                log["transaction"].as_str().unwrap_or_default(),
                log["index"]
            );
            let expected: Vec<&str> = compared.iter().map(|(value, _)| value.as_str()).collect();
            let found = env::sql(database, &sql)?;
            ensure!(found == expected.join("\t"), "{event}: {log}: {found}");
        }
        env::sql(database, &format!("DROP VIEW {view}"))?;
    }
    Ok(())
}

#[test]
fn of_one_contract_and_of_an_abi() -> anyhow::Result<()> {
    let database = "analysts_events";
    let _database = env::migrate(database)?;
    let event = "Moved(address indexed by, uint256 count)";
    let contract = "0x5FbDB2315678afecb367f032d93F642f64180aa3";
    env::run(env::ingest(database, &["views", "add", "--event", event, "--address", contract]), 0)?;
    let made = env::sql(
        "default",
        &format!("SELECT create_table_query FROM system.tables WHERE database = '{database}' AND name = 'v_moved'"),
    )?;
    ensure!(made.contains("v_logs_by_contract") && made.contains("5fbdb2315678afecb367f032d93f642f64180aa3"), "{made}");
    let abis: Value = serde_json::from_str(&fs::read_to_string(workspace::fixture("labels/abis.json"))?)?;
    let abi = abis
        .as_object()
        .and_then(|all| all.values().find(|abi| abi.to_string().contains("\"event\"")))
        .context("an ABI")?;
    let folder = env::directory()?;
    let file = folder.path().join("abi.json");
    fs::write(&file, abi.to_string())?;
    let file = file.display().to_string();
    env::run(env::ingest(database, &["views", "add", "--abi", &file, "--name", "v_counter"]), 0)?;
    let made = rows(
        database,
        &format!("SELECT name FROM system.tables WHERE database = '{database}' AND startsWith(name, 'v_counter_')"),
    )?;
    ensure!(!made.is_empty());
    // What is no view of an event is not replaced, and what cannot be a view is refused.
    for refused in [
        &["views", "add", "--event", event, "--name", "v_logs"][..],
        &["views", "add", "--event", event, "--name", "blocks"],
        &["views", "add", "--event", event, "--name", "v;drop"],
        &["views", "add", "--event", "Moved(address,uint256)"],
        &["views", "add", "--event", "Moved((uint256,bool) pair)"],
        &["views", "add"],
    ] {
        env::run(env::ingest(database, refused), 2)?;
    }
    Ok(())
}
