//! Single ids of tokens: who owns them, against what the scenario's node reported by calls.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use trawl_core::primitives::U256;
use xtask::{http, workspace};

use crate::chains::{Chain, chain, dump};
use crate::env;
use crate::pages::{get, walk};

mod lists;

/// By token: its standard, and by id what each holder has, as the node reported by calls.
type ExpectedInstances = BTreeMap<String, (&'static str, BTreeMap<U256, BTreeMap<String, U256>>)>;

fn expected() -> anyhow::Result<Value> {
    Ok(serde_json::from_str(&std::fs::read_to_string(workspace::fixture("devchain/node/expected.json"))?)?)
}

/// All ids but those of the token that was minted by one event for many.
fn expected_instances() -> anyhow::Result<ExpectedInstances> {
    let (expected, mut instances) = (expected()?, ExpectedInstances::new());
    for (token, of_token) in expected["erc721"].as_object().context("tokens")? {
        if of_token["label"] == "Batch721" {
            continue;
        }
        let ids = &mut instances.entry(token.to_lowercase()).or_insert(("ERC-721", BTreeMap::new())).1;
        for (id, owner) in of_token["owners"].as_object().context("owners")? {
            let owner = owner.as_str().context("an owner")?.to_lowercase();
            ids.insert(id.parse()?, BTreeMap::from([(owner, U256::from(1))]));
        }
    }
    for (token, of_token) in expected["erc1155"].as_object().context("tokens")? {
        let ids = &mut instances.entry(token.to_lowercase()).or_insert(("ERC-1155", BTreeMap::new())).1;
        for (holder, amounts) in of_token.as_object().context("holders")? {
            for (id, amount) in amounts.as_object().context("ids")? {
                let amount: U256 = amount.as_str().context("an amount")?.parse()?;
                if !amount.is_zero() {
                    ids.entry(id.parse()?).or_default().insert(holder.to_lowercase(), amount);
                }
            }
        }
    }
    let ids: usize = instances.values().map(|(_, ids)| ids.len()).sum();
    ensure!(ids > 40 && instances.values().any(|(standard, _)| *standard == "ERC-1155"), "{instances:?}");
    Ok(instances)
}

/// By holder: token, standard, id and amount, in the order of the list.
fn by_holder(instances: &ExpectedInstances) -> BTreeMap<String, Vec<(String, &'static str, U256, U256)>> {
    let mut held: BTreeMap<String, Vec<_>> = BTreeMap::new();
    for (token, (standard, ids)) in instances {
        for (id, holders) in ids {
            for (holder, amount) in holders {
                held.entry(holder.clone()).or_default().push((token.clone(), *standard, *id, *amount));
            }
        }
    }
    held
}

fn lower(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_lowercase()
}

fn refused(chain: &Chain, path: &str) -> anyhow::Result<u16> {
    Ok(http::get(&http::agent(), &format!("{}/api/v2/{path}", chain.api))?.status)
}

#[test]
fn of_a_token_are_those_the_node_knows_an_owner_of() -> anyhow::Result<()> {
    let chain = chain("devchain");
    for (token, (standard, ids)) in expected_instances()? {
        for size in [1, 7, 100] {
            let found = walk(chain, &format!("tokens/{token}/instances"), size)?;
            ensure!(found.len() == ids.len(), "{token} in pages of {size}: {found:?}, expected {ids:?}");
            for (item, (id, holders)) in found.iter().zip(ids.iter().rev()) {
                let units: U256 = holders.values().sum();
                let owner = holders.keys().next().filter(|_| standard == "ERC-721").cloned().unwrap_or_default();
                let is_it = item["id"] == id.to_string()
                    && item["token_type"] == standard
                    && item["is_unique"] == (units == U256::from(1))
                    && lower(&item["owner"]["hash"]) == owner
                    && lower(&item["token"]["address_hash"]) == token;
                ensure!(
                    is_it && item["value"].is_null() && item["metadata"].is_null(),
                    "{item}, expected {id} {holders:?}"
                );
                if size == 7 {
                    ensure!(&get(chain, &format!("tokens/{token}/instances/{id}"))? == item, "{token} {id}");
                }
            }
        }
        for absent in [U256::from(5), U256::from(987_654_321)] {
            ensure!(
                !ids.contains_key(&absent) && refused(chain, &format!("tokens/{token}/instances/{absent}"))? == 404
            );
        }
    }
    Ok(())
}

#[test]
fn of_an_address_are_what_the_node_says_it_has() -> anyhow::Result<()> {
    let (chain, instances) = (chain("devchain"), expected_instances()?);
    for (holder, held) in by_holder(&instances) {
        let item = |item: &Value| -> anyhow::Result<(String, String, U256, U256)> {
            let token = lower(&item["token"]["address_hash"]);
            let is_owner = lower(&item["owner"]["hash"]) == holder;
            ensure!(is_owner == (item["token_type"] == "ERC-721"), "{item}");
            let (id, value) = (item["id"].as_str().context("an id")?, item["value"].as_str().context("a value")?);
            Ok((token, lower(&item["token_type"]), id.parse()?, value.parse()?))
        };
        let of = |standards: &str| -> Vec<(String, String, U256, U256)> {
            let expected = held.iter().filter(|(_, standard, ..)| standards.split(',').any(|one| one == *standard));
            expected
                .map(|(token, standard, id, amount)| (token.clone(), standard.to_lowercase(), *id, *amount))
                .collect()
        };
        for (parameters, expected) in [
            ("", of("ERC-721,ERC-1155")),
            ("?type=ERC-721", of("ERC-721")),
            ("?type=erc-1155,ERC-20", of("ERC-1155")),
            ("?type=ERC-20", Vec::new()),
        ] {
            for size in [1, 3, 50] {
                let mut found = walk(chain, &format!("addresses/{holder}/nft{parameters}"), size)?;
                // The transfers of the token that was minted by one event do not tell.
                found.retain(|item| !item["value"].is_null());
                let found = found.iter().map(item).collect::<anyhow::Result<Vec<_>>>()?;
                ensure!(found == expected, "{holder}{parameters} in pages of {size}: {found:?}, expected {expected:?}");
            }
        }
        for token in instances.keys() {
            let mut expected: Vec<_> = of("ERC-721,ERC-1155").into_iter().filter(|one| &one.0 == token).collect();
            expected.reverse();
            let found = walk(chain, &format!("tokens/{token}/instances?holder_address_hash={holder}"), 2)?;
            let found = found.iter().map(item).collect::<anyhow::Result<Vec<_>>>()?;
            ensure!(found == expected, "{holder} {token}: {found:?}, expected {expected:?}");
        }
    }
    let zero = format!("0x{}", "0".repeat(40));
    ensure!(get(chain, &format!("addresses/{zero}/nft"))? == json!({"items": [], "next_page_params": null}));
    Ok(())
}

#[test]
fn collections_of_an_address_count_its_ids() -> anyhow::Result<()> {
    let (chain, instances) = (chain("devchain"), expected_instances()?);
    for (holder, held) in by_holder(&instances) {
        let mut expected: BTreeMap<String, Vec<String>> = BTreeMap::new();
        held.iter().for_each(|(token, _, id, _)| expected.entry(token.clone()).or_default().push(id.to_string()));
        for size in [1, 50] {
            let mut found = walk(chain, &format!("addresses/{holder}/nft/collections"), size)?;
            found.retain(|item| !item["amount"].is_null());
            ensure!(found.len() == expected.len(), "{holder}: {found:?}, expected {expected:?}");
            for (item, (token, ids)) in found.iter().zip(&expected) {
                let shown = item["token_instances"].as_array().context("ids")?;
                let first: Vec<String> = shown.iter().map(|id| lower(&id["id"])).collect();
                ensure!(lower(&item["token"]["address_hash"]) == *token, "{item}");
                ensure!(item["amount"] == *ids.len().to_string(), "{item}, expected {ids:?}");
                ensure!(first.iter().eq(ids.iter().take(9)), "{item}, expected {ids:?}");
            }
        }
    }
    Ok(())
}

/// The ids that one event minted are not known one by one: nothing is reported for them, and no owner is made up.
#[test]
fn without_transfers_of_their_own_are_not_listed() -> anyhow::Result<()> {
    let (mainnet, chain, expected) = (chain("mainnet"), chain("devchain"), expected()?);
    let batch = expected["erc721"].as_object().into_iter().flatten().find(|(_, facts)| facts["label"] == "Batch721");
    let (token, facts) = batch.context("a token")?;
    for path in [format!("tokens/{token}/instances"), format!("tokens/{token}/instances/3")] {
        ensure!(refused(chain, &path)? == 501, "{path}");
    }
    let owners: BTreeSet<String> =
        facts["owners"].as_object().into_iter().flat_map(|owners| owners.values()).map(lower).collect();
    for owner in owners {
        for item in walk(chain, &format!("addresses/{owner}/nft"), 50)? {
            let is_of_batch = lower(&item["token"]["address_hash"]) == token.to_lowercase();
            ensure!(!is_of_batch || item["owner"].is_null() && item["value"].is_null(), "{item}");
        }
    }
    let coin = expected["erc20"].as_object().and_then(|tokens| tokens.keys().next()).context("a coin")?;
    ensure!(get(chain, &format!("tokens/{coin}/instances"))? == json!({"items": [], "next_page_params": null}));
    ensure!(refused(chain, &format!("tokens/{coin}/instances/1"))? == 404);
    ensure!(refused(mainnet, &format!("addresses/{coin}/nft"))? == 501);
    Ok(())
}

#[test]
fn lists_of_what_is_wrong_are_refused() -> anyhow::Result<()> {
    let chain = chain("devchain");
    let zero = format!("0x{}", "0".repeat(40));
    for path in [
        "addresses/0x12/nft".to_owned(),
        format!("addresses/{zero}/nft?type=ERC721"),
        format!("addresses/{zero}/nft?token_id=1"),
        format!("addresses/{zero}/nft?token_contract_address_hash={zero}&token_type=ERC-721"),
        format!("addresses/{zero}/nft?token_contract_address_hash={zero}&token_type=ERC-721&token_id=-1"),
        format!("addresses/{zero}/nft/collections?token_id=1"),
        format!("addresses/{zero}/nft/collections?token_type=ERC-721"),
        format!("tokens/{zero}/instances?unique_token=x"),
        format!("tokens/{zero}/instances?holder_address_hash=0x1"),
        format!("tokens/{zero}/instances/-1"),
        format!("tokens/{zero}/instances/0x1"),
        format!("tokens/{zero}/instances/{}", "9".repeat(78)),
        format!("tokens/{zero}/instances/1?type=ERC-721"),
    ] {
        ensure!(refused(chain, &path)? == 422, "{path}");
    }
    for path in [format!("tokens/{zero}/instances"), format!("tokens/{zero}/instances/1")] {
        ensure!(refused(chain, &path)? == 404, "{path}");
    }
    Ok(())
}

const COUNTED: [&str; 4] = ["token_steps", "token_balances", "token_id_balances", "token_statistics"];

/// Ingest counts after it has loaded, and makes its changes one after another: answers are whole at every point of
/// that.
#[test]
fn are_whole_however_far_ingest_has_counted() -> anyhow::Result<()> {
    let database = "instances_behind";
    let _database = env::database(database);
    env::run(env::ingest(database, &["migrate"]), 0)?;
    env::run(env::ingest(database, &["load", "--dump", &dump("devchain"), "--to", "60"]), 0)?;
    for table in COUNTED {
        env::sql(database, &format!("CREATE TABLE early_{table} ENGINE = Memory AS SELECT * FROM {table}"))?;
    }
    env::run(env::ingest(database, &["load", "--dump", &dump("devchain")]), 0)?;
    let api = env::start_api(database, &["--settled-cache-size", "0", "--cache-size", "0"])?;
    let instances = expected_instances()?;
    let mut paths: Vec<String> =
        instances.keys().map(|token| format!("tokens/{token}/instances?items_count=100")).collect();
    for holder in by_holder(&instances).keys() {
        paths.extend(["nft", "nft/collections"].map(|list| format!("addresses/{holder}/{list}?items_count=100")));
        paths.extend(instances.keys().map(|token| format!("tokens/{token}/instances?holder_address_hash={holder}")));
    }
    let paths: Vec<String> = paths.into_iter().step_by(env::amount(4, 1)).collect();
    let is_known = |item: &Value| !item["value"].is_null() || !item["amount"].is_null() || !item["is_unique"].is_null();
    // What of the token with one event for many was known before that depends on how far ingest has counted.
    let batch = expected()?["erc721"]
        .as_object()
        .into_iter()
        .flatten()
        .find(|(_, facts)| facts["label"] == "Batch721")
        .map(|(token, _)| token.to_lowercase());
    let batch = batch.context("a token")?;
    let answers = |api: &str| -> anyhow::Result<Vec<Vec<Value>>> {
        let of = |path: &String| {
            let answer = http::get(&http::agent(), &format!("{api}/api/v2/{path}"))?;
            ensure!(answer.status == 200, "{path}: {}", answer.text());
            let mut items = answer.json()?["items"].as_array().context("items")?.clone();
            items.retain(|item| is_known(item) && lower(&item["token"]["address_hash"]) != batch);
            items.iter_mut().for_each(|item| item["token"] = item["token"]["address_hash"].clone());
            Ok(items)
        };
        paths.iter().map(of).collect()
    };
    let expected = answers(&chain("devchain").api)?;
    ensure!(expected.iter().filter(|items| items.len() > 3).count() > 2, "{expected:?}");
    ensure!(answers(&api.url)? == expected, "all counted");
    // The steps come last: balances are those of later blocks than the steps tell, and then of earlier ones.
    for behind in COUNTED {
        env::sql(database, &format!("TRUNCATE TABLE {behind}"))?;
        env::sql(database, &format!("INSERT INTO {behind} SELECT * FROM early_{behind}"))?;
        let found = answers(&api.url)?;
        for ((path, found), expected) in paths.iter().zip(&found).zip(&expected) {
            ensure!(found == expected, "{behind} of block 60, {path}: {found:?} instead of {expected:?}");
        }
    }
    api.stop()?;
    Ok(())
}

/// What single ids add up to are the balances of their tokens, and owners are who has them.
#[test]
fn that_are_wrong_are_found_by_verify() -> anyhow::Result<()> {
    let database = "instances_wrong";
    let _database = env::database(database);
    env::run(env::ingest(database, &["migrate"]), 0)?;
    env::run(env::ingest(database, &["load", "--dump", &dump("devchain")]), 0)?;
    env::run(env::ingest(database, &["verify"]), 0)?;
    let zero = "unhex(repeat('00', 20))";
    env::sql(database, "CREATE TABLE sound ENGINE = Memory AS SELECT * FROM token_id_balances")?;
    for change in [
        "UPDATE balance = balance + 1 WHERE token_type = 'ERC-1155' AND balance > 0".to_owned(),
        format!(
            "UPDATE owner = unhex(repeat('77', 20)) WHERE holder = {zero} AND token_type = 'ERC-721' AND balance > 0"
        ),
        format!("DELETE WHERE holder != {zero} AND token_type = 'ERC-721' AND balance > 0"),
    ] {
        env::sql(database, &format!("ALTER TABLE token_id_balances {change} SETTINGS mutations_sync = 2"))?;
        let output = env::run(env::ingest(database, &["verify"]), 3)?;
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        ensure!(text.contains("`token_balances` and `token_id_balances` should"), "{change}: {text}");
        env::sql(database, "TRUNCATE TABLE token_id_balances")?;
        env::sql(database, "INSERT INTO token_id_balances SELECT * FROM sound")?;
        env::run(env::ingest(database, &["verify"]), 0)?;
    }
    Ok(())
}
