//! What tokens are called where the load had no node to ask.

use anyhow::{Context as _, ensure};
use serde_json::Value;
use xtask::process::Server;
use xtask::workspace;

use super::{FIRST_ACCOUNT, GOLD, get, labels, scenario, written};
use crate::chains::dump;
use crate::env;

/// The token as the newest transfers of its owner show it.
fn shown(api: &Server) -> anyhow::Result<Value> {
    let list = get(api, &format!("addresses/{FIRST_ACCOUNT}/token-transfers?token={GOLD}"))?;
    list["items"][0].get("token").cloned().with_context(|| list.to_string())
}

#[test]
fn labels_name_tokens() -> anyhow::Result<()> {
    let database = "labels_of_tokens";
    let _database = scenario(database)?;
    let api = env::start_api(database, &[])?;
    let token = shown(&api)?;
    ensure!(token["symbol"].is_null() && token["name"].is_null() && token["decimals"].is_null(), "{token}");
    let folder = tempfile::tempdir()?;
    let text = format!(
        "address,name,symbol,decimals,token_type,icon\n{GOLD},Gold Coin,AU,18,erc20,https://icons.example/au.svg\n"
    );
    labels(database, &[&written(&folder, "tokens.csv", &text)?], 0)?;
    env::eventually(env::SOON, || Ok(shown(&api)?["symbol"] == "AU"))?;
    let token = shown(&api)?;
    let found =
        ["name", "symbol", "decimals", "type", "icon_url"].map(|member| token[member].as_str().map(str::to_owned));
    let expected =
        ["Gold Coin", "AU", "18", "ERC-20", "https://icons.example/au.svg"].map(|text| Some(text.to_owned()));
    ensure!(found == expected, "{token}");
    for (row, reason) in [
        ("AU,256,erc20,", "`decimals`"),
        ("AU,18,erc77,", "erc77"),
        ("AU,18,erc20,javascript:alert(1)", "https://"),
        (",18,,", "without a `symbol`"),
    ] {
        let text = format!("address,symbol,decimals,token_type,icon\n{GOLD},{row}\n");
        let stderr = labels(database, &[&written(&folder, "bad.csv", &text)?], 3)?;
        ensure!(stderr.contains(reason), "{row}: {stderr}");
    }
    Ok(())
}

/// The page of an address calls the contract of a token that was not called before; others are no tokens.
fn pages_say_what_contracts_say(api: &Server) -> anyhow::Result<()> {
    let expected: Value =
        serde_json::from_str(&std::fs::read_to_string(workspace::fixture("devchain/node/expected.json"))?)?;
    let token = |address: &Value| -> anyhow::Result<Value> {
        Ok(get(api, &format!("addresses/{}", address.as_str().unwrap_or_default()))?["token"].take())
    };
    for (name, full_name) in [("GLD", "Gold"), ("DUSD", "Dev Dollar"), ("Art", "Art Works")] {
        let found = token(&expected["addresses"][name])?;
        ensure!(found["name"] == full_name, "{name}: {found}");
    }
    // Lists of that token have its decimals too, which are not known in lists of several.
    let gold = expected["addresses"]["GLD"].as_str().unwrap_or_default();
    let transfers = |query: &str| -> anyhow::Result<Value> {
        let found = crate::etherscan::ask(&api.url, &format!("module=account&action=tokentx&{query}"))?;
        let rows = found["result"].as_array().context("rows")?;
        let is_own = |row: &&Value| row["contractAddress"].as_str().is_some_and(|one| one.eq_ignore_ascii_case(gold));
        Ok(rows.iter().find(is_own).cloned().unwrap_or_default())
    };
    let row = transfers(&format!("contractaddress={gold}"))?;
    ensure!(row["tokenDecimal"] == "18" && row["tokenSymbol"] == "GLD", "{row}");
    let account = row["to"].as_str().unwrap_or_default();
    let both = transfers(&format!("address={account}&contractaddress={gold}"))?;
    ensure!(both["tokenDecimal"] == "18", "{both}");
    let unknown = transfers(&format!("address={account}"))?;
    ensure!(unknown["tokenDecimal"] == "", "{unknown}");
    for none in [&expected["accounts"][0], &expected["addresses"]["PlainEvents"]] {
        ensure!(token(none)?.is_null(), "{none}");
    }
    Ok(())
}

/// The names are those that `run.mjs` of the scenario chain gave its contracts.
#[test]
fn tokens_are_called_on_the_loaded_state() -> anyhow::Result<()> {
    let database = "tokens_by_state";
    let _database = env::migrate(database)?;
    let genesis = workspace::fixture("devchain/genesis.json").display().to_string();
    env::run(env::ingest(database, &["load", "--dump", &dump("devchain"), "--genesis", &genesis]), 0)?;
    let api = env::start_api(database, &[])?;
    ensure!(shown(&api)?["symbol"].is_null());
    pages_say_what_contracts_say(&api)?;
    let rpc = format!("{}/rpc", api.url);
    let output = env::run(env::ingest(database, &["tokens", "--rpc-url", &rpc]), 0)?;
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    ensure!(stdout.ends_with("token contracts answered\n") && !stdout.starts_with("0 "), "{stdout}");
    env::eventually(env::SOON, || Ok(shown(&api)?["symbol"] == "GLD"))?;
    let token = shown(&api)?;
    ensure!(token["name"] == "Gold" && token["decimals"] == "18", "{token}");
    crate::scan::accounting::amounts_have_their_point(&api.url, token["address_hash"].as_str().context("a token")?)?;
    crate::etherscan::histories::of_tokens_are_what_the_node_says(&api.url)?;
    crate::etherscan::fields::of_tokens_with_metadata(&api.url)?;
    // All contracts were called: a second run calls none.
    let again = env::run(env::ingest(database, &["tokens", "--rpc-url", &rpc]), 0)?;
    ensure!(again.stdout == b"0 token contracts answered\n", "{}", String::from_utf8_lossy(&again.stdout));
    Ok(())
}

#[test]
fn bundled_signatures_are_rows() -> anyhow::Result<()> {
    let database = &env::migrate("bundled_signatures")?;
    let count = |table: &str| env::sql(database, &format!("SELECT count() FROM {table} WHERE source = 'bundled'"));
    let lines = |file: &str| -> anyhow::Result<usize> {
        let text = std::fs::read_to_string(workspace::root().join("sql/signatures").join(file))?;
        Ok(text.lines().filter(|line| !line.is_empty()).count())
    };
    let (events, functions) = (lines("events.txt")?, lines("functions.txt")?);
    for _ in 0..2 {
        ensure!(
            count("event_signatures")?.parse::<usize>()? == events && events > 40,
            "{}",
            count("event_signatures")?
        );
        ensure!(count("function_signatures")?.parse::<usize>()? == functions && functions > 40);
        // Once more writes nothing.
        env::run(env::ingest(database, &["migrate"]), 0)?;
    }
    let hash = alloy_primitives::hex::encode(alloy_primitives::keccak256("Transfer(address,address,uint256)"));
    let found = env::sql(
        database,
        "SELECT DISTINCT hex(hash) FROM event_signatures WHERE signature LIKE 'Transfer(%uint256%'",
    )?;
    ensure!(found.to_lowercase().lines().any(|line| line == hash), "{found}");
    Ok(())
}
