//! What a source does not have is null or refused by name.

use super::*;

/// Only the float column of a value is there: the value is lacking, and it is not rounded into one.
#[test]
fn floats_are_no_amounts() -> anyhow::Result<()> {
    let (database, folder) = ("source_floats", env::directory()?);
    damaged::copy_folder(&workspace::fixture("cryo/devchain-variants/csv"), folder.path())?;
    damaged::edit(&folder.path().join(TRANSACTIONS), |text| text.replacen("value_binary,value_string", "x,y", 1))?;
    let _database = env::migrate(database)?;
    env::run(env::ingest(database, &["load", "--cryo", &folder.path().display().to_string()]), 0)?;
    let found = env::sql(database, "SELECT countIf(has(lacking, 'value')) = count(), sum(value) FROM transactions")?;
    ensure!(found == "1\t0", "{found}");
    compare(database, &VARIANT)
}

/// Columns of a transaction that a file may lack, and the members of the two interfaces that are made of each.
const LEFT_OUT: [(&str, &[&str], &[&str]); 6] = [
    ("nonce", &["nonce"], &["nonce"]),
    ("value_binary,value_string", &["value"], &["value"]),
    ("input", &["raw_input"], &["input", "methodId"]),
    ("gas_limit", &["gas_limit"], &["gas"]),
    ("gas_price", &["priority_fee", "transaction_burnt_fee"], &[]),
    ("transaction_type", &["type"], &[]),
];

/// Members made of columns that a file lacks are null, or empty where all members are texts, and never zero.
#[test]
fn columns_left_out_are_null_in_lists() -> anyhow::Result<()> {
    let (database, folder) = ("source_left_out", env::directory()?);
    damaged::copy_folder(&workspace::fixture("cryo/devchain-variants/csv"), folder.path())?;
    damaged::edit(&folder.path().join(TRANSACTIONS), |text| {
        let (head, rows) = text.split_once('\n').unwrap_or_default();
        let renamed = |head: String, (column, ..): &(&str, _, _)| {
            let others = column.split(',').map(|name| format!("{name}_left_out")).collect::<Vec<_>>().join(",");
            format!(",{head}").replacen(&format!(",{column},"), &format!(",{others},"), 1)[1..].to_owned()
        };
        format!("{}\n{rows}", LEFT_OUT.iter().fold(head.to_owned(), renamed))
    })?;
    let _database = env::migrate(database)?;
    env::run(env::ingest(database, &["load", "--cryo", &folder.path().display().to_string()]), 0)?;
    let (api, devchain, agent) = (env::start_api(database, &[])?, chain("devchain"), http::agent());
    let transaction = &devchain.lines[12]["block"]["transactions"][0];
    let hash = transaction["hash"].as_str().context("a hash")?;
    let found = http::get(&agent, &format!("{}/api/v2/transactions/{hash}", api.url))?.json()?;
    let listed = http::get(&agent, &format!("{}/api/v2/blocks/12/transactions", api.url))?.json()?["items"][0].take();
    let sender = transaction["from"].as_str().context("a sender")?;
    let list = format!("{}/api?module=account&action=txlist&address={sender}&startblock=12&endblock=12", api.url);
    let compatible = http::get(&agent, &list)?.json()?["result"][0].take();
    for (column, members, texts) in LEFT_OUT {
        for answer in [&found, &listed] {
            let is_null = |member: &&str| answer.get(member).is_some_and(Value::is_null);
            ensure!(members.iter().all(is_null), "{column}: {answer}");
        }
        ensure!(texts.iter().all(|member| compatible[member] == ""), "{column}: {compatible}");
    }
    ensure!(found["fee"]["value"].is_null() && found["gas_used"].is_string() && found["hash"] == *hash, "{found}");
    ensure!(compatible["hash"] == *hash && compatible["from"] == *sender, "{compatible}");
    api.stop()?;
    Ok(())
}

/// What the source had is answered as a node answers it; all else is refused by name, or null in a list.
#[test]
fn what_is_lacking_is_not_answered() -> anyhow::Result<()> {
    let (database, devchain) = ("source_api", chain("devchain"));
    let _database = env::migrate(database)?;
    env::run(
        env::ingest(database, &["load", "--cryo", &workspace::fixture("cryo/devchain").display().to_string()]),
        0,
    )?;
    let api = env::start_api(database, &[])?;
    let agent = http::agent();
    let rpc =
        |url: &str, method: &str, params: Value| http::rpc(&agent, &format!("{url}/api/eth-rpc"), method, &params);
    let block = &devchain.lines[5]["block"];
    let transaction = &block["transactions"][1]["hash"];
    for params in [json!(["0x5", false]), json!(["0x5", true])] {
        let answer = rpc(&api.url, "eth_getBlockByNumber", params)?;
        let message = answer["error"]["message"].as_str().context("a message")?;
        ensure!(
            answer["error"]["code"] == -32002 && message.starts_with("block 5 is indexed without parent_hash, "),
            "{answer}"
        );
    }
    let answer = rpc(&api.url, "eth_getTransactionByHash", json!([transaction]))?;
    ensure!(answer["error"]["code"] == -32002, "{answer}");
    let message = answer["error"]["message"].as_str().context("a message")?;
    ensure!(
        message.starts_with("transaction 1 of block 5 is indexed without ") && message.contains(" v, r, s"),
        "{answer}"
    );
    for (method, params) in [
        ("eth_getTransactionReceipt", json!([transaction])),
        ("eth_getLogs", json!([{"fromBlock": "0x0", "toBlock": "0x20"}])),
    ] {
        let (found, expected) = (rpc(&api.url, method, params.clone())?, rpc(&devchain.api, method, params)?);
        ensure!(found["result"] == expected["result"] && !found["result"].is_null(), "{method}: {found}");
    }
    let item = |url: &str| -> anyhow::Result<Value> {
        Ok(http::get(&agent, &format!("{url}/api/v2/blocks?block_number=6&items_count=1"))?.json()?["items"][0].take())
    };
    let (found, expected) = (item(&api.url)?, item(&devchain.api)?);
    for key in [
        "parent_hash",
        "withdrawals_count",
        "uncles_hashes",
        "difficulty",
        "gas_limit",
        "gas_used_percentage",
        "state_root",
    ] {
        ensure!(found[key].is_null() && !expected[key].is_null(), "{key}: {found}");
    }
    for key in ["hash", "miner", "gas_used", "burnt_fees", "priority_fee", "transaction_fees", "transactions_count"] {
        ensure!(found[key] == expected[key] && !found[key].is_null(), "{key}: {found}");
    }
    let answer = http::get(&agent, &format!("{}/api/v2/blocks/5/withdrawals", api.url))?;
    ensure!(
        answer.status == 404 && answer.text().contains("Withdrawals of block 5 are not indexed"),
        "{}",
        answer.text()
    );
    let status: Value = serde_json::from_slice(&env::run(env::ingest(database, &["status", "--json"]), 0)?.stdout)?;
    ensure!(
        status["without_withdrawals"] == json!([[0, 91]]) && status["without_uncles"] == json!([[0, 91]]),
        "{status}"
    );
    ensure!(status["without_receipts"] == json!([]), "{status}");
    let lacking = json!({"column": "blocks.parent_hash", "first_block": 0, "last_block": 91, "rows": 92});
    ensure!(status["lacking"].as_array().is_some_and(|all| all.contains(&lacking)), "{status}");
    let text = env::run(env::ingest(database, &["status"]), 0)?;
    ensure!(String::from_utf8_lossy(&text.stdout).contains("blocks.parent_hash: 92 rows of blocks 0-91"));
    api.stop()?;
    Ok(())
}
