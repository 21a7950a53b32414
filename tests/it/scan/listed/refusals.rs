//! What the lists refuse, and how they pass over what is far apart.

use super::*;

#[test]
fn lists_refuse_wrong_parameters() -> anyhow::Result<()> {
    let chain = chain("devchain");
    for (query, pointer) in [
        ("format=xml", "/format"),
        ("cursor=1-2", "/cursor"),
        ("limit=-1", "/limit"),
        ("limit=x", "/limit"),
        ("address=0x12", "/address"),
        ("fromAddress=", "/fromAddress"),
        ("toAddress=5", "/toAddress"),
        ("fromBlock=newest", "/fromBlock"),
        ("toBlock=latest", "/fromBlock"),
        ("toBlock=-1", "/toBlock"),
        ("fromBlock=5&toBlock=4", "/toBlock"),
        ("fromBlock=0&toBlock=5000", "/toBlock"),
        ("block=5", "/block"),
        ("topic0=0x12", "/topic0"),
    ] {
        for path in PATHS {
            let answer = scan(chain, path, query)?;
            ensure!(answer.status == 422, "{path} {query}: {} {}", answer.status, answer.text());
            ensure!(answer.json()?["errors"][0]["source"]["pointer"] == pointer, "{path} {query}: {}", answer.text());
        }
    }
    for (path, query) in [
        ("token-transfers", "type=ERC20"),
        ("token-transfers", "token=0x"),
        ("transactions", "type=ERC-20"),
        ("internal-transactions", "token=0x7dcd17433742f4c0ca53122ab541d0ba67fc27df"),
    ] {
        ensure!(scan(chain, path, query)?.status == 422, "{path} {query}");
    }
    Ok(())
}

/// Some blocks of the mainnet slice have no traces, and two ranges no blocks.
#[test]
fn lists_say_which_blocks_have_no_traces() -> anyhow::Result<()> {
    let chain = chain("mainnet");
    let traced = |line: &&Value| line["parityTraces"].is_array();
    let with = chain.lines.iter().find(traced).context("a block with traces")?;
    let without = chain
        .lines
        .iter()
        .find(|line| !traced(line) && line["block"]["transactions"] != json!([]))
        .context("a block without")?;
    let one = |line: &Value| format!("fromBlock={0}&toBlock={0}", line["block"]["number"].as_str().unwrap_or(""));
    ensure!(scan(chain, "internal-transactions", &one(with))?.status == 200);
    let refused = scan(chain, "internal-transactions", &one(without))?;
    let missing = json!([{"fromBlock": without["block"]["number"], "toBlock": without["block"]["number"]}]);
    ensure!(refused.status == 404 && refused.json()?["data"]["missing"] == missing, "{}", refused.text());
    ensure!(refused.text().contains("traces"), "{}", refused.text());
    ensure!(scan(chain, "transactions", &one(without))?.status == 200);
    let api = env::start_api("mainnet", &["--gaps", "serve"])?;
    let answer = http::get(&http::agent(), &format!("{}/api/v2/scan/internal-transactions?{}", api.url, one(without)))?;
    let end = answer.json()?["end"].clone();
    ensure!(end["complete"] == false && end["missing"] == missing && end["count"] == 0, "{end}");
    Ok(())
}

/// The mainnet slice is a few blocks among millions: what matches is found window by window.
#[test]
fn lists_pass_over_what_lies_far_apart() -> anyhow::Result<()> {
    let chain = chain("mainnet");
    let bodies = chain.lines.iter().flat_map(|line| line["block"]["transactions"].as_array().into_iter().flatten());
    let bodies: Vec<Value> = bodies.cloned().collect();
    let senders = busiest(&bodies, &["from"]);
    let recent = bodies.last().and_then(|body| body["from"].as_str()).context("a sender")?.to_owned();
    let api = env::start_api("mainnet", &["--gaps", "serve"])?;
    for sender in [&senders[0], &senders[1], &recent] {
        let expected: Vec<&Value> = bodies.iter().filter(|body| body["from"] == sender.as_str()).collect();
        for limit in ["", "&limit=3"] {
            let query = format!("{ALL}&format=ndjson&fromAddress={sender}{limit}");
            let (found, end) =
                lines(&http::get(&http::agent(), &format!("{}/api/v2/scan/transactions?{query}", api.url))?)?;
            let most = if limit.is_empty() { usize::MAX } else { 3 };
            let hashes: Vec<&Value> = found.iter().map(|row| &row["hash"]).collect();
            let expected: Vec<&Value> = expected.iter().take(most).map(|body| &body["hash"]).collect();
            ensure!(hashes == expected && !expected.is_empty() && end["complete"] == false, "{sender}: {end}");
        }
    }
    Ok(())
}
