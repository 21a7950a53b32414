//! The web page that `trawl-api` holds: its headers, what stays as it was beside it, and every page of it in Chromium.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use anyhow::{Context as _, ensure};
use serde_json::Value;
use ureq::http::Response;
use xtask::process::Server;
use xtask::{http, tools, workspace};

use crate::chains::{Chain, chain, dump};
use crate::env;

mod facts;
mod scenario;

fn get(url: &str, headers: &[(&str, &str)]) -> anyhow::Result<Response<ureq::Body>> {
    let mut request = http::agent().get(url);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    Ok(request.call()?)
}

fn header(response: &Response<ureq::Body>, name: &str) -> String {
    response.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned()
}

const BROWSER: (&str, &str) = ("accept", "text/html,application/xhtml+xml,*/*;q=0.8");

#[test]
fn pages_are_for_browsers_and_programs_get_what_they_got() -> anyhow::Result<()> {
    let origin = &chain("mainnet").api;
    for path in ["/", "/block/12", "/tx/0x12/logs", "/address/0x12?tab=tokens", "/scan", "/status"] {
        let page = get(&format!("{origin}{path}"), &[BROWSER])?;
        ensure!(
            page.status() == 200 && header(&page, "content-type") == "text/html; charset=utf-8",
            "{path}: {page:?}"
        );
        ensure!(header(&page, "cache-control") == "no-cache" && header(&page, "x-content-type-options") == "nosniff");
        ensure!(header(&page, "referrer-policy") == "no-referrer");
        let policy = header(&page, "content-security-policy");
        ensure!(policy.starts_with("default-src 'self';") && policy.ends_with("frame-ancestors 'none'"), "{policy}");
        ensure!(!policy.contains("unsafe") && !policy.contains("http"), "{policy}");
        for accept in ["application/json", "*/*"] {
            let answer = get(&format!("{origin}{path}"), &[("accept", accept)])?;
            ensure!(
                answer.status() == 404 && header(&answer, "content-type") == "application/json",
                "{path}: {answer:?}"
            );
        }
    }
    for path in
        ["/none", "/apis", "/health", "/metrics/none", "/rpc/none", "/_/assets/none.js", "/index.html", "/assets"]
    {
        let answer = get(&format!("{origin}{path}"), &[BROWSER])?;
        ensure!(answer.status() == 404, "{path}: {answer:?}");
    }
    ensure!(get(&format!("{origin}/api/v2/none"), &[BROWSER])?.status() == 400);
    ensure!(http::post(&http::agent(), &format!("{origin}/block/12"), b"x")?.status == 404);
    Ok(())
}

#[test]
fn assets_are_cached_for_good_and_the_page_is_revalidated() -> anyhow::Result<()> {
    let origin = &chain("mainnet").api;
    let page = get(&format!("{origin}/"), &[BROWSER])?;
    let tag = header(&page, "etag");
    let same = get(&format!("{origin}/"), &[BROWSER, ("if-none-match", &tag)])?;
    ensure!(same.status() == 304 && header(&same, "etag") == tag, "{same:?}");
    let text = page.into_body().read_to_string()?;
    let assets: Vec<&str> = text.split('"').filter(|text| text.starts_with("/_/assets/")).collect();
    ensure!(assets.len() > 3, "{text}");
    for path in assets {
        let file = get(&format!("{origin}{path}"), &[("accept-encoding", "identity")])?;
        ensure!(file.status() == 200 && header(&file, "cache-control").ends_with("immutable"), "{path}: {file:?}");
        ensure!(header(&file, "content-encoding").is_empty());
        let kind = header(&file, "content-type");
        let expected = [(".js", "text/javascript"), (".css", "text/css"), (".svg", "image/svg+xml")];
        ensure!(
            expected.iter().any(|(end, expected)| path.ends_with(end) && kind.starts_with(expected)),
            "{path}: {kind}"
        );
        let small = get(&format!("{origin}{path}"), &[("accept-encoding", "gzip, br")])?;
        ensure!(header(&small, "vary") == "accept-encoding", "{small:?}");
    }
    Ok(())
}

#[test]
fn no_web_is_as_before() -> anyhow::Result<()> {
    let api = env::start_api(chain("devchain").name, &["--no-web"])?;
    for path in ["/", "/block/12"] {
        ensure!(get(&format!("{}{path}", api.url), &[BROWSER])?.status() == 404, "{path}");
    }
    api.stop()?;
    Ok(())
}

/// The sources of the page, with their packages; tests run side by side and install them once.
pub fn sources() -> &'static Path {
    static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
        let folder = workspace::root().join("web");
        tools::npm_ci(&folder).unwrap_or_else(|error| panic!("{error:#}"));
        folder
    });
    &FOLDER
}

/// An explorer whose every page is opened, in which of the looks that take turns.
struct Explorer {
    api: String,
    parity: &'static str,
}

/// Over recorded blocks of mainnet.
fn mainnet() -> &'static Explorer {
    static EXPLORER: LazyLock<Explorer> = LazyLock::new(|| {
        let api =
            env::start_api(chain("mainnet").name, &["--gaps", "serve"]).unwrap_or_else(|error| panic!("{error:#}"));
        let url = api.url.clone();
        env::keep(api);
        Explorer { api: url, parity: "0" }
    });
    &EXPLORER
}

/// Over the scenario chain, with the names that its contracts have: markup, NUL, right-to-left marks, 5,000 characters.
fn hostile_names() -> &'static Explorer {
    static EXPLORER: LazyLock<Explorer> = LazyLock::new(|| {
        let api = start_hostile_names().unwrap_or_else(|error| panic!("{error:#}"));
        let url = api.url.clone();
        env::keep(api);
        Explorer { api: url, parity: "1" }
    });
    &EXPLORER
}

fn start_hostile_names() -> anyhow::Result<Server> {
    let database = "web_page";
    env::create_tables(database)?;
    let genesis = workspace::fixture("devchain/genesis.json").display().to_string();
    env::run(env::ingest(database, &["load", "--dump", &dump("devchain"), "--genesis", &genesis]), 0)?;
    let labels =
        ["abis.json", "labels.csv"].map(|file| workspace::fixture(&format!("labels/{file}")).display().to_string());
    env::run(env::ingest(database, &["labels", &labels[0], &labels[1]]), 0)?;
    // One that advertises a site, which is not called again.
    let insert = "INSERT INTO tokens VALUES";
    let false_token =
        format!("(unhex('{}'), 91, 'ERC-20', 'Visit claim-usdc.xyz', 'USDC', 18, 1000)", &scenario::FALSE_TOKEN[2..]);
    env::sql(database, &format!("{insert} {false_token}"))?;
    let api = env::start_api(database, &[])?;
    env::run(env::ingest(database, &["tokens", "--rpc-url", &format!("{}/rpc", api.url)]), 0)?;
    Ok(api)
}

/// Opens pages; what must not happen: `web/tests/browser/check.mjs`. The ordinary run opens all of the explorer with
/// hostile names and half of the other, each in one colour scheme and width, and each tour over one of them; a slow one
/// has all of both. `part` is a third of the pages, or the tours.
fn open_pages(explorer: &Explorer, part: &str) -> anyhow::Result<()> {
    let parity = if env::is_slow_run() { "both" } else { explorer.parity };
    let mut command = Command::new("node");
    command.args(["tests/browser/check.mjs", &explorer.api, parity, part]).current_dir(sources());
    let output = env::run(command, 0)?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let views: u64 = text.trim().split(' ').next().context("a count")?.parse().with_context(|| text.clone())?;
    let least = match (part, parity) {
        ("tours", "0" | "1") => 2,
        ("tours", _) | (_, "0") => 4,
        _ => 12,
    };
    ensure!(views > least, "{text}");
    Ok(())
}

tests! {
    every_page_of_mainnet_in_chromium_1: open_pages(mainnet(), "1/3"),
    every_page_of_mainnet_in_chromium_2: open_pages(mainnet(), "2/3"),
    every_page_of_mainnet_in_chromium_3: open_pages(mainnet(), "3/3"),
    tours_of_mainnet_in_chromium: open_pages(mainnet(), "tours"),
    every_page_of_hostile_names_in_chromium_1: open_pages(hostile_names(), "1/3"),
    every_page_of_hostile_names_in_chromium_2: open_pages(hostile_names(), "2/3"),
    every_page_of_hostile_names_in_chromium_3: open_pages(hostile_names(), "3/3"),
    tours_of_hostile_names_in_chromium: open_pages(hostile_names(), "tours"),
}

/// Painted within 300 ms, no task above 100 ms, on the best of several visits: `web/tests/browser/speed.mjs`. Beside
/// the other tests no page is quick.
#[test]
#[ignore = "needs an idle machine: runs with `cargo xtask test --slow`"]
fn pages_of_mainnet_are_quick() -> anyhow::Result<()> {
    let api = env::start_api(chain("mainnet").name, &["--gaps", "serve"])?;
    let mut command = Command::new("node");
    command.arg("tests/browser/quick.mjs").arg(&api.url).current_dir(sources());
    let output = env::run(command, 0)?;
    ensure!(String::from_utf8_lossy(&output.stdout).contains(" 0 problems"), "{output:?}");
    api.stop()?;
    Ok(())
}

/// Opens pages of blocks, transactions, addresses and tokens, and holds them against what the nodes reported.
fn facts_of(chain: &Chain, symbol: &str) -> anyhow::Result<()> {
    let api = env::start_api(chain.name, &["--gaps", "serve"])?;
    let compared = compare_pages(&api.url, &facts::of(chain, symbol))?;
    ensure!(compared > if env::is_slow_run() { 400 } else { 200 }, "{compared}");
    api.stop()?;
    Ok(())
}

/// How many facts were compared: `web/tests/browser/facts.mjs`.
fn compare_pages(api: &str, pages: &Value) -> anyhow::Result<u64> {
    let expected = tempfile::NamedTempFile::new()?;
    serde_json::to_writer(&expected, pages)?;
    let mut command = Command::new("node");
    command.arg("tests/browser/facts.mjs").arg(api).stdin(expected.reopen()?).current_dir(sources());
    let output = env::run_with_input(command, 0)?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.trim().split(' ').next().context("a count")?.parse().with_context(|| text.clone())
}

#[test]
fn pages_of_mainnet_match_its_nodes() -> anyhow::Result<()> {
    facts_of(chain("mainnet"), "ETH")
}

#[test]
fn pages_of_the_scenario_match_its_node() -> anyhow::Result<()> {
    facts_of(chain("devchain"), "coins")
}

/// Over the explorer that has state and false names, whose browser tests are above.
#[test]
fn pages_of_the_scenario_tell_why_it_failed_what_is_false_and_what_is_void() -> anyhow::Result<()> {
    let compared = compare_pages(&hostile_names().api, &scenario::of(chain("devchain")))?;
    ensure!(compared == 36, "{compared}");
    Ok(())
}

/// What each chart offers as SQL is read from the tables as it is, and says what the chart shows:
/// `web/tests/charts_sql.mjs`.
#[test]
fn sql_of_charts_gives_what_they_show() -> anyhow::Result<()> {
    let database = "charts_sql";
    let _database = env::migrate(database)?;
    let genesis = workspace::fixture("devchain/genesis.json").display().to_string();
    env::run(env::ingest(database, &["load", "--dump", &dump("devchain"), "--genesis", &genesis]), 0)?;
    let api = env::start_api(database, &[])?;
    let mut command = Command::new("node");
    command.args(["tests/charts_sql.mjs", &api.url, env::store(), database]).current_dir(sources());
    let output = env::run(command, 0)?;
    ensure!(String::from_utf8_lossy(&output.stdout).contains(" compared"), "{output:?}");
    api.stop()?;
    Ok(())
}

/// Functions that touch neither page nor network.
#[test]
fn pure_functions_of_the_page() -> anyhow::Result<()> {
    let mut command = Command::new("npm");
    command.args(["test", "--loglevel=error"]).current_dir(sources());
    let output = env::run(command, 0)?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    ensure!(text.contains("fail 0") && !text.contains("pass 0"), "{text}");
    Ok(())
}
