//! Call frames: rows against the nodes' recorded answers, from dumps and from nodes, in both forms.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use xtask::workspace;

use super::node::Node;
use super::{load, write_dump};
use crate::chains::{self, chain, quantity};
use crate::env::{self, Database};
use recorded::{NULL, Row, from_call_tracer, from_trace_block};

mod recorded;

/// Loads a recorded chain through a node; gives the database.
fn from_node(name: &str, node: &[&str], flags: &[&str]) -> anyhow::Result<Database> {
    let node = Node::start(name, node)?;
    let database = env::migrate(&format!("traces_{}", node.url.rsplit(':').next().unwrap_or_default()))?;
    env::run(env::ingest(&database, &[&["load", "--rpc-url", &node.url], flags].concat()), 0)?;
    Ok(database)
}

const COLUMNS: &str = "block_number, transaction_index, frame_index, lower(hex(transaction_hash)), toString(trace_address), \
    frame_type, call_type, lower(hex(from_address)), lower(hex(to_address)), lower(hex(created_contract)), value, gas_limit, \
    error, gas_used, lower(hex(input)), lower(hex(output)), subtraces, execution_gas_limit, execution_gas_used, \
    toUnixTimestamp(block_timestamp)";
const ERROR: usize = 12;
const GAS_USED: usize = 13;
const EXECUTION: std::ops::Range<usize> = 17..19;

fn all(database: &str, condition: &str) -> anyhow::Result<Vec<Row>> {
    // A chain is loaded at its first use.
    if let Some(name) = ["hive", "mainnet", "devchain"].into_iter().find(|name| *name == database) {
        chain(name);
    }
    let sql = format!("SELECT {COLUMNS} FROM internal_transactions WHERE {condition} ORDER BY 1, 2, 3 FORMAT TSVRaw");
    let text = env::sql(database, &sql)?;
    Ok(text.lines().map(|line| line.split('\t').map(Into::into).collect()).collect())
}

fn ensure_same(found: &[Row], expected: &[Row], what: &str) -> anyhow::Result<()> {
    for (found, expected) in found.iter().zip(expected) {
        ensure!(found == expected, "{what}: {found:?}\ninstead of\n{expected:?}");
    }
    ensure!(found.len() == expected.len(), "{what}: {} rows instead of {}", found.len(), expected.len());
    Ok(())
}

#[test]
fn rows_equal_what_trace_block_answered() -> anyhow::Result<()> {
    for (name, frames) in [("hive", 249 + 53), ("devchain", 608), ("mainnet", 143 + 1)] {
        let expected = from_trace_block(&chain(name).lines);
        ensure!(expected.len() == frames, "{name}: {} frames in the recording", expected.len());
        ensure_same(&all(name, "1")?, &expected, name)?;
    }
    Ok(())
}

#[test]
fn rows_equal_what_call_tracer_answered() -> anyhow::Result<()> {
    for (name, flags, frames) in [
        ("hive", &[][..], 249),
        ("devchain", &["--disable", "trace_*"][..], 608),
        ("hive", &["--disable", "debug_traceBlockByHash"][..], 249),
    ] {
        let database = from_node(name, flags, &["--traces", "call-tracer"])?;
        let expected = from_call_tracer(&chain(name).lines);
        ensure!(expected.len() == frames, "{name}: {} frames in the recording", expected.len());
        ensure_same(&all(&database, "1")?, &expected, name)?;
    }
    Ok(())
}

/// Left after normalising: words of errors, what only `trace_block` tells, and one fault of anvil.
#[test]
fn both_forms_give_the_same_rows() -> anyhow::Result<()> {
    for (name, differing) in [("hive", &[][..]), ("devchain", &["35 0 1"][..])] {
        // The callTracer form of the same dump: the other is taken out of its lines.
        let lines = chains::lines(name)?.into_iter().map(|mut line| {
            line.as_object_mut().map(|line| line.remove("parityTraces"));
            line
        });
        let file = write_dump(&lines.collect::<Vec<_>>())?;
        let database = format!("traces_forms_{name}");
        let _database = env::migrate(&database)?;
        load(&database, &file.path().display().to_string(), &["--chain-id", &chain_id(name)], 0)?;
        let alike = |row: &Row, tells_all: &Row| -> Row {
            let mut row = row.clone();
            row[ERROR] = (!row[ERROR].is_empty()).to_string();
            if tells_all[GAS_USED] == NULL {
                ensure_failed(tells_all);
                row[GAS_USED] = NULL.into();
            }
            row[EXECUTION].fill(NULL.into());
            row
        };
        let (trees, flat) = (all(&database, "1")?, all(name, "frame_type != 'reward'")?);
        ensure!(trees.len() == flat.len() && flat.len() > 200, "{name}: {} and {}", trees.len(), flat.len());
        let mut others = Vec::new();
        for (tree, flat) in trees.iter().zip(&flat) {
            if alike(tree, flat) != alike(flat, flat) {
                others.push(flat[..3].join(" "));
            }
        }
        ensure!(others == differing, "{name}: {others:?}");
    }
    Ok(())
}

/// Only failures may leave out what they used.
fn ensure_failed(row: &Row) {
    assert!(!row[ERROR].is_empty(), "{row:?}");
}

fn chain_id(name: &str) -> String {
    if name == "hive" { "3503995874084926".into() } else { "31337".into() }
}

/// `(block, transaction, frame)` per address and side, from the recording alone.
#[test]
fn participants_see_the_frames_the_lists_show() -> anyhow::Result<()> {
    for name in ["hive", "devchain"] {
        let mut expected: BTreeSet<String> = BTreeSet::new();
        let mut sides: BTreeSet<String> = BTreeSet::new();
        for row in from_trace_block(&chain(name).lines) {
            let is_shown = row[5] != "reward" && !(row[2] == "0" && row[5] == "call");
            if !is_shown {
                continue;
            }
            let at = row[..3].join(" ");
            for (side, address) in [("from", &row[7]), ("to", &row[8]), ("to", &row[9])] {
                if address != NULL {
                    expected.insert(format!("{address} {at}"));
                    sides.insert(format!("{address} {side} {at}"));
                }
            }
        }
        ensure!(expected.len() > 150, "{name}: {} participants", expected.len());
        for (table, columns, expected) in [
            ("internal_transactions_by_address", "", &expected),
            ("internal_transactions_by_direction", "direction, ", &sides),
        ] {
            let columns = format!("lower(hex(address)), {columns}block_number, transaction_index, frame_index");
            let text = env::sql(name, &format!("SELECT concatWithSeparator(' ', {columns}) FROM {table} ORDER BY 1"))?;
            let found: Vec<String> = text.lines().map(Into::into).collect();
            let mut expected: Vec<String> = expected.iter().cloned().collect();
            expected.sort_unstable();
            ensure!(found == expected, "{name}.{table}: {} rows instead of {}", found.len(), expected.len());
        }
        // What they say of a frame is what all frames say of it; the gas of a creation by transaction is what it got.
        let columns = "block_number, transaction_index, frame_index, transaction_hash, block_timestamp, frame_type, \
                       call_type, from_address, to_address, created_contract, value, error";
        for table in ["internal_transactions_by_address", "internal_transactions_by_direction"] {
            let strangers = env::sql(
                name,
                &format!(
                    "SELECT count() FROM (SELECT {columns}, gas_limit FROM {table} EXCEPT DISTINCT SELECT {columns}, \
                     ifNull(execution_gas_limit, gas_limit) FROM internal_transactions)"
                ),
            )?;
            ensure!(strangers == "0", "{name}.{table}: {strangers} rows of no frame");
        }
    }
    // A call to itself: one row in one table, two in the other.
    let own = "from_address = to_address AND frame_type = 'call' AND block_number > 0";
    let count = |table: &str| env::sql("devchain", &format!("SELECT count() FROM {table} WHERE {own}"));
    let (once, twice) = (count("internal_transactions_by_address")?, count("internal_transactions_by_direction")?);
    ensure!(once.parse::<u32>()? > 0 && twice.parse::<u32>()? == 2 * once.parse::<u32>()?, "{once} {twice}");
    Ok(())
}

/// The node reported which accounts had code at the end.
#[test]
fn contracts_are_those_that_exist() -> anyhow::Result<()> {
    chain("devchain");
    let path = workspace::fixture("devchain/node/expected.json");
    let expected: Value = serde_json::from_str(&std::fs::read_to_string(path)?)?;
    let text = env::sql(
        "devchain",
        "SELECT lower(hex(address)), lower(hex(argMax(code_hash, (block_number, transaction_index)))) FROM contracts GROUP BY 1",
    )?;
    let found: BTreeMap<&str, &str> = text.lines().filter_map(|line| line.split_once('\t')).collect();
    let mut checked = 0;
    for (address, code) in expected["code"].as_object().context("codes")? {
        let address = address.trim_start_matches("0x").to_lowercase();
        let Some(hash) = code["hash"].as_str().or(code["codeHash"].as_str()).or(code.as_str()) else { continue };
        if let Some(found) = found.get(address.as_str()) {
            ensure!(*found == hash.trim_start_matches("0x"), "{address}: {found} instead of {hash}");
            checked += 1;
        }
    }
    ensure!(checked > 10, "only {checked} contracts compared");
    // 37 creations lasted by the recording's own count of successes outside failed frames.
    let lasting: usize = chain("devchain").lines.iter().map(lasting_creations).sum();
    let count = env::sql("devchain", "SELECT count() FROM contracts")?;
    ensure!(count == lasting.to_string() && lasting > 30, "{count} instead of {lasting}");
    Ok(())
}

/// Creations in `callTracer`'s tree that no frame above undid.
fn lasting_creations(line: &Value) -> usize {
    fn count(frame: &Value) -> usize {
        if frame["error"].is_string() {
            return 0;
        }
        let below: usize = frame["calls"].as_array().into_iter().flatten().map(count).sum();
        below + usize::from(frame["type"].as_str().is_some_and(|kind| kind.starts_with("CREATE")))
    }
    line["traces"].as_array().into_iter().flatten().map(|trace| count(&trace["result"])).sum()
}

#[test]
fn contracts_without_traces_have_no_code() -> anyhow::Result<()> {
    let database = from_node("hive", &[], &["--traces", "off"])?;
    let columns = "address, block_number, transaction_hash, creator, creation_type";
    chain("hive");
    let roots = |database: &str| {
        env::sql(
            database,
            &format!("SELECT count(), sum(cityHash64({columns})) FROM contracts WHERE creation_type = 'transaction'"),
        )
    };
    ensure!(roots(&database)? == roots("hive")? && !roots("hive")?.starts_with("0\t"), "{}", roots(&database)?);
    let known = env::sql(&database, "SELECT countIf(code_hash IS NOT NULL OR code_size IS NOT NULL) FROM contracts")?;
    ensure!(known == "0", "{known} codes out of nothing");
    Ok(())
}

type TraceForgery = (&'static str, &'static str, fn(&mut Value));

#[test]
fn traces_that_do_not_fit_are_refused_by_name() -> anyhow::Result<()> {
    let (tree, flat) = ("traces", "parityTraces");
    let tampered: [TraceForgery; 13] = [
        (tree, "number of traces", |traces| drop(traces.as_array_mut().map(Vec::pop))),
        (tree, "transaction hash of a trace", |traces| traces[1]["txHash"] = json!(format!("0x{}", "12".repeat(32)))),
        (tree, "value of the outermost frame", |traces| traces[1]["result"]["value"] = json!("0x77")),
        (tree, "gas used by the outermost frame", |traces| traces[1]["result"]["gasUsed"] = json!("0xffffff")),
        (tree, "outcome of the outermost frame", |traces| traces[1]["result"]["error"] = json!("out of gas")),
        (tree, "sender of the outermost frame", |traces| {
            traces[1]["result"]["from"] = traces[1]["result"]["to"].clone();
        }),
        (tree, "hash of the input of the outermost frame", |traces| traces[1]["result"]["input"] = json!("0x77")),
        (flat, "outermost frames of a trace", |traces| traces[1] = json!([])),
        (flat, "block hash of a trace", |traces| traces[1][0]["blockHash"] = json!(format!("0x{}", "12".repeat(32)))),
        (flat, "subtraces of a frame", |traces| traces[1][0]["subtraces"] = json!(1)),
        (flat, "path of a frame", |traces| {
            let mut frame = traces[1][0].clone();
            frame["traceAddress"] = json!([1]);
            traces[1].as_array_mut().into_iter().for_each(|frames| frames.push(frame.clone()));
        }),
        (flat, "recipient of the outermost frame", |traces| {
            traces[1][0]["action"]["to"] = json!(format!("0x{}", "12".repeat(20)));
        }),
        (flat, "gas used by the outermost frame", |traces| traces[1][0]["result"]["gasUsed"] = json!("0xffffff")),
    ];
    let line = &chain("devchain").lines[7];
    ensure!(line["traces"].as_array().map_or(0, Vec::len) > 2);
    // None of them commits anything.
    let database = env::migrate("traces_tampered")?;
    for (form, check, tamper) in tampered {
        let mut line = line.clone();
        let other = if form == "traces" { "parityTraces" } else { "traces" };
        line.as_object_mut().map(|line| line.remove(other));
        tamper(&mut line[form]);
        let file = write_dump(&[line])?;
        let text = load(&database, &file.path().display().to_string(), &[], 3)?;
        ensure!(text.contains(&format!("block 7 is refused: {check}: expected")), "{check}: {text}");
        ensure!(env::sql(&database, "SELECT count() FROM internal_transactions")? == "0");
    }
    Ok(())
}

/// Answers of several nodes over the years: as many frames as there are entries, whatever their spelling.
#[test]
fn real_answers_of_many_nodes_are_read() -> anyhow::Result<()> {
    for line in chain("mainnet").lines.iter().filter(|line| line["parityTraces"][0].is_array()) {
        let height = quantity(&line["block"]["number"]);
        let roots = format!(
            "SELECT countIf(frame_index = 0), countIf(frame_index = 0 AND (error != '') = (t.status = 0)) \
             FROM internal_transactions AS i JOIN transactions AS t ON t.block_number = i.block_number \
             AND t.transaction_index = i.transaction_index WHERE i.block_number = {height}"
        );
        let count = line["parityTraces"].as_array().map_or(0, Vec::len);
        ensure!(env::sql("mainnet", &roots)? == format!("{count}\t{count}"), "block {height}");
    }
    Ok(())
}

fn parts(database: &str, height: u64) -> anyhow::Result<String> {
    let sql = format!(
        "SELECT toString(parts) FROM ingest_commits WHERE {height} BETWEEN first_block AND last_block FORMAT TSVRaw"
    );
    env::sql(database, &sql)
}

#[test]
fn a_node_without_traces_is_recorded_as_lacking_them() -> anyhow::Result<()> {
    let database = from_node("hive", &["--disable", "debug_*,trace_*"], &[])?;
    ensure!(!parts(&database, 20)?.contains("traces"), "disabled: {}", parts(&database, 20)?);
    ensure!(env::sql(&database, "SELECT count() FROM internal_transactions")? == "0");
    let database = from_node("hive", &["--missing-trace", "20"], &[])?;
    ensure!(!parts(&database, 20)?.contains("traces"), "{}", parts(&database, 20)?);
    ensure!(parts(&database, 21)?.contains("'traces','rewards'"), "{}", parts(&database, 21)?);
    let found = all(&database, "1")?;
    ensure_same(&found, &all("hive", "block_number != 20")?, "all but block 20")?;
    // The other form tells of no rewards.
    let database = from_node("hive", &["--disable", "trace_*"], &[])?;
    ensure!(parts(&database, 21)?.contains("'traces'") && !parts(&database, 21)?.contains("rewards"));
    ensure_same(&all(&database, "1")?, &from_call_tracer(&chain("hive").lines), "without trace_block")
}

#[test]
fn a_chosen_method_that_is_not_there_ends_the_load() -> anyhow::Result<()> {
    for (node, choice) in [
        (["--disable", "debug_*"], "call-tracer"),
        (["--disable", "trace_*"], "trace-block"),
        (["--missing-trace", "20"], "call-tracer"),
        (["--missing-trace", "20"], "trace-block"),
    ] {
        let node = Node::start("hive", &node)?;
        let database = format!("traces_{}", node.url.rsplit(':').next().unwrap_or_default());
        let _database = env::migrate(&database)?;
        let output = env::run(env::ingest(&database, &["load", "--rpc-url", &node.url, "--traces", choice]), 1)?;
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        ensure!(text.contains("it returns no traces of this block"), "{text}");
    }
    Ok(())
}

fn same_as_the_dump(choice: &str) -> anyhow::Result<()> {
    ["hive", "devchain"].into_iter().try_for_each(|name| {
        let database = from_node(name, &[], &["--traces", choice])?;
        ensure!(all(&database, "1")? == all(name, "1")?, "{name}");
        Ok(())
    })
}

tests! {
    trace_block_of_a_node_gives_the_rows_of_its_dump: same_as_the_dump("trace-block"),
    auto_of_a_node_gives_the_rows_of_its_dump: same_as_the_dump("auto"),
}
