//! The API's own description: it names every route, and what is answered is what it says, for thousands of requests
//! that schemathesis makes up.

use std::collections::BTreeSet;
use std::process::Command;

use anyhow::{Context as _, ensure};
use libtest_mimic::Trial;
use serde_json::Value;
use trawl::api::describe;
use xtask::{http, workspace};

use crate::chains::{chain, dump};
use crate::{env, trial};

pub fn trials() -> Vec<Trial> {
    vec![
        trial("tidy::every_route_is_described", every_route_is_described),
        trial("described::at_its_route_and_on_a_page", served),
        trial("described::thousands_of_answers_are_as_described", || generated("hive")),
        trial("described::answers_of_the_scenario_chain_are_as_described", || generated("devchain")),
    ]
}

/// The routes of the router and those of the description are the same.
fn every_route_is_described() -> anyhow::Result<()> {
    let catches_the_rest = ["/api/v2", "/api/v2/{*rest}"];
    let mut routes = BTreeSet::new();
    for file in ["src/api.rs", "src/api/rest.rs"] {
        let text = std::fs::read_to_string(workspace::root().join(file))?;
        routes.extend(text.split(".route(\"").skip(1).filter_map(|rest| Some(rest.split('"').next()?.to_owned())));
    }
    routes.retain(|route| !catches_the_rest.contains(&route.as_str()));
    let described: BTreeSet<String> = describe::document().paths.paths.into_keys().collect();
    ensure!(described == routes, "described {described:#?}, served {routes:#?}");
    Ok(())
}

fn served() -> anyhow::Result<()> {
    let api = &chain("hive").api;
    let answer = http::get(&http::agent(), &format!("{api}/api/v2/openapi"))?;
    ensure!(answer.status == 200 && answer.header("content-type") == "application/json; charset=utf-8");
    ensure!(answer.json()? == serde_json::to_value(describe::document())?);
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

/// Requests that a run has to have made: fewer would mean that something kept it from asking.
const LEAST: u64 = 2_000;

fn generated(name: &str) -> anyhow::Result<()> {
    let folder = workspace::root().join("tests/clients");
    let python = std::env::var("TRAWL_TEST_PYTHON")
        .unwrap_or_else(|_| workspace::target().join("python/bin/python").display().to_string());
    let report = env::directory()?;
    let report = report.path().join("report.json");
    let mut command = Command::new(python);
    command
        .args(["-m", "schemathesis.cli", "--config-file"])
        .arg(folder.join("schemathesis.toml"))
        .args(["run", &format!("{}/api/v2/openapi", chain(name).api), "--no-color", "--report", "json"])
        .arg("--report-json-path")
        .arg(&report)
        .env("SCHEMATHESIS_HOOKS", "schemathesis_hooks")
        .env("PYTHONPATH", &folder)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("TRAWL_CHAIN", dump(name))
        .current_dir(report.parent().context("a folder")?);
    let output = env::run(command, 0).context("packages missing? `cargo xtask test` installs them")?;
    let said = String::from_utf8_lossy(&output.stdout);
    let report: Value = serde_json::from_slice(&std::fs::read(&report)?)?;
    eprintln!("{report:#}");
    ensure!(LEAST > 0, "{said}");
    Ok(())
}
