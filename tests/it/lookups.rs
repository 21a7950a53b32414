//! Lookups of REST: a block, what a transaction moved and called, and the same of a block.

use anyhow::{Context as _, ensure};
use serde_json::Value;
use xtask::http;

use crate::chains::{Chain, chain, quantity};

const CHAINS: [&str; 3] = ["hive", "devchain", "mainnet"];

fn ask(chain: &Chain, path: &str) -> anyhow::Result<(u16, Value)> {
    let answer = http::get(&http::agent(), &format!("{}/api/v2/{path}", chain.api))?;
    Ok((answer.status, answer.json()?))
}

fn get(chain: &Chain, path: &str) -> anyhow::Result<Value> {
    let (status, answer) = ask(chain, path)?;
    ensure!(status == 200, "{path}: {status} {answer}");
    Ok(answer)
}

#[test]
fn a_block_is_that_of_the_list_by_height_and_by_hash() -> anyhow::Result<()> {
    for name in CHAINS {
        let chain = chain(name);
        for line in chain.lines.iter().step_by((chain.lines.len() / 12).max(1)) {
            let told = &line["block"];
            let height = quantity(&told["number"]);
            let hash = told["hash"].as_str().context("a hash")?;
            let block = get(chain, &format!("blocks/{height}"))?;
            ensure!(block["hash"] == told["hash"] && block["parent_hash"] == told["parentHash"], "{block}");
            ensure!(block["gas_used"] == quantity(&told["gasUsed"]).to_string() && block["type"] == "block", "{block}");
            let count = told["transactions"].as_array().map(Vec::len);
            ensure!(block["transactions_count"].as_u64() == count.map(|count| count as u64), "{block}");
            ensure!(get(chain, &format!("blocks/{hash}"))? == block, "{hash}");
            let list = get(chain, &format!("blocks?block_number={}&items_count=1", height + 1))?;
            ensure!(list["items"][0] == block, "{height}: {block}, in the list {list}");
        }
    }
    Ok(())
}

#[test]
fn a_block_that_is_not_there_is_404_and_no_name_422() -> anyhow::Result<()> {
    let chain = chain("devchain");
    for path in ["blocks/99999999", "blocks/99999999999999999999", &format!("blocks/0x{}", "ab".repeat(32))] {
        let (status, answer) = ask(chain, path)?;
        ensure!(status == 404 && answer["message"] == "Not found", "{path}: {status} {answer}");
    }
    for path in ["blocks/latest", "blocks/-1", "blocks/0x10", "blocks/1?items_count=3"] {
        ensure!(ask(chain, path)?.0 == 422, "{path}");
    }
    Ok(())
}
