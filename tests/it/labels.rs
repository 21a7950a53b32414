//! `trawl-ingest labels` and what the API makes of it: names, tags, decoded logs, names of methods.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use tempfile::TempDir;
use xtask::process::Server;
use xtask::{http, workspace};

use crate::chains::dump;
use crate::env::{self, Database};

mod export;
mod folders;
mod hostile;
mod keys;
mod names;
mod reverts;
mod sources;
mod sourcify;
mod tokens;

/// Contracts of the scenario chain, as its own script names them in `expected.json`.
const GOLD: &str = "0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512";
const NOISE: &str = "0xA51c1fc2f0D1a1b8494Ed1FE312d7C3a78Ed91C0";
const UUPS_PROXY: &str = "0x9A676e781A523b5d0C0e43731313A708CB607508";
const BEACON_PROXY: &str = "0x9A9f2CCfdE556A7E9Ff0848998Aa4a0CFD8863AE";
const FIRST_ACCOUNT: &str = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";

fn fixture(name: &str) -> String {
    workspace::fixture(&format!("labels/{name}")).display().to_string()
}

/// The scenario chain in a database of the test's own.
fn scenario(database: &str) -> anyhow::Result<Database> {
    let guard = env::migrate(database)?;
    env::run(env::ingest(database, &["load", "--dump", &dump("devchain")]), 0)?;
    Ok(guard)
}

/// Loads labels and returns what the program says, on stdout or stderr.
fn labels(database: &str, files: &[&str], code: i32) -> anyhow::Result<String> {
    let output = env::run(env::ingest(database, &[&["labels"], files].concat()), code)?;
    Ok(String::from_utf8_lossy(if code == 0 { &output.stdout } else { &output.stderr }).into_owned())
}

fn written(folder: &TempDir, name: &str, text: &str) -> anyhow::Result<String> {
    let file: PathBuf = folder.path().join(name);
    fs::create_dir_all(file.parent().unwrap_or(Path::new("/")))?;
    fs::write(&file, text)?;
    Ok(file.display().to_string())
}

fn get(api: &Server, path: &str) -> anyhow::Result<Value> {
    let answer = http::get(&http::agent(), &format!("{}/api/v2/{path}", api.url))?;
    ensure!(answer.status == 200, "{path}: {} {}", answer.status, answer.text());
    answer.json()
}

/// The log with an index of a transaction.
fn log(api: &Server, transaction: &str, index: u64) -> anyhow::Result<Value> {
    let list = get(api, &format!("transactions/{transaction}/logs?items_count=100"))?;
    let items = list["items"].as_array().context("items")?;
    items.iter().find(|item| item["index"] == index).cloned().with_context(|| format!("no log {index}: {list}"))
}

/// What viem reads in logs of the scenario chain: made by `make.mjs` in the folder of the fixture.
fn read_by_viem() -> anyhow::Result<Vec<Value>> {
    fs::read_to_string(fixture("decoded.json"))?.lines().map(|line| Ok(serde_json::from_str(line)?)).collect()
}

#[test]
fn logs_are_decoded_by_the_abi_that_ran() -> anyhow::Result<()> {
    let database = "labels_decoded";
    let _database = scenario(database)?;
    labels(database, &[&fixture("abis.json")], 0)?;
    let api = env::start_api(database, &[])?;
    let mut versions = std::collections::BTreeSet::new();
    // The second time everything is remembered.
    for _ in 0..2 {
        for expected in read_by_viem()? {
            let (transaction, index) = (expected["transaction"].as_str().unwrap_or_default(), &expected["index"]);
            let found = log(&api, transaction, index.as_u64().context("index")?)?;
            let decoded = &found["decoded"];
            let parameters = expected["parameters"].as_array().context("parameters")?;
            let inputs: Vec<String> = parameters
                .iter()
                .map(|input| {
                    let indexed = if input["indexed"] == true { " indexed" } else { "" };
                    format!(
                        "{}{indexed} {}",
                        input["type"].as_str().unwrap_or_default(),
                        input["name"].as_str().unwrap_or_default()
                    )
                })
                .collect();
            let call = format!("{}({})", expected["event"].as_str().unwrap_or_default(), inputs.join(", "));
            ensure!(decoded["method_call"] == call, "{call}: {found}");
            ensure!(found["topics"][0].as_str().is_some_and(|topic| topic[..10] == decoded["method_id"]), "{found}");
            for (position, expected) in parameters.iter().enumerate() {
                let parameter = &decoded["parameters"][position];
                ensure!(parameter["value"] == expected["value"], "{call}: {parameter} is not {expected}");
                ensure!(parameter["indexed"] == expected["indexed"] && parameter["indexed?"] == expected["indexed"]);
            }
            if found["address"]["hash"] == UUPS_PROXY {
                versions.insert(call);
            }
        }
    }
    // The proxy was upgraded: both ABIs were used, each for its time.
    ensure!(versions.len() == 2, "{versions:?}");
    api.stop()?;
    Ok(())
}

#[test]
fn addresses_show_what_was_loaded() -> anyhow::Result<()> {
    let database = "labels_shown";
    let _database = scenario(database)?;
    let api = env::start_api(database, &[])?;
    let transfers = format!("addresses/{FIRST_ACCOUNT}/token-transfers?items_count=100&token={GOLD}");
    let side = |page: &Value, hash: &str| -> anyhow::Result<Value> {
        let items = page["items"].as_array().context("items")?.iter();
        let mut sides = items.flat_map(|item| [&item["from"], &item["to"]]);
        sides.find(|side| side["hash"] == hash).cloned().with_context(|| format!("no {hash}"))
    };
    let before = side(&get(&api, &transfers)?, FIRST_ACCOUNT)?;
    ensure!(before["name"].is_null() && before["metadata"].is_null() && before["public_tags"] == json!([]), "{before}");
    labels(database, &[&fixture("labels.csv"), &fixture("abis.json")], 0)?;
    // No restart: the API follows what is loaded.
    env::eventually(env::SOON, || Ok(side(&get(&api, &transfers)?, FIRST_ACCOUNT)?["name"] == "Faucet"))?;
    let tag =
        |slug: &str, name: &str| json!({"slug": slug, "name": name, "tagType": "generic", "ordinal": 0, "meta": {}});
    let mut metadata = tag("exchange", "exchange");
    metadata["tags"] = json!([tag("exchange", "exchange"), tag("hot-wallet", "Hot Wallet")]);
    let public = |label: &str, name: &str| json!({"address_hash": FIRST_ACCOUNT, "display_name": name, "label": label});
    let expected = json!({
        "hash": FIRST_ACCOUNT, "name": "Faucet", "ens_domain_name": "faucet.eth", "metadata": metadata,
        "public_tags": [public("exchange", "exchange"), public("hot-wallet", "Hot Wallet")],
        "is_verified": null, "is_contract": null, "implementation_name": null, "implementations": [],
        "proxy_type": null, "private_tags": [], "watchlist_names": [], "is_scam": false, "reputation": "ok",
    });
    let found = side(&get(&api, &transfers)?, FIRST_ACCOUNT)?;
    ensure!(found == expected, "{found}");
    // A proxy has no source of its own, and the name of whom it forwards its calls to.
    let upgraded = read_by_viem()?.into_iter().filter(|log| log["event"] == "Counted");
    let mut proxies = 0;
    for counted in upgraded {
        let transaction = counted["transaction"].as_str().unwrap_or_default();
        let emitter = log(&api, transaction, counted["index"].as_u64().context("index")?)?["address"].clone();
        if emitter["hash"] == UUPS_PROXY {
            proxies += 1;
            ensure!(emitter["implementation_name"] == "CounterV2" && emitter["is_verified"] == false, "{emitter}");
            ensure!(emitter["implementations"][0]["name"] == "CounterV2" && emitter["proxy_type"] == "eip1967");
            ensure!(emitter["public_tags"][0]["display_name"] == "Counter behind a proxy", "{emitter}");
        }
    }
    ensure!(proxies > 0);
    // A beacon names whom its proxies forward their calls to, and says so in a log of its own.
    let expected: Value =
        serde_json::from_str(&fs::read_to_string(workspace::fixture("devchain/node/expected.json"))?)?;
    let list = get(&api, &format!("addresses/{BEACON_PROXY}/internal-transactions"))?;
    let items = list["items"].as_array().context("items")?.iter();
    let mut ends = items.flat_map(|item| [&item["to"], &item["from"], &item["created_contract"]]);
    let proxy = ends.find(|end| end["hash"] == BEACON_PROXY).with_context(|| format!("no beacon proxy in {list}"))?;
    let counter = &expected["addresses"]["CounterV2"];
    ensure!(proxy["proxy_type"] == "eip1967_beacon" && proxy["implementation_name"] == "CounterV2", "{proxy}");
    ensure!(proxy["implementations"] == json!([{"address_hash": counter, "name": "CounterV2"}]), "{proxy}");
    // The label counts before the name of the verified source, which the page of the contract has.
    let gold = read_by_viem()?.into_iter().find(|log| log["event"] == "Approval").context("an approval")?;
    let gold = log(&api, gold["transaction"].as_str().unwrap_or_default(), gold["index"].as_u64().context("index")?)?;
    let source = get(&api, &format!("smart-contracts/{GOLD}"))?;
    ensure!(gold["address"]["name"] == "Gold, the token" && gold["address"]["is_verified"] == true, "{gold}");
    ensure!(source["name"] == "Coin", "{source}");
    // What the file says of another chain is not loaded.
    ensure!(env::sql(database, "SELECT count() FROM address_labels WHERE value LIKE 'Nobody%'")? == "0");
    api.stop()?;
    Ok(())
}

/// Rows of each table.
fn counts(database: &str) -> anyhow::Result<String> {
    let tables = ["label_loads", "address_labels", "contract_abis", "event_signatures", "function_signatures"];
    let counts: anyhow::Result<Vec<String>> =
        tables.iter().map(|table| env::sql(database, &format!("SELECT count() FROM {table}"))).collect();
    Ok(counts?.join(" "))
}

#[test]
fn loading_twice_changes_nothing() -> anyhow::Result<()> {
    let database = "labels_twice";
    let _database = scenario(database)?;
    let folder = env::directory()?;
    let dictionary =
        written(&folder, "signatures.txt", "event Moved(address indexed who)\n\n# a note\nmove(address)\n")?;
    let files = [fixture("labels.csv"), fixture("abis.json"), dictionary];
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let output = labels(database, &files, 0)?;
    ensure!(output.contains("5 ABIs, 5 new; 3 signatures, 3 new"), "{output}");
    let first = counts(database)?;
    ensure!(first.starts_with("1 "), "{first}");
    let output = labels(database, &files, 0)?;
    ensure!(output.contains(" 0 new; 5 ABIs, 0 new; 3 signatures, 0 new") && counts(database)? == first, "{output}");
    // A newer label counts, also the older one loaded again; what is taken back is gone.
    let api = env::start_api(database, &[])?;
    let name = || -> anyhow::Result<Value> {
        let page = get(&api, &format!("addresses/{FIRST_ACCOUNT}/token-transfers?token={GOLD}&filter=from"))?;
        Ok(page["items"][0]["from"]["name"].clone())
    };
    let becomes = |expected: Value| env::eventually(env::SOON, || Ok(name()? == expected));
    becomes(json!("Faucet"))?;
    let other = written(&folder, "other.json", &json!({FIRST_ACCOUNT: {"name": "Fountain"}}).to_string())?;
    labels(database, &[&other], 0)?;
    becomes(json!("Fountain"))?;
    let output = labels(database, &["--remove", files[0]], 0)?;
    ensure!(!output.contains(" 0 taken back; 0 ABIs"), "{output}");
    // The file has another name than the one that counts.
    becomes(json!("Fountain"))?;
    labels(database, &["--remove", &other], 0)?;
    becomes(Value::Null)?;
    labels(database, &[files[0]], 0)?;
    becomes(json!("Faucet"))?;
    api.stop()?;
    Ok(())
}

#[test]
fn dictionaries_say_what_no_abi_does() -> anyhow::Result<()> {
    let database = "labels_dictionary";
    let _database = scenario(database)?;
    let api = env::start_api(database, &[])?;
    let one = read_by_viem()?.into_iter().find(|log| log["event"] == "One").context("a log of Noise")?;
    let one = || log(&api, one["transaction"].as_str().unwrap_or_default(), one["index"].as_u64().unwrap_or_default());
    let summary = |hash: &str| get(&api, &format!("transactions/{hash}/summary"));
    let found = one()?;
    ensure!(found["decoded"].is_null() && found["address"]["hash"] == NOISE, "{found}");
    let topic = found["topics"][0].as_str().context("topic0")?;
    let transaction = found["transaction_hash"].as_str().context("hash")?.to_owned();
    let line = crate::chains::chain("devchain").lines.iter();
    let mut transactions = line.flat_map(|line| line["block"]["transactions"].as_array().into_iter().flatten());
    let input =
        transactions.find(|sent| sent["hash"] == transaction.as_str()).context("a transaction")?["input"].clone();
    let selector = &input.as_str().context("input")?[..10];
    ensure!(summary(&transaction)?.to_string().contains(selector), "{}", summary(&transaction)?);
    // Hashes are held against the signatures, and not believed.
    let folder = env::directory()?;
    let wrong = json!({"event": {topic: [{"name": "Two(uint256,string)"}]}});
    let stderr = labels(database, &[&written(&folder, "wrong.json", &wrong.to_string())?], 3)?;
    ensure!(stderr.contains("wrong.json") && stderr.contains("has the hash"), "{stderr}");
    let right = json!({"ok": true, "result": {"event": {topic: [{"name": "One(uint256,string)", "filtered": false}]}, "function": {}}});
    labels(database, &[&written(&folder, "right.json", &right.to_string())?], 0)?;
    env::eventually(env::SOON, || Ok(!one()?["decoded"].is_null()))?;
    let decoded = one()?["decoded"].clone();
    ensure!(decoded["method_call"] == "One(uint256 indexed arg0, string arg1)", "{decoded}");
    ensure!(decoded["parameters"][0]["value"] == "1" && decoded["parameters"][1]["value"] == "kept", "{decoded}");
    // What says names and what is indexed replaces what does not.
    let better = "One(uint256 indexed number, string text)";
    let table = format!("kind,signature,hash\nevent,\"{better}\",{topic}\n");
    labels(database, &[&written(&folder, "better.csv", &table)?], 0)?;
    env::eventually(env::SOON, || Ok(one()?["decoded"]["method_call"] == better))?;
    // The ABI of the contract counts before all of them.
    labels(database, &[&fixture("abis.json")], 0)?;
    env::eventually(env::SOON, || Ok(one()?["decoded"]["method_call"] == "One(uint256 indexed a, string s)"))?;
    env::eventually(env::SOON, || Ok(!summary(&transaction)?.to_string().contains(selector)))?;
    let abis: Value = serde_json::from_str(&fs::read_to_string(fixture("abis.json"))?)?;
    let methods: Vec<&str> = abis[NOISE]["abi"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|entry| entry["type"] == "function")
        .filter_map(|entry| entry["name"].as_str())
        .collect();
    let answer = summary(&transaction)?;
    let method = &answer["data"]["summaries"][0]["summary_template_variables"]["method"]["value"];
    ensure!(methods.iter().any(|known| method == known), "{answer} has none of {methods:?}");
    api.stop()?;
    Ok(())
}

/// A load or a follow holds the lease for as long as it runs; labels wait for neither.
#[test]
fn they_need_no_lease() -> anyhow::Result<()> {
    let database = "labels_lease";
    let _database = scenario(database)?;
    let before = env::sql(database, "SELECT count() FROM ingest_leases")?;
    labels(database, &[&fixture("labels.csv")], 0)?;
    ensure!(env::sql(database, "SELECT count() FROM ingest_leases")? == before, "labels took the lease");
    Ok(())
}
