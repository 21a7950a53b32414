//! Parameters: in any case of letters, and none passed over.

use std::collections::BTreeSet;

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use xtask::http;

use super::ask;
use super::examples::{Example, documented, examples, names};
use super::transactions::lower;
use crate::chains::{Chain, chain, quantity};

/// A query with its names in capital letters.
fn shouted(query: &str) -> String {
    let parts = query.split('&').map(|part| match part.split_once('=') {
        Some((name, value)) => format!("{}={value}", name.to_uppercase()),
        None => part.to_owned(),
    });
    parts.collect::<Vec<_>>().join("&")
}

/// Figures of the newest blocks may grow older between two requests only where a chain is followed; these are not.
fn ensure_same(chain: &Chain, one: &str, other: &str) -> anyhow::Result<Value> {
    let found = ask(&chain.api, one)?;
    let again = ask(&chain.api, other)?;
    ensure!(found == again, "{one}: {found}\n{other}: {again}");
    Ok(found)
}

#[test]
fn names_are_in_any_case_of_letters() -> anyhow::Result<()> {
    for name in ["hive", "devchain"] {
        let chain = chain(name);
        for example in examples(chain)? {
            ensure_same(chain, &example.text(), &shouted(&example.text()))?;
        }
    }
    Ok(())
}

/// Clients that write an address in several lines of their source send what is at the ends of the lines.
#[test]
fn blanks_around_names_and_values_are_ignored() -> anyhow::Result<()> {
    let chain = chain("devchain");
    for example in examples(chain)? {
        let text = example.text();
        let spread = text.replace('&', "%20%20%0A&%20");
        ensure_same(chain, &text, &format!("%09{spread}+++&%20apikey=+x+&nothing=%20"))?;
    }
    Ok(())
}

/// What the page has of the parameters of an action.
fn cell(action: &str) -> anyhow::Result<String> {
    let rows = documented("\n## Actions\n")?;
    let row = rows.iter().find(|row| names(&row[1]).contains(&action)).with_context(|| action.to_owned())?;
    Ok(row[2].clone())
}

/// Each parameter that the page has of an action, with all its names.
fn parameters(action: &str) -> anyhow::Result<Vec<String>> {
    let lists = documented("\n## Lists\n")?;
    let window = || lists.iter().flat_map(|row| names(&row[0])).map(str::to_owned);
    let cell = cell(action)?;
    let mut found: Vec<String> = names(&cell).into_iter().map(str::to_owned).collect();
    if cell.contains("[blocks and page]") {
        found.extend(window());
    } else if cell.contains("[page]") {
        found.extend(["page".into(), "offset".into()]);
    }
    Ok(found)
}

fn is_refused(answer: &Value, name: &str) -> bool {
    let text = answer["message"].as_str().unwrap_or_default().to_lowercase();
    answer["status"] == "0" && answer["result"].is_null() && text.contains(&name.to_lowercase())
}

/// A value that is of no kind is refused by its name, of every parameter of every action that reads.
#[test]
fn no_parameter_is_passed_over() -> anyhow::Result<()> {
    let chain = chain("devchain");
    let mut seen = BTreeSet::new();
    for Example { module, action, query } in examples(chain)? {
        if !seen.insert(action) {
            continue;
        }
        let base = format!("module={module}&action={action}{query}");
        for name in parameters(action)? {
            let wrong = ask(&chain.api, &format!("{base}&{name}=%E2%98%83"))?;
            if cell(action)?.contains(&format!("(`{name}`)")) {
                ensure!(wrong == ask(&chain.api, &base)?, "{wrong}");
                continue;
            }
            // Aliases of a parameter are reported by its first name.
            let reported = name.replace("filter_by", "filterby").replace("starttimestamp", "start_timestamp");
            let reported = reported.replace("endtimestamp", "end_timestamp");
            let reported = match &*reported {
                "contractaress" | "tokenaddress" => "contractaddress".to_owned(),
                "contractaddress" if action == "getcontractcreation" => "contractaddresses".to_owned(),
                "start_block" | "end_block" => reported.replace('_', ""),
                _ => reported,
            };
            let reported = ["1", "2", "3"]
                .iter()
                .fold(reported, |name, topic| name.replace(&format!("_{topic}opr"), &format!("_{topic}_opr")));
            ensure!(
                is_refused(&wrong, &reported) || (name == "address" && is_refused(&wrong, "address hash")),
                "{base} {name}: {wrong}"
            );
        }
        for name in ["nonsense", "start_blok", "withlogs"] {
            let other = ask(&chain.api, &format!("{base}&{name}=1"))?;
            ensure!(is_refused(&other, &format!("Unexpected parameter '{name}'")), "{base}: {other}");
        }
        let free =
            ask(&chain.api, &format!("{base}&apiKey=x&KEY=y&_=1700000000000&tags=undefined&sorting=null&nothing="))?;
        ensure!(free == ask(&chain.api, &base)?, "{base}: {free}");
    }
    ensure!(seen.len() > 45, "{}", seen.len());
    Ok(())
}

/// Requests, each with the parameters that py-etherscan-api 0.8.0 sends beside its own: those of all calls of a client
/// so far.
fn calls_with_earlier_ones(chain: &Chain) -> anyhow::Result<Vec<[String; 2]>> {
    let all = examples(chain)?;
    let text = |action: &str| all.iter().find(|one| one.action == action).map(Example::text);
    let block = chain.lines.iter().map(|line| &line["block"]).find(|block| block["transactions"][0].is_object());
    let block = block.context("a transaction")?;
    let tag = format!("tag={}", lower(&block["number"]));
    let transaction = format!("txhash={}", lower(&block["transactions"][0]["hash"]));
    let address = format!("address={}", lower(&block["transactions"][0]["from"]));
    let [of_page, of_block] =
        ["page=2&offset=1&sort=desc&blocktype=blocks".to_owned(), format!("{transaction}&{address}")];
    let mut calls = Vec::new();
    for (action, repeated) in [
        ("balance", &of_page),
        ("balancemulti", &of_page),
        ("txlist", &"blocktype=blocks".to_owned()),
        ("txlistinternal", &"blocktype=uncles".to_owned()),
        ("tokensupply", &address),
    ] {
        calls.extend(text(action).map(|plain| [plain, repeated.clone()]));
    }
    let by_hash = format!("{tag}&boolean=true&index=0x0&{address}");
    for (call, repeated) in [
        ("eth_blockNumber".to_owned(), format!("tag=0x1&boolean=true&index=0x0&{of_block}")),
        (format!("eth_getBlockByNumber&{tag}&boolean=true"), format!("index=0x0&{of_block}")),
        (format!("eth_getTransactionByBlockNumberAndIndex&{tag}&index=0x0"), format!("boolean=true&{of_block}")),
        (format!("eth_getBlockTransactionCountByNumber&{tag}"), format!("boolean=true&index=0x1&{of_block}")),
        (format!("eth_getTransactionByHash&{transaction}"), by_hash.clone()),
        (format!("eth_getTransactionReceipt&{transaction}"), by_hash),
        (format!("eth_getTransactionCount&{address}&tag=latest"), format!("boolean=true&index=0x1&{transaction}")),
    ] {
        calls.push([format!("module=proxy&action={call}"), repeated]);
    }
    Ok(calls)
}

#[test]
fn parameters_of_earlier_calls_have_no_effect() -> anyhow::Result<()> {
    let mut answered = BTreeSet::new();
    for name in ["hive", "devchain"] {
        let chain = chain(name);
        for [plain, repeated] in calls_with_earlier_ones(chain)? {
            let found = ensure_same(chain, &plain, &format!("{plain}&{repeated}"))?;
            if !found["result"].is_null() {
                answered.extend(plain.split('&').nth(1).map(str::to_owned));
            }
        }
        // Of a call an address could be the sender or the contract.
        for action in ["eth_call", "eth_estimateGas"] {
            let address = format!("0x{}", "34".repeat(20));
            let query = format!("module=proxy&action={action}&to={address}&address={address}");
            let refused = ask(&chain.api, &query)?;
            ensure!(is_refused(&refused, "Unexpected parameter 'address'"), "{refused}");
        }
    }
    ensure!(answered.len() == 12, "{answered:?}");
    Ok(())
}

/// Other spellings of a parameter mean the same, alone or beside it, and never another value.
#[test]
fn other_names_of_a_parameter_are_the_same_parameter() -> anyhow::Result<()> {
    let chain = chain("devchain");
    let other = format!("0x{}", "12".repeat(20));
    for example in examples(chain)? {
        let pairs: &[(&str, &str)] = match example.action {
            "tokentx" | "tokennfttx" | "token1155tx" => &[("contractaddress", "tokenaddress")],
            "getcontractcreation" => &[("contractaddresses", "contractaddress")],
            "txlist" | "txlistinternal" => &[("startblock", "start_block"), ("endblock", "end_block")],
            _ => continue,
        };
        let text = example.text();
        for (name, alias) in pairs {
            let text = if text.contains(&format!("&{name}=")) {
                text.clone()
            } else if name.ends_with("block") {
                format!("{text}&{name}=7")
            } else {
                continue;
            };
            let value = text.split(&format!("&{name}=")).nth(1).and_then(|rest| rest.split('&').next());
            let value = value.context("a value")?;
            ensure_same(chain, &text, &text.replace(&format!("&{name}="), &format!("&{alias}=")))?;
            ensure_same(chain, &text, &format!("{text}&{alias}={value}"))?;
            let different = if name.ends_with("block") { "8" } else { &*other };
            let refused = ask(&chain.api, &format!("{text}&{alias}={different}"))?;
            ensure!(is_refused(&refused, &format!("'{name}' has two values")), "{text} {alias}: {refused}");
        }
    }
    Ok(())
}

/// Ledger Live and MetaMask send `tag=latest` with requests for lists, other clients with those for an ABI or the height.
#[test]
fn every_action_takes_the_tag_of_the_newest_block() -> anyhow::Result<()> {
    let chain = chain("devchain");
    for Example { module, action, query } in examples(chain)? {
        let plain = format!("module={module}&action={action}{query}");
        if parameters(action)?.contains(&"tag".to_owned()) {
            continue;
        }
        for tag in ["latest", "Pending"] {
            ensure_same(chain, &plain, &format!("{plain}&tag={tag}"))?;
        }
        for tag in ["0x10", "5", "earliest"] {
            let refused = ask(&chain.api, &format!("{plain}&tag={tag}"))?;
            ensure!(is_refused(&refused, "Invalid tag"), "{plain} {tag}: {refused}");
        }
    }
    let account = lower(&chain.lines.last().context("blocks")?["block"]["miner"]);
    for action in ["txlist", "tokentx"] {
        let request = format!("startBlock=2&offset=40&sort=desc&action={action}&tag=latest&page=1");
        let found = ask(&chain.api, &format!("module=account&address={account}&{request}"))?;
        ensure!(found["result"].is_array(), "{action}: {found}");
    }
    let height = ask(&chain.api, "module=proxy&action=eth_blockNumber&tag=latest&apikey=x")?;
    ensure!(height["result"].as_str() == Some(&format!("{:#x}", chain.head())), "{height}");
    Ok(())
}

/// The same request of clients of Blockscout, and of those of Etherscan in their three ways.
#[test]
fn refusals_are_in_the_words_of_each_kind_of_client() -> anyhow::Result<()> {
    let api = &chain("hive").api;
    let address = format!("0x{}", "12".repeat(20));
    for query in [
        "module=account&action=nothing".to_owned(),
        "module=nothing&action=balance".into(),
        "module=account&action=txlist".into(),
        format!("module=contract&action=getabi&address={address}"),
        format!("module=account&action=txlist&address={address}&page=1&offset=10001"),
        format!("module=account&action=balance&address={address}&tag=99999999"),
        format!("module=logs&action=getLogs&address={address}&offset=1001"),
        "module=block&action=getblockreward&blockno=99999999".into(),
        "module=block&action=getblockcountdown&blockno=1".into(),
        "module=proxy&action=eth_getCode".into(),
        "module=token&action=tokeninfo".into(),
    ] {
        let plain = ask(api, &query)?;
        ensure!(plain["status"] == "0" && plain["result"].is_null() && plain["message"] != "NOTOK", "{query}: {plain}");
        let due = json!({"status": "0", "message": "NOTOK", "result": plain["message"]});
        for other in [
            format!("{api}/api?{query}&chainid=1"),
            format!("{api}/api?{query}&chainId=8453"),
            format!("{api}/v2/api?{query}"),
        ] {
            let found = http::get(&http::agent(), &other)?;
            ensure!(found.status == 200 && found.json()? == due, "{other}: {}, due {due}", found.text());
        }
    }
    Ok(())
}

/// Clients that read only the result must not take these for the end of a list, nor fail without a reason.
#[test]
fn what_is_not_served_is_said_in_the_result_of_each_kind_of_client() -> anyhow::Result<()> {
    let api = &chain("hive").api;
    let token = format!("0x{}", "12".repeat(20));
    for query in [
        "module=stats&action=ethprice".to_owned(),
        "module=contract&action=verifysourcecode".into(),
        "module=account&action=listaccounts&page=1".into(),
        format!("module=logs&action=getLogs&address={token}&page=1001&offset=1000"),
        format!("module=account&action=tokenlist&address={token}&page=2&offset=10000"),
    ] {
        let plain = ask(api, &query)?;
        let sentence = plain["message"].as_str().context("a sentence")?;
        ensure!(plain == json!({"status": "0", "message": sentence, "result": sentence}), "{query}: {plain}");
        ensure!(sentence != "NOTOK", "{query}: {plain}");
        let due = json!({"status": "0", "message": "NOTOK", "result": sentence});
        let found = http::get(&http::agent(), &format!("{api}/v2/api?{query}"))?;
        ensure!(found.status == 200 && found.json()? == due, "{query}: {}, due {due}", found.text());
    }
    Ok(())
}

/// Clients of Etherscan leave out what has a default there.
#[test]
fn defaults_of_etherscan_are_those_of_its_clients() -> anyhow::Result<()> {
    let chain = chain("devchain");
    let last = quantity(&chain.lines.last().context("blocks")?["block"]["timestamp"]);
    for (query, name, usual) in [
        (format!("module=block&action=getblocknobytime&timestamp={last}"), "closest", "before"),
        ("module=gastracker&action=gasestimate".into(), "gasprice", "2000000000"),
    ] {
        ensure_same(chain, &format!("{query}&chainid=1"), &format!("{query}&{name}={usual}&chainid=1"))?;
        let refused = ask(&chain.api, &query)?;
        ensure!(refused["message"] == format!("Query parameter '{name}' is required"), "{refused}");
    }
    Ok(())
}

/// Clients end their loops at these words.
#[test]
fn lists_without_items_have_the_words_of_etherscan() -> anyhow::Result<()> {
    let api = &chain("hive").api;
    let address = format!("0x{}", "12".repeat(20));
    let (account, token) = (format!("&address={address}"), format!("&contractaddress={address}"));
    for (action, query) in [
        ("account&action=txlist", account.clone()),
        ("account&action=txlistinternal", account.clone()),
        ("account&action=tokentx", account.clone()),
        ("account&action=tokennfttx", account.clone()),
        ("account&action=token1155tx", account.clone()),
        ("account&action=tokentx", token.clone()),
        ("account&action=getminedblocks", account.clone()),
        ("account&action=txsBeaconWithdrawal", account.clone()),
        ("account&action=tokenlist", account.clone()),
        ("account&action=addresstokenbalance", account.clone()),
        ("account&action=addresstokennftbalance", account.clone()),
        ("account&action=addresstokennftinventory", format!("{account}{token}")),
        ("logs&action=getLogs", format!("{account}&fromBlock=0&toBlock=latest")),
        ("stats&action=dailytx", "&startdate=2030-01-01&enddate=2030-01-02".into()),
    ] {
        let words = if action.starts_with("account") { "No transactions found" } else { "No records found" };
        let due = json!({"status": "0", "message": words, "result": []});
        for query in [format!("/api?module={action}{query}"), format!("/v2/api?module={action}{query}&chainid=1")] {
            let found = http::get(&http::agent(), &format!("{api}{query}"))?.json()?;
            ensure!(found == due, "{query}: {found}");
        }
    }
    for chainid in ["", "&chainid=1"] {
        let none =
            ask(api, &format!("module=contract&action=getcontractcreation&contractaddresses={address}{chainid}"))?;
        ensure!(
            none["status"] == "0" && none["result"].is_null() && lower(&none["message"]) == "no data found",
            "{none}"
        );
        let none = ask(api, &format!("module=account&action=fundedby{account}{chainid}"))?;
        ensure!(none["status"] == "0" && none["result"].is_null(), "{none}");
    }
    Ok(())
}
