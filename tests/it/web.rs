//! `trawl-api --web-dir`: a page beside the API, and nothing outside of its folder.

use std::io::{Read as _, Write as _};
use std::os::unix::fs::symlink;
use std::path::Path;

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use tempfile::TempDir;
use xtask::http;
use xtask::process::Server;

use crate::chains::{chain, dump};
use crate::env;

const PAGE: &str = "<!doctype html><title>page</title>";
const SECRET: &str = "nobody may read this";

/// A folder with a page, and beside it a file that is not part of it.
fn folder() -> anyhow::Result<TempDir> {
    let folder = env::directory()?;
    let root = folder.path();
    std::fs::create_dir_all(root.join("web/assets/img"))?;
    std::fs::write(root.join("web/index.html"), PAGE)?;
    std::fs::write(root.join("web/assets/app.js"), "let app;")?;
    std::fs::write(root.join("web/assets/img/a b.svg"), "<svg/>")?;
    std::fs::write(root.join("web/.env"), SECRET)?;
    std::fs::write(root.join("secret.txt"), SECRET)?;
    std::fs::create_dir(root.join("web-of-others"))?;
    std::fs::write(root.join("web-of-others/secret.txt"), SECRET)?;
    Ok(folder)
}

fn serve(database: &str, folder: &Path) -> anyhow::Result<Server> {
    env::start_api(database, &["--web-dir", &folder.display().to_string()])
}

/// The answer to a request whose path is not normalized: status and the rest.
fn raw(api: &Server, path: &str) -> anyhow::Result<(u16, String)> {
    let mut stream = env::connect(api.url.trim_start_matches("http://"))?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: explorer\r\nConnection: close\r\n\r\n")?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok());
    Ok((status.with_context(|| format!("{path}: {answer}"))?, answer))
}

#[test]
fn files_the_page_and_true_404s() -> anyhow::Result<()> {
    let (folder, mainnet) = (folder()?, chain("mainnet"));
    let api = serve(mainnet.name, &folder.path().join("web"))?;
    let get = |path: &str| http::get(&http::agent(), &format!("{}{path}", api.url));
    for path in ["/", "/index.html", "/block/12", "/tx/0x12/trace", "/address/0x12?from=0", "/assetsx", "/apis"] {
        let page = get(path)?;
        ensure!(page.status == 200 && page.text() == PAGE, "{path}: {} {}", page.status, page.text());
        ensure!(page.header("content-type") == "text/html" && page.header("x-content-type-options") == "nosniff");
    }
    ensure!(get("/block/12")?.header("cache-control") == "no-cache");
    let script = get("/assets/app.js")?;
    ensure!(script.text() == "let app;" && script.header("content-type") == "text/javascript", "{script:?}");
    ensure!(get("/assets/img/a%20b.svg")?.header("content-type") == "image/svg+xml");
    let part = http::agent().get(format!("{}/assets/app.js", api.url)).header("range", "bytes=0-2").call()?;
    ensure!(part.status() == 206);
    let since = script.header("last-modified").to_owned();
    let same = http::agent().get(format!("{}/assets/app.js", api.url)).header("if-modified-since", since).call()?;
    ensure!(same.status() == 304);
    for path in [
        "/assets",
        "/assets/",
        "/assets/img",
        "/assets/none.js",
        "/assets/signatures/00000000",
        "/assets/signatures/zz",
        "/assets/signatures/a9059cbb/x",
        "/assets/chains/eip155-5.json",
        "/assets/tokens/eip155-10.json",
        "/sourcify/contracts/full_match/1/0x12/metadata.json",
        "/api/none",
        "/api/v1",
        "/rpc/none",
        "/health/none",
        "/v2/api/none",
    ] {
        let answer = get(path)?;
        ensure!(answer.status >= 400 && answer.text() != PAGE, "{path}: {} {}", answer.status, answer.text());
        ensure!(!path.starts_with("/assets") || answer.status == 404, "{path}: {}", answer.status);
    }
    // The API is where it was.
    ensure!(get("/api/v2/blocks")?.status == 200 && get("/health/live")?.status == 200);
    ensure!(http::post(&http::agent(), &format!("{}/block/12", api.url), b"x")?.status == 405);
    // Without a folder there is no page.
    ensure!(http::get(&http::agent(), &format!("{}/block/12", mainnet.api))?.status == 404);
    api.stop()?;
    Ok(())
}

#[test]
fn what_an_explorer_asks_for_beside_its_files() -> anyhow::Result<()> {
    let (folder, database) = (folder()?, "web_assets");
    let _database = env::migrate(database)?;
    env::run(env::ingest(database, &["load", "--dump", &dump("mainnet"), "--to", "20"]), 0)?;
    let api = serve(database, &folder.path().join("web"))?;
    let get = |path: &str| http::get(&http::agent(), &format!("{}{path}", api.url));
    let settings = get("/config.json")?;
    let origin = &api.url;
    let expected = json!({
        "erigonURL": format!("{origin}/api/eth-rpc"),
        "assetsURLPrefix": format!("{origin}/assets"),
        "sourcify": {"sources": {"Trawl": {"url": format!("{origin}/sourcify"), "backendFormat": "RepositoryV1"}}},
    });
    ensure!(settings.json()? == expected && settings.header("cache-control") == "no-store", "{settings:?}");
    let secure = http::agent().get(format!("{origin}/config.json")).header("x-forwarded-proto", "https").call()?;
    let secure: Value = serde_json::from_str(&secure.into_body().read_to_string()?)?;
    ensure!(secure["erigonURL"].as_str().is_some_and(|url| url.starts_with("https://127.0.0.1:")), "{secure}");
    let level = json!({"jsonrpc": "2.0", "id": 1, "method": "ots_getApiLevel", "params": []});
    let url = expected["erigonURL"].as_str().context("an address")?;
    ensure!(http::post(&http::agent(), url, level.to_string().as_bytes())?.json()?["result"] == 8);
    let transfer = "ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
    ensure!(get("/assets/signatures/a9059cbb")?.text() == "transfer(address,uint256)");
    ensure!(get("/assets/signatures/A9059CBB")?.text() == "transfer(address,uint256)");
    for (selector, getter) in [
        ("06fdde03", "name()"),
        ("95d89b41", "symbol()"),
        ("18160ddd", "totalSupply()"),
        ("70a08231", "balanceOf(address)"),
        ("313ce567", "decimals()"),
    ] {
        ensure!(get(&format!("/assets/signatures/{selector}"))?.text() == getter, "{selector}");
    }
    let events = get(&format!("/assets/topic0/{transfer}"))?.text();
    ensure!(
        events.split(';').count() > 1 && events.split(';').all(|event| event.starts_with("Transfer(address")),
        "{events}"
    );
    let coin = json!({"name": "ETH", "symbol": "ETH", "decimals": 18});
    ensure!(
        get("/assets/chains/eip155-1.json")?.json()?
            == json!({"name": "Ethereum", "nativeCurrency": coin, "faucets": []})
    );
    let known = get("/assets/tokens/eip155-1.json")?.json()?;
    let dai =
        json!({"address": "0x6B175474E89094C44Da98b954EedeAC495271d0F", "symbol": "DAI", "name": "Dai Stablecoin"});
    ensure!(known["tokens"].as_array().is_some_and(|tokens| tokens.contains(&dai)), "{known}");
    // What operators loaded comes in place of what is bundled.
    let dictionary = folder.path().join("dictionary.txt");
    std::fs::write(&dictionary, "function ping(uint256 times)\nevent Pinged(uint256 indexed times)\n")?;
    let abis = folder.path().join("abis.json");
    let contract = format!("0x{}", "ab".repeat(20));
    let entry = json!({"type": "function", "name": "ping", "inputs": [], "outputs": [], "stateMutability": "view"});
    std::fs::write(&abis, json!([{"address": contract, "name": "Pinger", "abi": [entry]}]).to_string())?;
    let files = [dictionary.display().to_string(), abis.display().to_string()];
    env::run(env::ingest(database, &["labels", &files[0], &files[1]]), 0)?;
    let selector = &alloy_primitives::keccak256("ping(uint256)").to_string()[2..10];
    env::eventually(env::SOON, || Ok(get(&format!("/assets/signatures/{selector}"))?.status == 200))?;
    ensure!(get(&format!("/assets/signatures/{selector}"))?.text() == "ping(uint256 times)");
    let topic = &alloy_primitives::keccak256("Pinged(uint256)").to_string()[2..];
    ensure!(get(&format!("/assets/topic0/{topic}"))?.text() == "Pinged(uint256 indexed times)");
    let metadata = get(&format!("/sourcify/contracts/full_match/1/{contract}/metadata.json"))?;
    ensure!(metadata.json()?["output"]["abi"] == json!([entry]), "{}", metadata.text());
    // As solc writes them of a source without comments: a page looks up the function that was called.
    for (name, kind) in [("userdoc", "user"), ("devdoc", "dev")] {
        let comments = &metadata.json()?["output"][name];
        ensure!(*comments == json!({"kind": kind, "methods": {}, "version": 1}), "{comments}");
    }
    ensure!(get(&format!("/sourcify/contracts/full_match/5/{contract}/metadata.json"))?.status == 404);
    ensure!(get(&format!("/sourcify/contracts/partial_match/1/{contract}/metadata.json"))?.status == 404);
    api.stop()?;
    Ok(())
}

#[test]
fn no_path_and_no_link_leads_out_of_the_folder() -> anyhow::Result<()> {
    let folder = folder()?;
    let (root, web) = (folder.path(), folder.path().join("web"));
    symlink(root.join("secret.txt"), web.join("assets/link.txt"))?;
    symlink("../../secret.txt", web.join("assets/relative.txt"))?;
    symlink(root, web.join("assets/out"))?;
    symlink("/", web.join("assets/system"))?;
    symlink(root.join("web-of-others"), web.join("assets/others"))?;
    symlink("loop", web.join("assets/loop"))?;
    symlink("gone", web.join("assets/gone"))?;
    symlink("app.js", web.join("assets/inside.js"))?;
    let api = serve(chain("devchain").name, &web)?;
    let mut tried = 0;
    for name in ["secret.txt", "web-of-others/secret.txt", "etc/passwd", ".env"] {
        for way in [
            "/..",
            "/../..",
            "/../../../../../..",
            "/assets/..",
            "/assets/../..",
            "/%2e%2e",
            "/..%2f..",
            "/%2e%2e%2f",
            "/.%2e",
            "/assets/%2e%2e/%2e%2e",
            "/..;",
            "/..\\",
            "/..%5c",
            "/%252e%252e",
            "/assets/....//..",
            "//",
            "/%00/..",
            "",
            "/./",
            "/assets/out",
            "/assets/system",
            "/assets/others/..",
            "/assets/others",
            "/%c0%ae%c0%ae",
            "/file:",
        ] {
            for path in [format!("{way}/{name}"), format!("{way}%2f{}", name.replace('/', "%2f"))] {
                let (_, answer) = raw(&api, &path)?;
                ensure!(!answer.contains(SECRET) && !answer.contains("root:"), "{path}: {answer}");
                tried += 1;
            }
        }
    }
    ensure!(tried > 150);
    for link in ["link.txt", "relative.txt", "out/secret.txt", "system/etc/passwd", "others/secret.txt", "loop", "gone"]
    {
        let (status, answer) = raw(&api, &format!("/assets/{link}"))?;
        ensure!(status == 404, "{link}: {answer}");
    }
    let (status, answer) = raw(&api, "/assets/inside.js")?;
    ensure!(status == 200 && answer.ends_with("let app;"), "{answer}");
    api.stop()?;
    Ok(())
}

#[test]
fn a_folder_without_a_page_is_refused_at_the_start() -> anyhow::Result<()> {
    let folder = env::directory()?;
    let without = folder.path().display().to_string();
    let missing = folder.path().join("none").display().to_string();
    for (path, text) in [(&without, "has no index.html"), (&missing, "name a folder that this process can read")] {
        let output = env::run(env::api_at(env::store(), "web_none", &["--web-dir", path]), 2)?;
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        ensure!(stderr.contains(text), "{stderr}");
    }
    Ok(())
}
