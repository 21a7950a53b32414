//! Version 2 of Sourcify's API: fields of contracts against what solc said of them, and refusals.

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use xtask::http;
use xtask::process::Server;

use super::sources::{COIN, literal, metadata, settings, solc};
use super::{GOLD, NOISE};
use crate::chains::quantity;

/// An answer of Sourcify's API.
pub(super) fn contract(api: &Server, path: &str) -> anyhow::Result<http::Answer> {
    http::get(&http::agent(), &format!("{}/sourcify/v2/contract/{path}", api.url))
}

/// Sourcify's API against what solc said, and what the node created.
pub(super) fn ensure_api(api: &Server) -> anyhow::Result<()> {
    let checksum = GOLD.parse::<alloy_primitives::Address>()?.to_checksum(None);
    let minimal = json!({"match": "exact_match", "creationMatch": null, "runtimeMatch": null, "chainId": "31337",
        "address": checksum, "verifiedAt": null, "matchId": null});
    for path in [format!("31337/{GOLD}"), format!("31337/{checksum}?apikey=x")] {
        let found = contract(api, &path)?;
        ensure!(found.status == 200 && found.json()? == minimal, "{}", found.text());
        ensure!(found.header("access-control-allow-origin") == "*", "{found:?}");
    }
    let all = contract(api, &format!("31337/{GOLD}?fields=all"))?.json()?;
    let compilation = json!({"language": "Solidity", "compiler": "solc", "compilerVersion": "0.8.37+commit.f401782d",
        "compilerSettings": settings(), "name": "Coin", "fullyQualifiedName": "Tokens.sol:Coin"});
    ensure!(all["compilation"] == compilation && all["abi"] == COIN["abi"], "{all}");
    ensure!(all["sources"] == literal() && all["metadata"]["sources"] == metadata_hashes(), "{all}");
    let input = json!({"language": "Solidity", "sources": literal(), "settings": settings()});
    ensure!(all["stdJsonInput"] == input, "{}", all["stdJsonInput"]);
    ensure!(solc(&["again"], Some(&all["stdJsonInput"]))?["bytecode"] == COIN["bytecode"], "it compiles to other code");
    for unknown in ["userdoc", "devdoc", "storageLayout", "sourceIds", "stdJsonOutput", "proxyResolution"] {
        ensure!(all.get(unknown).is_some_and(Value::is_null), "{unknown}: {}", all[unknown]);
    }
    ensure!(all["runtimeBytecode"]["onchainBytecode"].is_null() && all["runtimeBytecode"].is_object(), "{all}");
    let functions = all["signatures"]["function"].as_array().context("functions")?;
    let transfer = json!({"signature": "transfer(address,uint256)", "signatureHash4": "0xa9059cbb",
        "signatureHash32": "0xa9059cbb2ab09eb219583f4a59a5d0623ade346d962bcd4e46b11da047c9049b"});
    ensure!(functions.contains(&transfer), "{functions:?}");
    let count = |kind: &str| COIN["abi"].as_array().into_iter().flatten().filter(|entry| entry["type"] == kind).count();
    ensure!(
        functions.len() == count("function")
            && all["signatures"]["error"].as_array().map(Vec::len) == Some(count("error"))
    );
    // The node's receipt of the creation.
    let hash = &all["deployment"]["transactionHash"];
    let receipt = http::rpc(&http::agent(), &format!("{}/rpc", api.url), "eth_getTransactionReceipt", &json!([hash]))?;
    let receipt = &receipt["result"];
    ensure!(receipt["contractAddress"] == GOLD.to_lowercase(), "{receipt}");
    let number = |value: &Value| quantity(value).to_string();
    let deployer = all["deployment"]["deployer"].as_str().map(str::to_lowercase).context("a deployer")?;
    ensure!(
        receipt["from"] == deployer && all["deployment"]["blockNumber"] == number(&receipt["blockNumber"]),
        "{all}"
    );
    ensure!(all["deployment"]["transactionIndex"] == number(&receipt["transactionIndex"]), "{all}");
    ensure_selection(api, &all, &minimal)
}

/// The hashes of the texts, without where else they are.
fn metadata_hashes() -> Value {
    let metadata = metadata();
    let sources = metadata["sources"].as_object().into_iter().flatten();
    sources
        .map(|(path, source)| (path.clone(), json!({"keccak256": source["keccak256"]})))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

/// Some fields, all but some, and refusals in Sourcify's form.
fn ensure_selection(api: &Server, all: &Value, minimal: &Value) -> anyhow::Result<()> {
    let of = |query: &str| contract(api, &format!("31337/{GOLD}?{query}"));
    let mut due = minimal.clone();
    due["abi"] = all["abi"].clone();
    due["deployment"] = json!({"blockNumber": all["deployment"]["blockNumber"]});
    ensure!(of("fields=abi,deployment.blockNumber")?.json()? == due);
    let mut due = all.clone();
    for omitted in ["sources", "stdJsonInput", "metadata", "verifiedAt"] {
        due.as_object_mut().context("an object")?.remove(omitted);
    }
    due["compilation"].as_object_mut().context("an object")?.remove("name");
    ensure!(of("omit=sources,stdJsonInput,metadata,verifiedAt,compilation.name")?.json()? == due);
    for query in ["fields=abi&omit=abi", "fields=all,abi", "fields=bytecode", "fields=", "omit=abi.x", "field=abi"] {
        let refused = of(query)?;
        let body = refused.json()?;
        ensure!(refused.status == 400 && body["customCode"] == "invalid_parameter", "{query}: {body}");
        ensure!(body["message"].is_string() && body["errorId"] == refused.header("x-request-id"), "{query}: {body}");
    }
    let other = contract(api, &format!("1/{GOLD}"))?;
    ensure!(other.status == 404 && other.json()?["customCode"] == "unsupported_chain", "{}", other.text());
    for path in [format!("x/{GOLD}"), "31337/0x12".to_owned(), format!("31337/{}", &GOLD[2..])] {
        let refused = contract(api, &path)?;
        ensure!(refused.status == 400 && refused.json()?["customCode"] == "invalid_parameter", "{path}");
    }
    let unverified = contract(api, &format!("31337/{NOISE}?fields=all"))?;
    let checksum = NOISE.parse::<alloy_primitives::Address>()?.to_checksum(None);
    let due =
        json!({"match": null, "creationMatch": null, "runtimeMatch": null, "chainId": "31337", "address": checksum});
    ensure!(unverified.status == 404 && unverified.json()? == due, "{}", unverified.text());
    Ok(())
}
