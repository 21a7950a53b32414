//! What addresses hold of tokens, against what the scenario's node reported by calls.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use trawl_core::primitives::U256;
use xtask::{http, workspace};

use crate::chains::{chain, dump};
use crate::env;
use crate::pages::{get, walk};

/// By holder: token and amount.
type ExpectedBalances = BTreeMap<String, BTreeMap<String, U256>>;

fn number(value: &Value) -> anyhow::Result<U256> {
    Ok(value.as_str().context("an amount")?.parse()?)
}

/// What the node reported by calls, of tokens whose transfers show it: without deposits and events for many tokens.
pub fn expected_balances() -> anyhow::Result<ExpectedBalances> {
    let expected: Value =
        serde_json::from_str(&std::fs::read_to_string(workspace::fixture("devchain/node/expected.json"))?)?;
    let mut balances = ExpectedBalances::new();
    let mut add = |holder: &str, token: &str, amount: U256| {
        if !amount.is_zero() {
            let held = balances.entry(holder.to_lowercase()).or_default().entry(token.to_lowercase()).or_default();
            *held += amount;
        }
    };
    for (token, of_token) in expected["erc20"].as_object().context("tokens")? {
        for (holder, amount) in of_token["balances"].as_object().into_iter().flatten() {
            add(holder, token, if of_token["label"] == "Wrapped" { U256::ZERO } else { number(amount)? });
        }
    }
    for (token, of_token) in expected["erc721"].as_object().context("tokens")? {
        for owner in of_token["owners"].as_object().into_iter().flat_map(|owners| owners.values()) {
            let amount = U256::from(of_token["label"] != "Batch721");
            add(owner.as_str().context("an owner")?, token, amount);
        }
    }
    for (token, of_token) in expected["erc1155"].as_object().context("tokens")? {
        for (holder, amounts) in of_token.as_object().context("holders")? {
            for amount in amounts.as_object().into_iter().flat_map(|ids| ids.values()) {
                add(holder, token, number(amount)?);
            }
        }
    }
    Ok(balances)
}

fn of_items(items: &[Value]) -> anyhow::Result<BTreeMap<String, U256>> {
    let of_item = |item: &Value| {
        ensure!(item["token_id"].is_null() && item["token_instance"].is_null(), "{item}");
        let token = item["token"]["address_hash"].as_str().context("a token")?.to_lowercase();
        Ok((token, item["value"].as_str().map(str::parse).transpose()?))
    };
    let all: BTreeMap<String, Option<U256>> = items.iter().map(of_item).collect::<anyhow::Result<_>>()?;
    ensure!(all.len() == items.len(), "a token twice: {items:?}");
    Ok(all.into_iter().filter_map(|(token, value)| Some((token, value?))).collect())
}

#[test]
fn are_what_the_node_says_by_calls() -> anyhow::Result<()> {
    let chain = chain("devchain");
    let balances = expected_balances()?;
    ensure!(balances.len() > 8 && balances.values().any(|held| held.len() > 2), "{balances:?}");
    let tokens: BTreeSet<&String> = balances.values().flat_map(BTreeMap::keys).collect();
    for (holder, held) in &balances {
        let all = get(chain, &format!("addresses/{holder}/token-balances"))?;
        let all = all.as_array().context("an array")?;
        let mut found = of_items(all)?;
        found.retain(|token, _| tokens.contains(token));
        ensure!(&found == held, "{holder}: {found:?}, expected {held:?}");
        for size in [1, 3, 50] {
            let walked = walk(chain, &format!("addresses/{holder}/tokens"), size)?;
            ensure!(&walked == all, "{holder} in pages of {size}: {walked:?}, all {all:?}");
        }
        for standards in ["ERC-20", "ERC-721,ERC-1155"] {
            let of_standards: Vec<&Value> =
                all.iter().filter(|item| standards.contains(item["token"]["type"].as_str().unwrap_or("?"))).collect();
            let walked = walk(chain, &format!("addresses/{holder}/tokens?type={standards}"), 2)?;
            ensure!(walked.iter().eq(of_standards), "{holder} {standards}: {walked:?}");
        }
        let counts = get(chain, &format!("addresses/{holder}/tabs-counters"))?;
        ensure!(counts["token_balances_count"] == all.len(), "{counts}, {all:?}");
        ensure!(get(chain, &format!("addresses/{holder}"))?["has_tokens"] == true, "{holder}");
    }
    let unknown = format!("0x{}", "9e".repeat(20));
    ensure!(get(chain, &format!("addresses/{unknown}/token-balances"))? == json!([]));
    Ok(())
}

/// The file of the holders of a token.
fn csv_of(page: &Value, holders: &[(String, U256)]) -> anyhow::Result<String> {
    let decimals: Option<u8> = match page["type"].as_str() {
        Some("ERC-20") => page["decimals"].as_str().map(str::parse).transpose()?,
        _ => Some(0),
    };
    let mut file = "HolderAddress,Balance\r\n".to_owned();
    for (holder, amount) in holders {
        let held = decimals.map(|decimals| alloy_primitives::utils::format_units(*amount, decimals)).transpose()?;
        let held = held.map(|held| match held.contains('.') {
            true => held.trim_end_matches('0').trim_end_matches('.').to_owned(),
            false => held,
        });
        let address: trawl_core::primitives::Address = holder.parse()?;
        file.push_str(&format!("{},{}\r\n", address.to_checksum(None), held.unwrap_or_default()));
    }
    Ok(file)
}

/// Whoever holds a token, once, the largest balance first.
#[test]
fn of_a_token_are_its_holders() -> anyhow::Result<()> {
    let chain = chain("devchain");
    let mut by_token: BTreeMap<String, Vec<(String, U256)>> = BTreeMap::new();
    for (holder, held) in expected_balances()? {
        held.into_iter().for_each(|(token, amount)| by_token.entry(token).or_default().push((holder.clone(), amount)));
    }
    ensure!(by_token.len() > 3, "{by_token:?}");
    for (token, mut holders) in by_token {
        holders.sort_by(|one, other| (other.1, &one.0).cmp(&(one.1, &other.0)));
        for size in [1, 3, 100] {
            let found = walk(chain, &format!("tokens/{token}/holders"), size)?;
            let of_item = |item: &Value| {
                let holder = item["address"]["hash"].as_str().context("a holder")?.to_lowercase();
                Ok((holder, number(&item["value"])?))
            };
            let found = found.iter().map(of_item).collect::<anyhow::Result<Vec<_>>>()?;
            ensure!(found == holders, "{token} in pages of {size}: {found:?}, expected {holders:?}");
        }
        let page = get(chain, &format!("tokens/{token}"))?;
        let file = format!("{}/api/v2/tokens/{token}/holders/csv?from_period=null&recaptcha_response=x", chain.api);
        let file = http::get(&http::agent(), &file)?;
        ensure!(file.header("content-type") == "application/csv", "{file:?}");
        ensure!(file.text() == csv_of(&page, &holders)?, "{}, expected {holders:?}", file.text());
        let count = page["holders_count"].clone();
        ensure!(
            count.as_str().and_then(|count| count.parse().ok()) == Some(holders.len()),
            "{token}: {count}, expected {holders:?}"
        );
    }
    let expected: Value =
        serde_json::from_str(&std::fs::read_to_string(workspace::fixture("devchain/node/expected.json"))?)?;
    let wrapped = expected["erc20"].as_object().into_iter().flatten().find(|(_, facts)| facts["label"] == "Wrapped");
    let path = format!("{}/api/v2/tokens/{}/holders", chain.api, wrapped.context("wrapped coins")?.0);
    let refused = http::get(&http::agent(), &path)?;
    ensure!(
        refused.status == 501 && refused.text().contains("do not determine"),
        "{} {}",
        refused.status,
        refused.text()
    );
    Ok(())
}

#[test]
fn of_a_chain_without_its_beginning_are_refused() -> anyhow::Result<()> {
    let chain = chain("mainnet");
    let address = format!("0x{}", "9e".repeat(20));
    for list in ["token-balances", "tokens"] {
        let answer = http::get(&http::agent(), &format!("{}/api/v2/addresses/{address}/{list}", chain.api))?;
        ensure!(
            answer.status == 501 && answer.text().contains("counted up to block"),
            "{} {}",
            answer.status,
            answer.text()
        );
    }
    let counts = get(chain, &format!("addresses/{address}/tabs-counters"))?;
    ensure!(counts["token_balances_count"].is_null(), "{counts}");
    Ok(())
}

#[test]
fn lists_of_what_is_wrong_are_refused() -> anyhow::Result<()> {
    let chain = chain("devchain");
    let zero = format!("0x{}", "0".repeat(40));
    for path in [
        "0x12/token-balances".to_owned(),
        format!("{zero}/token-balances?type=ERC-20"),
        format!("{zero}/tokens?type=ERC20"),
        format!("{zero}/tokens?token_type=ERC-20"),
        format!("{zero}/tokens?token_contract_address_hash={zero}"),
        format!("{zero}/tokens?items_count=0"),
        format!("../tokens/{zero}/holders?value=1"),
        format!("../tokens/{zero}/holders?address_hash={zero}&value=-1"),
        format!("../tokens/{zero}/transfers?index=1"),
    ] {
        let path = format!("addresses/{path}").replace("addresses/../", "");
        let answer = http::get(&http::agent(), &format!("{}/api/v2/{path}", chain.api))?;
        ensure!(answer.status == 422, "{path}: {} {}", answer.status, answer.text());
    }
    Ok(())
}

/// The table has what its source has, also when it is made later.
#[test]
fn are_refused_without_their_table_and_the_same_when_it_is_made() -> anyhow::Result<()> {
    let database = "holdings_without";
    let _database = env::database(database);
    env::run(env::ingest(database, &["migrate", "--without", "token_balances_by_holder"]), 0)?;
    env::run(env::ingest(database, &["load", "--dump", &dump("devchain")]), 0)?;
    env::run(env::ingest(database, &["verify"]), 0)?;
    let api = env::start_api(database, &[])?;
    let balances = expected_balances()?;
    let (holder, _) = balances.iter().max_by_key(|(_, held)| held.len()).context("a holder")?;
    let path = format!("{}/api/v2/addresses/{holder}/token-balances", api.url);
    let refused = http::get(&http::agent(), &path)?;
    ensure!(refused.status == 501 && refused.text().contains("migrate --with"), "{}", refused.text());
    env::run(env::ingest(database, &["migrate", "--with", "token_balances_by_holder"]), 0)?;
    env::eventually(env::SOON, || Ok(http::get(&http::agent(), &path)?.status == 200))?;
    let whole = get(chain("devchain"), &format!("addresses/{holder}/token-balances"))?;
    ensure!(http::get(&http::agent(), &path)?.json()? == whole);
    env::run(env::ingest(database, &["verify"]), 0)?;
    for change in ["UPDATE balance = balance + 1 WHERE block_number <= 40", "DELETE WHERE block_number <= 40"] {
        env::sql(database, &format!("ALTER TABLE token_balances_by_holder {change} SETTINGS mutations_sync = 2"))?;
        let output = env::run(env::ingest(database, &["verify"]), 3)?;
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        ensure!(text.contains("`token_balances` and `token_balances_by_holder` should"), "{change}: {text}");
    }
    api.stop()?;
    Ok(())
}

const COUNTED: [&str; 4] = ["token_steps", "token_balances", "token_balances_by_holder", "token_statistics"];

/// Ingest counts after it has loaded, and makes its changes one after another: answers are whole at every point of
/// that.
#[test]
fn of_addresses_are_whole_however_far_ingest_has_counted() -> anyhow::Result<()> {
    let database = "balances_behind";
    let _database = env::database(database);
    env::run(env::ingest(database, &["migrate"]), 0)?;
    env::run(env::ingest(database, &["load", "--dump", &dump("devchain"), "--to", "60"]), 0)?;
    for table in COUNTED {
        env::sql(database, &format!("CREATE TABLE early_{table} ENGINE = Memory AS SELECT * FROM {table}"))?;
    }
    env::run(env::ingest(database, &["load", "--dump", &dump("devchain")]), 0)?;
    let api = env::start_api(database, &["--settled-cache-size", "0", "--cache-size", "0"])?;
    let (held, whole) = (expected_balances()?, chain("devchain"));
    let answers = |api: &str| -> anyhow::Result<Vec<Value>> {
        let get = |address: &String| {
            http::get(&http::agent(), &format!("{api}/api/v2/addresses/{address}/token-balances"))?.json()
        };
        held.keys().map(get).collect()
    };
    let values = |answers: Vec<Value>| -> Vec<Vec<(String, Value)>> {
        let item = |item: &Value| (item["token"]["address_hash"].to_string(), item["value"].clone());
        answers.iter().map(|all| all.as_array().into_iter().flatten().map(item).collect()).collect()
    };
    let expected = values(answers(&whole.api)?);
    let tokens: BTreeSet<&String> = held.values().flat_map(BTreeMap::keys).collect();
    let holders = |api: &str| -> anyhow::Result<Vec<Value>> {
        let get = |token: &&String| http::get(&http::agent(), &format!("{api}/api/v2/tokens/{token}/holders"))?.json();
        tokens.iter().map(get).collect()
    };
    let expected_holders = holders(&whole.api)?;
    // The figures of a token are those of its lists, as of the block that they name.
    let figures = |api: &str| -> anyhow::Result<Vec<Value>> {
        let get = |token: &&String| -> anyhow::Result<Value> {
            let page: Value = http::get(&http::agent(), &format!("{api}/api/v2/tokens/{token}"))?.json()?;
            let counters: Value =
                http::get(&http::agent(), &format!("{api}/api/v2/tokens/{token}/counters"))?.json()?;
            ensure!(counters["token_holders_count"] == page["holders_count"], "{counters}, {page}");
            Ok(json!([page["holders_count"], page["total_supply"], page["block_number"]]))
        };
        tokens.iter().map(get).collect()
    };
    let expected_figures = figures(&whole.api)?;
    ensure!(expected_figures.iter().all(|figures| figures[2] == whole.head()), "{expected_figures:?}");
    ensure!(values(answers(&api.url)?) == expected, "all counted");
    // The steps come last: balances are those of later blocks than the steps tell, and then of earlier ones.
    for behind in COUNTED {
        env::sql(database, &format!("TRUNCATE TABLE {behind}"))?;
        env::sql(database, &format!("INSERT INTO {behind} SELECT * FROM early_{behind}"))?;
        let found = values(answers(&api.url)?);
        ensure!(found == expected, "{behind} of block 60: {found:?} instead of {expected:?}");
        ensure!(holders(&api.url)? == expected_holders, "holders, {behind} of block 60");
        let found = figures(&api.url)?;
        ensure!(found == expected_figures, "{behind} of block 60: {found:?} instead of {expected_figures:?}");
    }
    api.stop()?;
    Ok(())
}
