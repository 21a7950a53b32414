//! Pages of addresses, against what the nodes reported about blocks, and against JSON-RPC.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::ensure;
use serde_json::{Value, json};
use xtask::http;

use crate::chains::{Chain, chain};
use crate::pages::get;

/// What the node reported about addresses.
#[derive(Default)]
struct ReportedAddress {
    emitters: BTreeSet<String>,
    receivers: BTreeSet<String>,
    senders: BTreeSet<String>,
    /// Creator and transaction of contracts that transactions created.
    created: BTreeMap<String, (String, String)>,
}

fn lower(value: &Value) -> Option<String> {
    value.as_str().map(str::to_lowercase)
}

fn reported_addresses(chain: &Chain) -> ReportedAddress {
    let mut addresses = ReportedAddress::default();
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    for line in &chain.lines {
        addresses.receivers.extend(list(&line["block"]["withdrawals"]).iter().filter_map(|one| lower(&one["address"])));
        for receipt in list(&line["receipts"]) {
            addresses.emitters.extend(list(&receipt["logs"]).iter().filter_map(|log| lower(&log["address"])));
            let (sender, hash) = (lower(&receipt["from"]), lower(&receipt["transactionHash"]));
            let (Some(sender), Some(hash)) = (sender, hash) else { continue };
            if let Some(created) = lower(&receipt["contractAddress"]).filter(|_| receipt["status"] != "0x0") {
                addresses.created.insert(created, (sender.clone(), hash));
            }
            addresses.senders.insert(sender);
        }
    }
    addresses
}

/// Some of a set, spread over it.
fn some(all: &BTreeSet<String>) -> impl Iterator<Item = &String> {
    all.iter().step_by((all.len() / 8).max(1))
}

/// `true`, or what is known without a row: nothing of a chain with gaps.
fn flag(is_there: bool, is_whole: bool) -> Value {
    if is_there {
        json!(true)
    } else if is_whole {
        json!(false)
    } else {
        Value::Null
    }
}

#[test]
fn what_pages_show_of_an_address_matches_the_node() -> anyhow::Result<()> {
    for name in ["hive", "devchain", "mainnet"] {
        let (chain, is_whole) = (chain(name), name != "mainnet");
        let addresses = reported_addresses(chain);
        ensure!(!addresses.senders.is_empty() && (name == "hive" || addresses.emitters.len() > 3), "{name}");
        let unknown = format!("0x{}", "9e".repeat(20));
        for address in some(&addresses.emitters)
            .chain(some(&addresses.receivers))
            .chain(some(&addresses.senders))
            .chain([&unknown])
        {
            let page = get(chain, &format!("addresses/{address}"))?;
            ensure!(lower(&page["hash"]).as_ref() == Some(address), "{page}");
            ensure!(page["has_logs"] == flag(addresses.emitters.contains(address), is_whole), "{name}: {page}");
            let receives = flag(addresses.receivers.contains(address), is_whole);
            ensure!(page["has_beacon_chain_withdrawals"] == receives, "{name}: {page}");
            // What emits logs while it is created may leave no code, and delegations are taken back.
            let has_code = has_code(chain, address)?;
            ensure!(has_code.is_none_or(|has_code| page["is_contract"] == has_code), "{name}: {page}");
        }
        let page = get(chain, &format!("addresses/{unknown}"))?;
        ensure!(page["is_contract"] != true && page["has_token_transfers"] == flag(false, is_whole), "{name}: {page}");
    }
    Ok(())
}

/// Whether there is code at an address by `eth_getCode`, where state is known.
fn has_code(chain: &Chain, address: &str) -> anyhow::Result<Option<bool>> {
    let answer = http::rpc(&http::agent(), &chain.rpc(), "eth_getCode", &json!([address, "latest"]))?;
    Ok(answer["result"].as_str().map(|code| code != "0x"))
}

/// The counts are the lengths of the lists.
#[test]
fn tabs_are_counted_up_to_51() -> anyhow::Result<()> {
    let mut seen = BTreeSet::new();
    for name in ["hive", "devchain", "mainnet"] {
        let chain = chain(name);
        let addresses = reported_addresses(chain);
        for address in some(&addresses.emitters).chain(some(&addresses.receivers)).chain(some(&addresses.senders)) {
            let counts = get(chain, &format!("addresses/{address}/tabs-counters"))?;
            for list in ["transactions", "token-transfers", "internal-transactions", "withdrawals"] {
                let page = get(chain, &format!("addresses/{address}/{list}?items_count=51"))?;
                let length = page["items"].as_array().map_or(0, Vec::len);
                let count = &counts[format!("{}_count", list.replace('-', "_"))];
                let is_unknown = name == "mainnet" && length < 51;
                ensure!(
                    if is_unknown { count.is_null() } else { *count == length },
                    "{name} {address} {list}: {counts}"
                );
                seen.insert((list, length == 51));
            }
        }
    }
    ensure!(seen.contains(&("transactions", true)) && seen.contains(&("transactions", false)), "{seen:?}");
    Ok(())
}

#[test]
fn creations_are_those_of_receipts() -> anyhow::Result<()> {
    for name in ["hive", "devchain", "mainnet"] {
        let chain = chain(name);
        let created = reported_addresses(chain).created;
        ensure!(!created.is_empty(), "{name}");
        let mut contracts = 0;
        for (address, (creator, hash)) in created.iter().step_by((created.len() / 8).max(1)) {
            let page = get(chain, &format!("addresses/{address}"))?;
            ensure!(lower(&page["creator_address_hash"]).as_ref() == Some(creator), "{name}: {page}");
            ensure!(page["creation_transaction_hash"] == json!(hash), "{name}: {page}");
            ensure!(page["creation_tx_hash"] == page["creation_transaction_hash"], "{page}");
            let is_contract = &page["is_contract"];
            // Without state some were destroyed where they were created: `lifecycle` has each such case.
            ensure!(has_code(chain, address)?.is_none_or(|has_code| *is_contract == has_code), "{name}: {page}");
            contracts += usize::from(*is_contract == true);
        }
        ensure!(name == "hive" || contracts > 2, "{name}: {contracts}");
    }
    Ok(())
}

#[test]
fn balances_are_those_of_the_head_or_null() -> anyhow::Result<()> {
    let mut known = BTreeSet::new();
    for name in ["hive", "devchain", "mainnet"] {
        let chain = chain(name);
        for address in some(&reported_addresses(chain).senders) {
            let page = get(chain, &format!("addresses/{address}"))?;
            let ask = |method: &str| {
                let envelope = http::rpc(&http::agent(), &chain.rpc(), method, &json!([address, "latest"]))?;
                Ok::<_, anyhow::Error>(envelope["result"].as_str().map(str::to_owned))
            };
            let Some(balance) = ask("eth_getBalance")? else {
                ensure!(page["coin_balance"].is_null(), "{name}: {page}");
                ensure!(page["block_number_balance_updated_at"].is_null(), "{name}: {page}");
                continue;
            };
            known.insert(name);
            let balance = u128::from_str_radix(balance.trim_start_matches("0x"), 16)?;
            ensure!(page["coin_balance"] == balance.to_string(), "{name}: {page}, not {balance}");
            ensure!(page["block_number_balance_updated_at"] == chain.head(), "{name}: {page}");
            ensure!(page["is_contract"] == true || ask("eth_getCode")?.as_deref() == Some("0x"), "{name}: {page}");
        }
    }
    ensure!(known.contains("hive") && !known.contains("mainnet"), "{known:?}");
    Ok(())
}

#[test]
fn pages_of_what_is_no_address_are_refused() -> anyhow::Result<()> {
    let chain = chain("devchain");
    let zero = format!("0x{}", "0".repeat(40));
    for path in ["addresses/0x12".to_owned(), "addresses/latest".into(), format!("addresses/{zero}?page=2")] {
        let answer = http::get(&http::agent(), &format!("{}/api/v2/{path}", chain.api))?;
        ensure!(answer.status == 422, "{path}: {} {}", answer.status, answer.text());
    }
    get(chain, &format!("addresses/{zero}")).map(drop)
}
