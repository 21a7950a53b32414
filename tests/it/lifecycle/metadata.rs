//! Metadata of token ids: what contracts return, and how much of it an answer has.

use std::collections::BTreeMap;

use anyhow::ensure;
use serde_json::{Value, json};
use xtask::http;

use super::anvil::{Anvil, Call};
use super::puppets::{Answer, REVERTS, answers, creation, logs, returns_spaces, text};
use super::scene::with_and_without_state;

const TRANSFER: &str = "ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
const TRANSFER_SINGLE: &str = "c3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62";
const TOKEN_URI: &str = "c87b56dd";
const URI: &str = "0e89341c";
const HOLDER: &str = "0x00000000000000000000000000000000000e0c00";
/// Most bytes of a URI.
const MAX_URI_BYTES: usize = 65_536;

/// A picture that would run a script as a document.
const SCRIPTED: &str = "\
data:image/svg+xml;base64,PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciIG9ubG9hZD0iYWxlcnQoMSkiPjxzY3Jp\
cHQ+YWxlcnQoMik8L3NjcmlwdD48L3N2Zz4=";
/// `{"name": "Scripted", "image": …}` with that picture, by Python's base64.
const SCRIPTED_URI: &str = "\
data:application/json;base64,eyJuYW1lIjogIlNjcmlwdGVkIiwgImltYWdlIjogImRhdGE6aW1hZ2Uvc3ZnK3htbDtiYXNlNjQsUEhOM\
lp5QjRiV3h1Y3owaWFIUjBjRG92TDNkM2R5NTNNeTV2Y21jdk1qQXdNQzl6ZG1jaUlHOXViRzloWkQwaVlXeGxjblFvTVNraVBqeHpZM0pwY0h\
RK1lXeGxjblFvTWlrOEwzTmpjbWx3ZEQ0OEwzTjJaejQ9In0=";

/// URIs by name, and of the answer: metadata, `image_url`, `media_type`, `external_app_url`.
fn uris() -> Vec<(&'static str, String, Value)> {
    let none = json!([null, null, null, null]);
    let json = |text: &str| format!("data:application/json,{text}");
    vec![
        (
            "plain",
            json(r#"{"name":"Thing #7, 100%","image":"ipfs://x/7.png","external_url":"https://example.org/7"}"#),
            json!([
                {"name": "Thing #7, 100%", "image": "ipfs://x/7.png", "external_url": "https://example.org/7"},
                "ipfs://x/7.png", null, "https://example.org/7"
            ]),
        ),
        (
            "escaped",
            "data:application/json;charset=utf-8,%7B%22name%22%3A%20%22caf%C3%A9%22%7D".into(),
            json!([{"name": "café"}, null, null, null]),
        ),
        (
            "scripted",
            SCRIPTED_URI.into(),
            json!([{"name": "Scripted", "image": SCRIPTED}, SCRIPTED, "image/svg+xml", null]),
        ),
        (
            "hostile",
            json(
                "{\"a\":1e999,\"b\":12345678901234567890,\"c\":\"\u{202e}gpj.exe\",\"c\":\"<script>\u{2066}\",\
                  \"image\":\"javascript:alert(1)\",\"external_url\":\"javascript:alert(1)\"}",
            ),
            json!([
                {"a": "1e999", "b": "12345678901234567890", "c": "<script>\u{2066}",
                 "image": "javascript:alert(1)", "external_url": "javascript:alert(1)"},
                null, null, null
            ]),
        ),
        ("deep enough", json(&format!(r#"{{"a":{}{}}}"#, "[".repeat(31), "]".repeat(31))), Value::Null),
        ("too deep", json(&format!(r#"{{"a":{}{}}}"#, "[".repeat(32), "]".repeat(32))), none.clone()),
        ("a list", json("[1]"), none.clone()),
        ("half", json(r#"{"a":"#), none.clone()),
        ("a page", r#"data:text/html,{"a":1}"#.into(), none.clone()),
        ("elsewhere", "ipfs://Qm/7".into(), none.clone()),
        ("empty", String::new(), none),
    ]
}

fn members(instance: &Value) -> Value {
    json!([instance["metadata"], instance["image_url"], instance["media_type"], instance["external_app_url"]])
}

fn instance(api: &str, token: &str, id: u64) -> anyhow::Result<Value> {
    let answer = http::get(&http::agent(), &format!("{api}/api/v2/tokens/{token}/instances/{id}"))?;
    ensure!(answer.status == 200, "{token} {id}: {} {}", answer.status, answer.text());
    let instance = answer.json()?;
    for absent in ["animation_url", "media_url", "thumbnails"] {
        ensure!(instance.get(absent) == Some(&Value::Null), "{instance}");
    }
    Ok(instance)
}

/// The chain with all state, and without any.
struct Collections {
    contracts: BTreeMap<&'static str, String>,
    with_state: String,
    without_state: String,
}

/// Tokens that mint one id while they are created, by name.
fn start(tokens: &[(&'static str, String)]) -> anyhow::Result<Collections> {
    let mut node = Anvil::start("prague")?;
    for (name, code) in tokens {
        node.send(name, Call { data: code.clone(), ..Call::default() })?;
        node.mine()?;
    }
    let contracts = node.hashes.keys().map(|name| Ok((*name, node.contract(name)?))).collect::<anyhow::Result<_>>()?;
    let [with_state, without_state] = with_and_without_state(&node, "lifecycle_metadata")?;
    Ok(Collections { contracts, with_state, without_state })
}

#[test]
fn of_an_id_is_what_its_contract_has_in_the_uri() -> anyhow::Result<()> {
    let minted = logs(&[TRANSFER, "0", HOLDER, "7"], &[]);
    let token = |runtime: &str| creation(&minted, runtime);
    let answer = |answer: Answer<'_>| token(&answers(&[(TOKEN_URI, answer)], REVERTS));
    let mut tokens: Vec<(&'static str, String)> = Vec::new();
    for (name, uri, _) in uris() {
        let words = text(&uri);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        tokens.push((name, answer(Answer::Words(&words))));
    }
    let of_units = text(r#"data:application/json,{"name":"{id}","image":"https://e.org/{id}.png"}"#);
    let of_units: Vec<&str> = of_units.iter().map(String::as_str).collect();
    let minted_units = logs(&[TRANSFER_SINGLE, HOLDER, "0", HOLDER], &["ff", "1"]);
    let json = "data:application/json,{}";
    tokens.extend([
        ("units", creation(&minted_units, &answers(&[(URI, Answer::Words(&of_units))], REVERTS))),
        ("reverts", token(REVERTS)),
        ("a number", answer(Answer::Words(&["7"]))),
        ("endless", answer(Answer::Endless)),
        ("long enough", token(&returns_spaces(json, MAX_URI_BYTES))),
        ("too long", token(&returns_spaces(json, MAX_URI_BYTES + 1))),
    ]);
    let chain = start(&tokens)?;
    let mut expected: Vec<(&str, Value)> = uris().into_iter().map(|(name, _, expected)| (name, expected)).collect();
    let none = json!([null, null, null, null]);
    expected.extend(["reverts", "a number", "endless", "too long"].map(|name| (name, none.clone())));
    expected.push(("long enough", json!([{}, null, null, null])));
    for (name, expected) in expected.iter().filter(|(_, expected)| expected.is_array()) {
        let found = instance(&chain.with_state, &chain.contracts[name], 7)?;
        ensure!(members(&found) == *expected, "{name}: {found}, expected {expected}");
    }
    let deep = instance(&chain.with_state, &chain.contracts["deep enough"], 7)?;
    ensure!(deep["metadata"]["a"].is_array(), "{deep}");
    let hex = format!("{}ff", "0".repeat(62));
    let found = members(&instance(&chain.with_state, &chain.contracts["units"], 255)?);
    let picture = format!("https://e.org/{hex}.png");
    ensure!(found == json!([{"name": hex, "image": picture}, picture, null, null]), "{found}");

    // Lists have none, and without state nothing is known.
    for name in ["plain", "scripted", "long enough"] {
        let token = &chain.contracts[name];
        let url = format!("{}/api/v2/tokens/{token}/instances", chain.with_state);
        let list = http::get(&http::agent(), &url)?.json()?;
        ensure!(list["items"][0]["id"] == "7" && members(&list["items"][0]) == none, "{name}: {list}");
        let found = instance(&chain.without_state, token, 7)?;
        ensure!(members(&found) == none, "{name}: {found}");
    }
    Ok(())
}
