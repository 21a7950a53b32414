//! Files that are wrong are refused as a whole, with the line; tables that are wrong never spoil a page.

use anyhow::ensure;
use serde_json::{Value, json};

use super::{FIRST_ACCOUNT, GOLD, NOISE, counts, fixture, get, labels, log, read_by_viem, scenario, written};
use crate::env;

#[test]
fn bad_rows_are_refused_by_place() -> anyhow::Result<()> {
    let database = "labels_refused";
    let _database = scenario(database)?;
    let folder = env::directory()?;
    let good = format!("address,name\n{FIRST_ACCOUNT},Good\n");
    let abi = |abi: Value| json!({GOLD: {"abi": abi}}).to_string();
    let bad: Vec<(&str, String, &str, &str)> = vec![
        ("short.csv", format!("{good}0x12,Bad\n"), "line 3", "`0x12` is not an address"),
        ("cells.csv", format!("{good}{GOLD}\n"), "line 3", "not a row of the table"),
        ("header.csv", format!("who,what\n{GOLD},x\n"), "line 1", "there is no column `address`"),
        ("chain.csv", format!("address,name,chain_id\n{GOLD},x,one\n"), "line 2", "chain id `one` is not a number"),
        ("long.csv", format!("address,name\n{GOLD},{}\n", "x".repeat(1001)), "line 2", "too long"),
        ("type.csv", format!("address,tag,tag_type\n{GOLD},x,rumour\n"), "line 2", "tag type `rumour` is unknown"),
        ("ordinal.csv", format!("address,tag,ordinal\n{GOLD},x,-1\n"), "line 2", "`ordinal`"),
        (
            "lines.jsonl",
            format!("{{\"address\":\"{GOLD}\",\"name\":\"x\"}}\n{{\"name\":\"y\"}}\n"),
            "line 2",
            "has an unknown format",
        ),
        ("cut.json", format!("[\n{{\"address\":\"{GOLD}\",\n"), "line 3", "not JSON"),
        ("number.json", json!([{"address": GOLD, "name": 7}]).to_string(), "item 0", "`name` is not text"),
        ("map.json", json!({GOLD: 7}).to_string(), GOLD, "is not a label of an address"),
        ("no_list.json", abi(json!({"type": "function"})), GOLD, "the ABI is not a list"),
        ("no_name.json", abi(json!([{"type": "event", "inputs": []}])), "entry 0 of the ABI", "has no name"),
        ("no_type.json", abi(json!([{"type": "spell", "name": "x"}])), "entry 0 of the ABI", "unknown"),
        (
            "long_entry.json",
            abi(json!([{"type": "event", "name": "x".repeat(70_000), "inputs": []}])),
            "entry 0",
            "too long",
        ),
        ("lonely.json", json!([{"type": "function", "name": "f", "inputs": []}]).to_string(), "line 1", "ADDRESS=FILE"),
        ("events.txt", "event Fine(address a)\nevent Bad(adress a)\n".into(), "line 2", "`adress`"),
        ("bomb.txt", "event Bomb(uint8[4000000000] a)\n".into(), "line 1", "too large"),
        ("hash.csv", "signature,hash\ntransfer(address;uint256),0x12345678\n".replace(';', ","), "line 2", ""),
        ("unknown.bin", "what is this".into(), "its name", "end it with"),
    ];
    let before = counts(database)?;
    for (name, text, line, reason) in bad {
        let good = written(&folder, "good.csv", &good)?;
        let output = labels(database, &[&good, &written(&folder, name, &text)?], 3)?;
        let is_named = output.contains(name) && output.contains(line) && output.contains(reason);
        ensure!(is_named && output.contains("nothing was written"), "{name}: {output}");
        ensure!(counts(database)? == before, "{name} was refused, and something was written");
    }
    labels(database, &["/nowhere/at/all.csv"], 1)?;
    labels(database, &[], 2)?;
    let empty = written(&folder, "empty.csv", "address,name\n")?;
    ensure!(labels(database, &[&empty], 3)?.contains("nothing to load"));
    Ok(())
}

/// What the loader would refuse is put into the tables by hand.
#[test]
fn hostile_abis_never_spoil_a_page() -> anyhow::Result<()> {
    let database = "labels_hostile";
    let _database = scenario(database)?;
    // ABIs with true names and types that do not fit the data: all of it is loaded, and nothing is read wrong.
    let event =
        |name: &str, inputs: Value| json!({"type": "event", "name": name, "inputs": inputs, "anonymous": false});
    let input = |ty: &str, indexed: bool| json!({"name": "x", "type": ty, "indexed": indexed});
    let twice = event("Transfer", json!([input("address", false), input("address", false), input("uint256", false)]));
    let deep = event("One", json!([input("uint256", true), input("uint256[][][][][][][][]", false)]));
    let file = json!({GOLD: {"abi": [twice]}, NOISE: {"abi": [deep]}});
    let folder = env::directory()?;
    labels(database, &[&written(&folder, "hostile.json", &file.to_string())?], 0)?;
    let entries = [
        ("event", "not json"),
        ("event", "{}"),
        (
            "event",
            r#"{"type":"event","name":"One","inputs":[{"name":"a","type":"uint8[4000000000]","indexed":false}]}"#,
        ),
        ("event", r#"{"type":"event","name":"One","inputs":[{"name":"a","type":"tuple","indexed":true}]}"#),
        ("function", ""),
        ("spell", "{}"),
    ];
    let topics = env::sql(database, "SELECT groupUniqArray(hex(topic0)) FROM logs FORMAT TSVRaw")?;
    for (entry_type, entry) in entries {
        env::sql(
            database,
            &format!(
                "INSERT INTO contract_abis SELECT address, substring(unhex(arrayJoin({topics})), 1, 4), generation, 0, \
                 '{entry_type}', 'f(', '{entry}', now64(6) FROM address_labels WHERE label_type = 'abi'"
            ),
        )?;
    }
    env::sql(
        database,
        &format!(
            "INSERT INTO event_signatures SELECT unhex(arrayJoin({topics})), arrayJoin(['One(', '', 'One(uint8[999999999])', \
             '\\xff\\xfe', 'Other(uint256)']), (SELECT max(generation) FROM label_loads), '', now64(6)"
        ),
    )?;
    env::sql(
        database,
        "INSERT INTO address_labels (address, label_type, slug, generation, value, tag_type, meta) \
         SELECT DISTINCT address, 'public_tag', toString(number), (SELECT max(generation) FROM label_loads), '\"<\\n', 'x', '{' \
         FROM (SELECT DISTINCT address FROM logs) AS emitters CROSS JOIN numbers(200) AS numbers",
    )?;
    let api = env::start_api(database, &[])?;
    for expected in read_by_viem()? {
        let transaction = expected["transaction"].as_str().unwrap_or_default();
        let found = log(&api, transaction, expected["index"].as_u64().unwrap_or_default())?;
        ensure!(found["address"]["public_tags"].as_array().is_some_and(|tags| tags.len() == 50), "{found}");
        let is_standard = ["Transfer", "Approval", "Deposit", "Withdraw"].iter().any(|name| expected["event"] == *name);
        ensure!(found["decoded"].is_null() != is_standard, "{found}");
        get(&api, &format!("transactions/{transaction}/summary"))?;
    }
    get(&api, &format!("addresses/{FIRST_ACCOUNT}/token-transfers"))?;
    api.stop()?;
    // The true ABIs repair it.
    labels(database, &[&fixture("abis.json")], 0)?;
    let api = env::start_api(database, &[])?;
    let one = read_by_viem()?.into_iter().find(|log| log["event"] == "One").unwrap_or_default();
    let found = log(&api, one["transaction"].as_str().unwrap_or_default(), one["index"].as_u64().unwrap_or_default())?;
    ensure!(found["decoded"]["method_call"] == "One(uint256 indexed a, string s)", "{found}");
    api.stop()?;
    Ok(())
}
