//! State history: what the tables say of any account at any block is what the recorded chain says, whatever it was
//! loaded from.

use std::collections::BTreeMap;

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use xtask::{http, workspace};

use super::node::Node;
use super::{Forgery, load, write_dump};
use crate::chains::{self, chain};
use crate::dice::Dice;
use crate::env;

/// Blocks of the recorded chain.
const BLOCKS: u64 = 55;
/// The first block in which the system keeps queues that no difference of a transaction shows (Prague).
const PRAGUE: u64 = 45;

fn genesis() -> String {
    workspace::fixture("hive/genesis.json").display().to_string()
}

/// `what account [slot] block` → value; what is zero or empty is absent.
type State = BTreeMap<String, String>;

/// The state after every block, from the chain's own differences.
fn recorded() -> State {
    let mut state = State::new();
    let mut accounts: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    for line in &chain("hive").lines {
        for (address, change) in line["stateDiff"].as_object().into_iter().flatten() {
            let Some(change) = change.as_object() else {
                accounts.remove(address);
                continue;
            };
            let account = accounts.entry(address.clone()).or_default();
            for (name, value) in change {
                match value {
                    Value::Object(slots) => {
                        for (slot, value) in slots {
                            account.insert(format!("slot {address} {slot}"), trimmed(value));
                        }
                    }
                    value => drop(account.insert(format!("{name} {address}"), trimmed(value))),
                }
            }
        }
        let number = chains::quantity(&line["block"]["number"]);
        for (key, value) in accounts.values().flatten().filter(|(_, value)| !value.is_empty()) {
            state.insert(format!("{key} {number}"), value.clone());
        }
    }
    state
}

/// Hexadecimal digits without leading zeros; of code all of them, which never begins with a zero here.
fn trimmed(value: &Value) -> String {
    value.as_str().unwrap_or_default().trim_start_matches("0x").trim_start_matches('0').to_owned()
}

/// The state after every block, in plain SQL.
fn stored(database: &str) -> anyhow::Result<State> {
    let mut state = State::new();
    for query in [BALANCES, NONCES, CODES, SLOTS] {
        for line in env::sql(database, query)?.lines() {
            let (key, value) = line.split_once('\t').context("two columns")?;
            let value = value.trim_start_matches('0').to_lowercase();
            if !value.is_empty() {
                state.insert(key.to_lowercase(), value);
            }
        }
    }
    Ok(state)
}

const BALANCES: &str = "
    WITH
        rows AS (
            SELECT address, toInt64(block_number) AS block, balance FROM balance_history
            UNION ALL
            SELECT DISTINCT address, toInt64(-1), toUInt256(0) FROM balance_credits),
        last AS (
            SELECT address, number, max(block) AS since, argMax(balance, block) AS base
            FROM rows CROSS JOIN numbers(55) AS points
            WHERE block <= toInt64(number)
            GROUP BY address, number)
    SELECT concat('balance 0x', hex(address), ' ', toString(number)), hex(base + (sumIf(amount, toInt64(block_number) BETWEEN since AND toInt64(number))))
    FROM last LEFT JOIN balance_credits ON last.address = balance_credits.address
    GROUP BY address, number, base";

const NONCES: &str = "
    SELECT concat('nonce 0x', hex(address), ' ', toString(number)), hex(argMax(nonce, block_number))
    FROM nonce_history CROSS JOIN numbers(55) AS points
    WHERE block_number <= number
    GROUP BY address, number";

const CODES: &str = "
    WITH last AS (
        SELECT address, number, argMax(code_hash, block_number) AS hash
        FROM code_history CROSS JOIN numbers(55) AS points
        WHERE block_number <= number
        GROUP BY address, number)
    SELECT concat('code 0x', hex(address), ' ', toString(number)), hex(code)
    FROM last INNER JOIN (SELECT code_hash, any(code) AS code FROM codes GROUP BY code_hash) AS known
        ON last.hash = known.code_hash";

const SLOTS: &str = "
    WITH
        ended AS (SELECT address, groupArray(block_number) AS blocks FROM account_destructions GROUP BY address)
    SELECT concat('slot 0x', hex(address), ' 0x', hex(slot), ' ', toString(number)),
        hex(argMaxIf(value, block_number, NOT arrayExists(end -> end <= number AND end > block_number, blocks)))
    FROM storage_history LEFT JOIN ended USING (address) CROSS JOIN numbers(55) AS points
    WHERE block_number <= number
    GROUP BY address, slot, number";

/// Compares the state after the blocks up to `last` (55: all of them).
fn compare(database: &str, blocks: u64) -> anyhow::Result<()> {
    let within = |(key, _): &(&String, &String)| {
        key.rsplit(' ').next().and_then(|number| number.parse::<u64>().ok()).is_some_and(|number| number < blocks)
    };
    let (found, expected) = (stored(database)?, recorded());
    let differs: Vec<_> = expected
        .iter()
        .filter(within)
        .filter(|(key, value)| found.get(*key) != Some(*value))
        .map(|(key, value)| format!("{key}: {:?} instead of {value}", found.get(key)))
        .chain(
            found
                .iter()
                .filter(within)
                .filter(|(key, _)| !expected.contains_key(*key))
                .map(|(key, value)| format!("{key}: {value} instead of nothing")),
        )
        .collect();
    ensure!(expected.len() > 9_000, "only {} values to compare", expected.len());
    ensure!(differs.is_empty(), "{} values differ: {:#?}", differs.len(), &differs[..differs.len().min(20)]);
    Ok(())
}

/// How many blocks of a database have a part.
pub(super) fn covered(database: &str, part: &str) -> anyhow::Result<u64> {
    let sql = format!("SELECT sum(last_block - first_block + 1) FROM ingest_commits WHERE has(parts, '{part}')");
    Ok(env::sql(database, &sql)?.parse()?)
}

#[test]
fn of_a_dump_is_that_of_the_chain() -> anyhow::Result<()> {
    let database = chain("hive").name;
    compare(database, BLOCKS)?;
    ensure!(covered(database, "state")? == BLOCKS && covered(database, "state_transactions")? == 0);
    let genesis: Value = serde_json::from_str(&std::fs::read_to_string(genesis())?)?;
    let with_code =
        genesis["alloc"].as_object().into_iter().flatten().filter(|(_, account)| account["code"].is_string());
    let contracts = env::sql(database, "SELECT count() FROM contracts WHERE creation_type = 'genesis'")?;
    ensure!(contracts == with_code.count().to_string(), "{contracts}");
    points_of_a_node(database)
}

/// The recorded differences are compared as a whole; here a node says what it answers for some of them.
fn points_of_a_node(database: &str) -> anyhow::Result<()> {
    let node = Node::start("hive", &[])?;
    let state: Vec<_> = stored(database)?.into_iter().collect();
    let mut dice = Dice(3);
    for _ in 0..300 {
        let (key, value) = dice.pick(&state);
        let words: Vec<&str> = key.split(' ').collect();
        let block = format!("{:#x}", words.last().context("a block")?.parse::<u64>()?);
        let (method, parameters) = match words[0] {
            "balance" => ("eth_getBalance", json!([words[1], block])),
            "nonce" => ("eth_getTransactionCount", json!([words[1], block])),
            "code" => ("eth_getCode", json!([words[1], block])),
            _ => ("eth_getStorageAt", json!([words[1], words[2], block])),
        };
        let answer = http::rpc(&http::agent(), &node.url, method, &parameters)?;
        ensure!(trimmed(&answer["result"]) == *value, "{key}: {answer} instead of {value}");
    }
    Ok(())
}

/// The chain's lines with some members taken away.
fn without(members: &[&str]) -> anyhow::Result<Vec<Value>> {
    let mut lines = chains::lines("hive")?;
    for line in &mut lines {
        for member in members {
            line.as_object_mut().context("an object")?.remove(*member);
        }
    }
    Ok(lines)
}

fn load_lines(database: &str, lines: &[Value], more: &[&str], code: i32) -> anyhow::Result<String> {
    env::create_tables(database)?;
    let file = write_dump(lines)?;
    let more = [&["--chain-id", "3503995874084926"], more].concat();
    load(database, &file.path().display().to_string(), &more, code)
}

#[test]
fn of_transactions_and_the_system_is_that_of_the_chain() -> anyhow::Result<()> {
    let database = "state_and_system";
    let _database = env::database(database);
    load_lines(database, &without(&["stateDiff"])?, &["--genesis", &genesis()], 0)?;
    compare(database, BLOCKS)?;
    ensure!(covered(database, "state")? == BLOCKS && env::sql(database, "SELECT count() FROM balance_credits")? == "0");
    Ok(())
}

#[test]
fn of_transactions_is_called_so_where_it_is_not_all() -> anyhow::Result<()> {
    let database = "state_transactions";
    let _database = env::database(database);
    load_lines(database, &without(&["stateDiff", "systemDiff"])?, &["--genesis", &genesis()], 0)?;
    compare(database, PRAGUE)?;
    ensure!(covered(database, "state")? == PRAGUE);
    ensure!(covered(database, "state_but_system")? == BLOCKS - PRAGUE && covered(database, "state_transactions")? == 0);
    // Apart from the queues all of it is there.
    let credits = "SELECT reason, count() > 0 FROM balance_credits GROUP BY reason ORDER BY reason";
    let credits = env::sql(database, credits)?;
    ensure!(credits == "block reward\t1\nuncle reward\t1\nwithdrawal\t1", "{credits}");
    Ok(())
}

fn of_a_node(database: &str, flags: &[&str]) -> anyhow::Result<()> {
    let node = Node::start("hive", flags)?;
    let _database = env::migrate(database)?;
    env::run(env::ingest(database, &["load", "--rpc-url", &node.url, "--genesis", &genesis()]), 0)?;
    compare(database, BLOCKS)?;
    ensure!(covered(database, "state")? == BLOCKS && covered(database, "state_transactions")? == 0);
    Ok(())
}

#[test]
fn is_not_claimed_without_the_rules_of_the_chain() -> anyhow::Result<()> {
    let database = "state_no_rules";
    let node = Node::start("hive", &[])?;
    let _database = env::migrate(database)?;
    env::run(env::ingest(database, &["load", "--rpc-url", &node.url]), 0)?;
    ensure!(covered(database, "state")? == 0 && covered(database, "state_transactions")? == BLOCKS - 1);
    ensure!(env::sql(database, "SELECT count() FROM balance_credits")? == "0");
    // A genesis with a rule nobody here knows claims no more than its allocation.
    let mut other: Value = serde_json::from_str(&std::fs::read_to_string(genesis())?)?;
    other["config"]["optimism"] = json!({"eip1559Elasticity": 6});
    let file = tempfile::NamedTempFile::new()?;
    std::fs::write(file.path(), other.to_string())?;
    let database = "state_unknown_rule";
    let lines = without(&["stateDiff", "systemDiff"])?;
    let _database = env::database(database);
    let text = load_lines(database, &lines, &["--genesis", &file.path().display().to_string()], 0)?;
    ensure!(text.contains("optimism"), "{text}");
    ensure!(covered(database, "state")? == 1 && covered(database, "state_transactions")? == BLOCKS - 1);
    Ok(())
}

#[test]
fn is_not_requested_when_off() -> anyhow::Result<()> {
    let database = "state_off";
    let node = Node::start("hive", &[])?;
    let _database = env::migrate(database)?;
    env::run(env::ingest(database, &["load", "--rpc-url", &node.url, "--state", "off"]), 0)?;
    ensure!(covered(database, "state")? == 0 && covered(database, "state_transactions")? == 0);
    let calls = http::get(&http::agent(), &format!("{}/control", node.url))?.json()?;
    ensure!(!calls.to_string().contains("debug_traceBlock"), "{calls}");
    Ok(())
}

#[test]
fn that_a_node_does_not_keep_is_missing() -> anyhow::Result<()> {
    let database = "state_not_kept";
    let node = Node::start("hive", &["--missing-trace", "20,21"])?;
    let _database = env::migrate(database)?;
    env::run(env::ingest(database, &["load", "--rpc-url", &node.url, "--genesis", &genesis()]), 0)?;
    ensure!(covered(database, "state")? == BLOCKS - 2 && covered(database, "blocks")? == BLOCKS);
    let rows = "SELECT countIf(block_number IN (20, 21)), count() > 0 FROM balance_history";
    ensure!(env::sql(database, rows)? == "0\t1");
    Ok(())
}

/// The scenario's node reported nonces, balances and codes after its last block, some of them delegated and undone.
#[test]
fn of_delegations_is_what_the_node_had() -> anyhow::Result<()> {
    let expected: Value =
        serde_json::from_str(&std::fs::read_to_string(workspace::fixture("devchain/node/expected.json"))?)?;
    let mut lines = chains::lines("devchain")?;
    for line in &mut lines {
        for diff in line["txStateDiffs"].as_array_mut().into_iter().flatten() {
            diff.as_object_mut().context("an object")?.remove("prestateDiff");
        }
    }
    let parity = "state_delegations";
    let _database = env::migrate(parity)?;
    load(parity, &write_dump(&lines)?.path().display().to_string(), &["--chain-id", "31337"], 0)?;
    for database in [chain("devchain").name, parity] {
        for (member, table, value) in [
            ("code", "code_history", "concat('0x', lower(hex(argMax(code_hash, block_number))))"),
            ("nonces", "nonce_history", "toString(argMax(nonce, block_number))"),
            ("native", "balance_history", "toString(argMax(balance, block_number))"),
        ] {
            let sql = format!("SELECT concat('0x', lower(hex(address))), {value} FROM {table} GROUP BY address");
            let rows = env::sql(database, &sql)?;
            let found: BTreeMap<&str, &str> = rows.lines().filter_map(|line| line.split_once('\t')).collect();
            let mut compared = 0;
            for (address, answer) in expected[member].as_object().context("a map")? {
                let answer = answer.as_str().map_or_else(|| answer.to_string(), ToOwned::to_owned);
                // What never changed has no row: the allocation is not in this recording.
                if let Some(found) = found.get(address.to_lowercase().as_str()) {
                    ensure!(*found == answer, "{database}: {member} of {address} is {found} instead of {answer}");
                    compared += 1;
                }
            }
            ensure!(compared >= 9, "{database}: {member} of {compared} accounts");
        }
        let delegated = "SELECT count(), uniqExact(address) FROM code_history
                         WHERE code_hash IN (SELECT code_hash FROM codes WHERE startsWith(code, unhex('ef0100')))";
        ensure!(env::sql(database, delegated)? == "2\t2", "{}", env::sql(database, delegated)?);
        ensure!(covered(database, "state_transactions")? == 91 && covered(database, "state")? == 0);
    }
    Ok(())
}

/// The implementations that the scenario's node reported for its proxies in the end, after upgrades.
#[test]
fn names_the_proxies_of_the_scenario() -> anyhow::Result<()> {
    let expected: Value =
        serde_json::from_str(&std::fs::read_to_string(workspace::fixture("devchain/node/expected.json"))?)?;
    let database = chain("devchain").name;
    for (proxy, entry) in expected["proxies"].as_object().context("proxies")? {
        let (kind, target) = match entry["beacon"].as_str() {
            Some(beacon) => ("eip1967_beacon", beacon),
            None => ("eip1967", entry["implementation"].as_str().context("an address")?),
        };
        let sql = format!(
            "SELECT concat('0x', lower(hex(argMax(implementation, block_number)))) FROM proxy_implementations
             WHERE address = unhex('{}') AND kind = '{kind}'",
            proxy.trim_start_matches("0x")
        );
        let found = env::sql(database, &sql)?;
        ensure!(found == target.to_lowercase(), "{proxy}: {found} instead of {target}");
    }
    // One account was delegated and undelegated, another stayed delegated.
    let delegated = "SELECT count(), countIf(implementation = unhex(repeat('0', 40))), uniqExact(address)
                     FROM proxy_implementations WHERE kind = 'eip7702'";
    ensure!(env::sql(database, delegated)? == "3\t1\t2", "{}", env::sql(database, delegated)?);
    Ok(())
}

#[test]
fn of_another_genesis_is_refused() -> anyhow::Result<()> {
    let mut other: Value = serde_json::from_str(&std::fs::read_to_string(genesis())?)?;
    let account = other["alloc"].as_object_mut().and_then(|alloc| alloc.values_mut().next()).context("an account")?;
    account["balance"] = json!("0x1234567");
    let file = tempfile::NamedTempFile::new()?;
    std::fs::write(file.path(), other.to_string())?;
    let path = file.path().display().to_string();
    let _database = env::database("state_other_genesis");
    let text = load_lines("state_other_genesis", &without(&["stateDiff"])?, &["--genesis", &path], 3)?;
    ensure!(text.contains("block 0 is refused: state root of the genesis allocation: expected"), "{text}");
    ensure!(env::sql("state_other_genesis", "SELECT count() FROM ingest_commits")? == "0");
    std::fs::write(file.path(), "{}")?;
    let _database = env::database("state_no_genesis");
    let text = load_lines("state_no_genesis", &[], &["--genesis", &path], 1)?;
    ensure!(text.contains("is not in geth's form"), "{text}");
    other["config"]["chainId"] = json!(5);
    std::fs::write(file.path(), other.to_string())?;
    let text = load_lines("state_no_genesis", &[], &["--genesis", &path], 3)?;
    ensure!(text.contains("3503995874084926"), "{text}");
    Ok(())
}

#[test]
fn differences_of_another_block_are_refused() -> anyhow::Result<()> {
    let lines = without(&["stateDiff", "systemDiff"])?;
    let tampered: [Forgery; 4] = [
        ("of them and 4 transactions", |line| drop(line["txStateDiffs"].as_array_mut().map(Vec::pop))),
        ("is of transaction", |line| {
            line["txStateDiffs"][1]["txHash"] = json!(format!("0x{}", "12".repeat(32)));
        }),
        ("is not there", |line| line["txStateDiffs"][2] = json!({"txHash": null})),
        ("refused", |line| line["txStateDiffs"][0]["prestateDiff"]["post"] = json!({"0x12": {}})),
    ];
    for (position, (message, tamper)) in tampered.into_iter().enumerate() {
        let mut lines = lines[..12].to_vec();
        tamper(&mut lines[8]);
        let _database = env::database(&format!("state_tampered_{position}"));
        let text = load_lines(&format!("state_tampered_{position}"), &lines, &[], 3)?;
        ensure!(text.contains("state differences of block 8") && text.contains(message), "{text}");
    }
    Ok(())
}

tests! {
    of_prestate_tracer_is_that_of_the_chain: of_a_node("state_prestate", &[]),
    of_replayed_transactions_is_that_of_the_chain: of_a_node("state_replayed", &["--disable", "debug_*"]),
    of_a_flaky_node_is_that_of_the_chain:
        of_a_node("state_flaky", &["--fault", "rpcerror=0.02", "--fault", "http500=0.05", "--seed", "7"]),
}
