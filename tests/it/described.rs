//! The API's own description: it names every route, and what is answered is what it says, for thousands of requests
//! that schemathesis makes up.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use anyhow::{Context as _, ensure};
use serde_json::Value;
use xtask::{http, workspace};

use crate::chains::{chain, dump};
use crate::env;
use crate::tidy::{rest_routes, routes_of};

/// The description as it stands in the checkout.
fn document() -> anyhow::Result<Value> {
    let yaml = std::fs::read_to_string(workspace::root().join("docs/reference/openapi.yaml"))?;
    let budget = serde_saphyr::budget! { enforce_alias_anchor_ratio: false };
    Ok(serde_saphyr::from_str_with_options(&yaml, serde_saphyr::options! { budget: budget })?)
}

/// The routes of the router and those of the description are the same.
#[test]
fn every_route_is_described() -> anyhow::Result<()> {
    let catches_the_rest = ["/api/v2", "/api/v2/{*rest}", "/api/v2/proxy/account-abstraction/{*rest}"];
    let mut routes = rest_routes()?;
    routes.extend(routes_of(&workspace::root().join("src/router/routes.rs"))?);
    // At the paths that clients of each family of chains know.
    for of_families in [
        trawl_chains::message_paths(),
        trawl_chains::transaction_message_paths(),
        trawl_chains::deposit_paths(),
        trawl_chains::newest_deposit_paths(),
    ] {
        routes.extend(of_families.into_iter().map(str::to_owned));
    }
    // Where its operator turns it on.
    routes.insert("/sql/query".to_owned());
    routes.retain(|route| !catches_the_rest.contains(&route.as_str()));
    let document = document()?;
    let described: BTreeSet<String> = document["paths"].as_object().context("no paths")?.keys().cloned().collect();
    ensure!(described == routes, "described {described:#?}, served {routes:#?}");
    Ok(())
}

/// A comma in a description that is not quoted begins a keyword of its own, which is null.
#[test]
fn no_keyword_is_part_of_a_description() -> anyhow::Result<()> {
    fn words(value: &Value, path: &str) -> Vec<String> {
        match value {
            Value::Object(members) => members
                .iter()
                .flat_map(|(name, member)| match member {
                    Value::Null if !["default", "example", "const"].contains(&name.as_str()) => {
                        vec![format!("{path}/{name}")]
                    }
                    _ => words(member, &format!("{path}/{name}")),
                })
                .collect(),
            Value::Array(items) => items.iter().flat_map(|item| words(item, path)).collect(),
            _ => Vec::new(),
        }
    }
    let found = words(&document()?, "");
    ensure!(found.is_empty(), "{found:?}");
    Ok(())
}

#[test]
fn at_its_route_and_on_a_page() -> anyhow::Result<()> {
    let api = &chain("hive").api;
    let answer = http::get(&http::agent(), &format!("{api}/api/v2/openapi"))?;
    ensure!(answer.status == 200 && answer.header("content-type") == "application/json; charset=utf-8");
    let mut served: Value = serde_json::from_str(&answer.text())?;
    ensure!(served["info"]["version"].take() == env!("CARGO_PKG_VERSION"));
    let mut written = document()?;
    written["info"]["version"].take();
    ensure!(served == written, "the description that is served is not that of the checkout");
    let page = http::get(&http::agent(), &format!("{api}/docs"))?;
    ensure!(page.status == 200 && page.header("content-type") == "text/html; charset=utf-8");
    let policy = page.header("content-security-policy");
    ensure!(policy.starts_with("default-src 'none'; connect-src 'self';"), "{policy}");
    let text = page.text();
    for outside in ["http:", "https:", "src=", "@import", "url("] {
        ensure!(!text.contains(outside), "the page has {outside}");
    }
    Ok(())
}

/// Generators of clients refuse a whole description for a schema that is just `true` or `false`, and for a list that
/// does not say what is in it.
#[test]
fn generators_read_its_schemas() -> anyhow::Result<()> {
    let mut refused = Vec::new();
    refused_schemas(&document()?, "", &mut refused);
    ensure!(refused.is_empty(), "{refused:#?}");
    Ok(())
}

/// Where a part of the description is what generators refuse; paths begin with `path`.
fn refused_schemas(part: &Value, path: &str, refused: &mut Vec<String>) {
    let members: Vec<(String, &Value)> = match part {
        Value::Object(members) => members.iter().map(|(name, value)| (format!("{path}/{name}"), value)).collect(),
        Value::Array(values) => values.iter().enumerate().map(|(i, value)| (format!("{path}/{i}"), value)).collect(),
        _ => return,
    };
    let is_array =
        part["type"] == "array" || part["type"].as_array().is_some_and(|types| types.contains(&"array".into()));
    let lists = ["items", "prefixItems"].iter().any(|key| part.get(key).is_some_and(|inside| !inside.is_boolean()));
    if (is_array && !lists) || part.get("items").is_some_and(Value::is_boolean) {
        refused.push(path.to_owned());
    }
    for (path, value) in members {
        refused_schemas(value, &path, refused);
    }
}

/// What the page knows of answers is what the description says of them.
#[test]
fn the_page_has_the_types_of_the_description() -> anyhow::Result<()> {
    let folder = env::directory()?;
    let made = folder.path().join("schemas.ts");
    xtask::api_types::write(&made)?;
    let (made, committed) = (std::fs::read_to_string(made)?, std::fs::read_to_string(xtask::api_types::module())?);
    ensure!(made == committed, "web/src/api/schemas.ts is of another description: run `cargo xtask types`");
    ensure!(made.contains("export type Transaction = {") && made.lines().count() > 300, "{made}");
    Ok(())
}

/// A Python that has schemathesis.
fn python(script: &[&str]) -> Command {
    let python = std::env::var("TRAWL_TEST_PYTHON")
        .unwrap_or_else(|_| workspace::target().join("python/bin/python").display().to_string());
    let mut command = Command::new(python);
    command.args(script).env("PYTHONDONTWRITEBYTECODE", "1");
    command
}

/// The cases' expected answers come from the node's own JSON, and the transcripts from a real client.
#[test]
fn golden_cases_are_as_described() -> anyhow::Result<()> {
    let mut command = python(&[]);
    command.arg(workspace::root().join("tests/clients/described_cases.py")).arg(&chain("hive").api);
    command.arg(workspace::root().join("tests"));
    let output = env::run(command, 0).context("packages missing? `cargo xtask test` installs them")?;
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    let passed = stdout.lines().last().and_then(|line| line.split(' ').next()?.parse::<u64>().ok());
    ensure!(passed.is_some_and(|passed| passed > 150) && stdout.contains(" 0 failed"), "{stdout}");
    Ok(())
}

/// A run of schemathesis with these flags, and what was answered: operation and status, how often.
fn ask(name: &str, flags: &[&str]) -> anyhow::Result<(Value, BTreeMap<String, u64>)> {
    let clients = workspace::root().join("tests/clients");
    let folder = env::directory()?;
    let (report, answers) = (folder.path().join("report.json"), folder.path().join("answers.json"));
    let mut command = python(&["-m", "schemathesis.cli", "--config-file"]);
    command
        .arg(clients.join("schemathesis.toml"))
        .args(["run", &format!("{}/api/v2/openapi", chain(name).api), "--no-color", "--report", "json"])
        .arg("--report-json-path")
        .arg(&report)
        .args(flags)
        .env("SCHEMATHESIS_HOOKS", "schemathesis_hooks")
        .env("PYTHONPATH", clients)
        .env("TRAWL_CHAIN", dump(name))
        .env("TRAWL_ANSWERS", &answers)
        .current_dir(folder.path());
    env::run(command, 0).context("packages missing? `cargo xtask test` installs them")?;
    Ok((serde_json::from_slice(&std::fs::read(report)?)?, serde_json::from_slice(&std::fs::read(answers)?)?))
}

/// Requests of each kind that are made up for an operation, and how many a run has to have made in all: fewer would
/// mean that something kept it from asking.
fn examples() -> (&'static str, u64) {
    if env::is_slow_run() { ("100", 2_000) } else { ("5", 250) }
}

#[test]
fn thousands_of_answers_are_as_described() -> anyhow::Result<()> {
    // The second path of JSON-RPC is the same handler. A node answers calls without an id with no body, which a
    // description of answers cannot say: `rpc::node_endpoint` asks there.
    let (examples, fewest) = examples();
    // What each bound and each missing member gives is most of a run.
    let phases = if env::is_slow_run() { "examples,coverage,fuzzing,stateful" } else { "fuzzing" };
    let flags = ["--exclude-path", "/api/v1/eth-rpc", "--exclude-path", "/rpc", "--max-examples", examples];
    let (report, answers) = ask("hive", &[&flags[..], &["--phases", phases]].concat())?;
    let operations = &report["operations"];
    ensure!(operations["selected"] == operations["tested"] && operations["errored"] == 0, "{operations}");
    ensure!(operations["total"].as_u64() == operations["tested"].as_u64().map(|tested| tested + 2), "{operations}");
    ensure!(report["test_cases"]["generated"].as_u64() > Some(fewest), "{}", report["test_cases"]);
    let of = |operation: &str, answer: &str| answers.get(&format!("{operation} {answer}")).copied().unwrap_or_default();
    // With few requests of a kind, it is left to chance how many find something.
    let least = if env::is_slow_run() { 5 } else { 0 };
    for list in ["blocks", "transactions/{transaction_hash}/logs", "addresses/{address_hash}/internal-transactions"] {
        let list = format!("GET /api/v2/{list}");
        let found = of(&list, "200 with items") + if env::is_slow_run() { 0 } else { of(&list, "200") };
        ensure!(found > least && (of(&list, "422") > least || !env::is_slow_run()), "{answers:#?}");
    }
    ensure!(of("POST /api/eth-rpc", "200") > least * 20, "{answers:#?}");
    ensure!(of("POST /api/eth-rpc", "400") > 5 || !env::is_slow_run(), "{answers:#?}");
    Ok(())
}

/// The scenario chain has what the conformance chain has not: call frames, tokens, proxies. Of forty requests as few as
/// three found transfers, whatever the seed. Balances over time are 501 here, for the lack of the genesis; the
/// conformance chain has them.
#[test]
fn answers_of_the_scenario_chain_are_as_described() -> anyhow::Result<()> {
    let lists =
        ["--include-path-regex", "^/api/v2/(addr|tran)", "--exclude-path-regex", "coin-balance-history|addresses$"];
    let examples = if env::is_slow_run() { "60" } else { "8" };
    let lists = [&lists[..], &["--phases", "fuzzing", "--max-examples", examples]].concat();
    let (_, answers) = ask("devchain", &lists)?;
    for list in ["internal-transactions", "token-transfers"] {
        let found = answers.get(&format!("GET /api/v2/addresses/{{address_hash}}/{list} 200 with items"));
        ensure!(found.is_some_and(|found| *found > 0) || !env::is_slow_run(), "{list}: {answers:#?}");
    }
    Ok(())
}
