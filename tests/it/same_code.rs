//! Who created contracts of the same code, against the calls that the nodes traced.

use std::collections::BTreeMap;

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use xtask::http;

use crate::activity::{list, text};
use crate::chains::{Chain, chain};

/// Creations of a code by creator: contracts and blocks.
type Creators = BTreeMap<String, Vec<(String, u64)>>;

/// Creators by code, of every creation that no failure took back.
fn created(chain: &Chain) -> BTreeMap<String, Creators> {
    let mut codes: BTreeMap<String, Creators> = BTreeMap::new();
    for frames in chain.lines.iter().flat_map(|line| list(&line["parityTraces"])).map(|frames| list(&frames)) {
        for frame in &frames {
            let Some(code) = frame["result"]["code"].as_str() else { continue };
            let path = list(&frame["traceAddress"]);
            let holds = |other: &&Value| path.starts_with(&list(&other["traceAddress"]));
            if frames.iter().filter(holds).all(|other| !other["error"].is_string()) {
                let block = frame["blockNumber"].as_u64().unwrap_or_default();
                let creators = codes.entry(code.to_owned()).or_default();
                let contract = (text(&frame["result"]["address"]), block);
                creators.entry(text(&frame["action"]["from"])).or_default().push(contract);
            }
        }
    }
    codes.retain(|code, _| code.len() > 2);
    codes
}

#[test]
fn creators_are_those_of_the_traces() -> anyhow::Result<()> {
    let (mut several, mut compared) = (0, 0);
    for name in ["hive", "devchain"] {
        let chain = chain(name);
        for (code, creators) in created(chain) {
            let (contract, _) = creators.values().flatten().next().context("a creation")?;
            let answer =
                http::get(&http::agent(), &format!("{}/api/v2/smart-contracts/{contract}/same-code", chain.api))?;
            let answer = answer.json().with_context(|| format!("{name} {contract}: {}", answer.text()))?;
            let hash = alloy_primitives::keccak256(alloy_primitives::hex::decode(&code)?);
            // A contract may have been destroyed and made anew with another code.
            if answer["code_hash"] != json!(hash.to_string()) {
                continue;
            }
            let items = list(&answer["items"]);
            let all: usize = creators.values().map(Vec::len).sum();
            let is_whole = answer["creations_count"] == all
                && answer["creators_count"] == creators.len()
                && items.len() == creators.len().min(50)
                && answer["is_complete"] == true;
            ensure!(is_whole, "{name} {contract}: {answer}, not {creators:?}");
            for item in &items {
                let own = creators.get(&text(&item["creator"]["hash"])).with_context(|| item.to_string())?;
                let blocks = own.iter().map(|(_, block)| *block);
                let same = item["creations_count"] == own.len()
                    && item["first_block_number"] == json!(blocks.clone().min())
                    && item["last_block_number"] == json!(blocks.max());
                ensure!(same, "{name} {contract}: {item}, not {own:?}");
            }
            compared += 1;
            several += u64::from(all > 1);
        }
    }
    ensure!(compared > 10 && several > 1, "{compared} codes, {several} of several contracts");
    Ok(())
}

#[test]
fn of_what_is_no_contract_there_is_none() -> anyhow::Result<()> {
    let path = format!("smart-contracts/0x{}/same-code", "9e".repeat(20));
    for name in ["hive", "mainnet"] {
        let answer = http::get(&http::agent(), &format!("{}/api/v2/{path}", chain(name).api))?;
        ensure!(answer.status == 404, "{name}: {}", answer.text());
    }
    let wrong = http::get(&http::agent(), &format!("{}/api/v2/smart-contracts/0x12/same-code", chain("hive").api))?;
    ensure!(wrong.status == 422, "{}", wrong.text());
    Ok(())
}
