//! Etherscan's version 2: one endpoint, and the chain is a parameter.

use anyhow::ensure;
use serde_json::{Value, json};
use xtask::http;

use super::{get, same, shared, start};
use crate::chains::chain;

const ACTION: &str = "module=block&action=eth_block_number";

#[test]
fn the_parameter_picks_the_chain() -> anyhow::Result<()> {
    let (several, agent) = (shared(), http::agent());
    for (id, name) in [("1", "mainnet"), ("31337", "dev")] {
        for path in ["/v2/api", "/api"] {
            let query = format!("chainid={id}&{ACTION}");
            let due = get(&format!("{several}/{name}{path}?{query}"))?;
            ensure!(due.json()?["result"].is_string(), "{}", due.text());
            same(&get(&format!("{several}{path}?{query}"))?, &due, &query)?;
            let spelled = format!("ChainId={id}&{ACTION}");
            same(&get(&format!("{several}{path}?{spelled}"))?, &due, &spelled)?;
            let post = |url: String, form: &str| -> anyhow::Result<_> {
                let request = agent.post(url).header("content-type", "application/x-www-form-urlencoded");
                let mut answer = request.send(form)?;
                Ok((answer.status().as_u16(), answer.body_mut().read_to_string()?))
            };
            for (of_query, form) in [(format!("?chainid={id}"), ACTION.to_owned()), (String::new(), query)] {
                let (status, text) = post(format!("{several}{path}{of_query}"), &form)?;
                ensure!((status, &text) == (200, &due.text()), "{path}{of_query} {form}: {status} {text}");
            }
        }
    }
    Ok(())
}

/// All chains at the root, one below its name, each with the endpoint that answers for it.
#[test]
fn the_chains_are_listed() -> anyhow::Result<()> {
    let several = shared();
    let listed = |base: &str| -> anyhow::Result<Value> { get(&format!("{base}/v2/chainlist"))?.json() };
    let due = |name: &str, (id, title): (u64, &str), status: u8| {
        json!({
            "chainname": title,
            "chainid": id.to_string(),
            "blockexplorer": format!("{several}/{name}/"),
            "apiurl": format!("{several}/{name}/v2/api?chainid={id}"),
            "status": status,
            "comment": "",
        })
    };
    let (mainnet, dev) = (due("mainnet", (1, "Ethereum"), 1), due("dev", (31_337, "Chain 31337"), 1));
    let all = listed(several)?;
    ensure!(all["totalcount"] == 3 && all["comments"].is_string(), "{all}");
    ensure!(all["result"] == json!([mainnet, dev, due("none", (77, "POA Sokol"), 0)]), "{all}");
    let one = listed(&format!("{several}/dev"))?;
    ensure!(one["totalcount"] == 1 && one["result"] == json!([dev]), "{one}");
    let endpoint = dev["apiurl"].as_str().unwrap_or_default();
    let number = get(&format!("{endpoint}&{ACTION}"))?;
    ensure!(number.status == 200 && number.json()?["result"].is_string(), "{}", number.text());
    Ok(())
}

#[test]
fn without_a_chain_that_is_served_the_answer_says_which_are() -> anyhow::Result<()> {
    let several = shared();
    for query in ["", "?chainid=", "?chainid=5", "?chainid=x", "?chainid=0x1", "?chainid=1.0"] {
        for path in ["/v2/api", "/api"] {
            let answer = get(&format!("{several}{path}{query}"))?;
            let body = answer.json()?;
            let sentence =
                "Missing or unsupported chainid parameter: this server has 1 (mainnet), 31337 (dev), 77 (none)";
            ensure!(answer.status == 200 && body["status"] == "0" && body["message"] == "NOTOK", "{query}: {body}");
            ensure!(body["result"] == sentence, "{query}: {body}");
        }
    }
    // Its database is not there: it is the answer of that chain alone.
    let missing = get(&format!("{several}/v2/api?chainid=77&module=block&action=getblockreward&blockno=1"))?;
    ensure!(missing.status == 503 && missing.header("retry-after") == "5", "{missing:?}");
    let body = missing.json()?;
    ensure!(body["message"] == "NOTOK" && body["result"].is_string(), "{body}");
    Ok(())
}

/// Whether an id is that of a chain whose database has not answered is not known, and is not denied.
#[test]
fn an_id_that_may_be_of_a_chain_that_is_not_ready_is_503() -> anyhow::Result<()> {
    let api = start(&["--chain", &format!("dev={},none=not_there", chain("devchain").name)], &["dev"])?;
    let ask = |id: &str| get(&format!("{}/v2/api?chainid={id}&{ACTION}", api.url));
    let unknown = ask("77")?;
    ensure!(unknown.status == 503 && unknown.json()?["message"] == "NOTOK", "{unknown:?}");
    ensure!(ask("31337")?.status == 200);
    let body: Value = ask("")?.json()?;
    let sentence =
        "Missing or unsupported chainid parameter: this server has 31337 (dev), none (its id is not known yet)";
    ensure!(body["result"] == sentence, "{body}");
    api.stop()?;
    Ok(())
}
