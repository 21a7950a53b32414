//! Transactions of REST: of an address, of a block and alone, against what the node reported.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use trawl_core::primitives::U256;
use xtask::http;

use crate::chains::{Chain, chain, dump, quantity};
use crate::env;
use crate::pages::{get, walk};

/// A transaction and its receipt as the node reported them.
pub struct NodeTransaction {
    pub transaction: Value,
    pub receipt: Value,
}

impl NodeTransaction {
    pub fn position(&self) -> (u64, u64) {
        (quantity(&self.transaction["blockNumber"]), quantity(&self.transaction["transactionIndex"]))
    }

    pub fn participants(&self, direction: &str) -> BTreeSet<String> {
        let sender = (direction != "to").then_some(&self.transaction["from"]);
        let receivers = [&self.transaction["to"], &self.receipt["contractAddress"]];
        let receivers = receivers.into_iter().filter(|_| direction != "from");
        sender.into_iter().chain(receivers).filter_map(Value::as_str).map(str::to_lowercase).collect()
    }

    /// What an item says of it that follows from the node's words alone.
    fn ensure_is(&self, item: &Value) -> anyhow::Result<()> {
        let (transaction, receipt) = (&self.transaction, &self.receipt);
        let number =
            |value: &Value| u128::from_str_radix(value.as_str().unwrap_or_default().trim_start_matches("0x"), 16);
        let fee = number(&receipt["gasUsed"])? * number(&receipt["effectiveGasPrice"])?;
        let text = |number: u128| Value::String(number.to_string());
        ensure!(item["hash"] == transaction["hash"], "{item}, expected {transaction}");
        ensure!(
            (item["block_number"].as_u64(), item["position"].as_u64())
                == (Some(self.position().0), Some(self.position().1))
        );
        ensure!(item["value"] == text(number(&transaction["value"])?), "{item}, expected {transaction}");
        ensure!(item["gas_used"] == text(number(&receipt["gasUsed"])?), "{item}, expected {receipt}");
        ensure!(item["fee"]["value"] == text(fee) && item["fee"]["type"] == "actual", "{item}, expected {receipt}");
        ensure!(item["raw_input"] == transaction["input"], "{item}");
        let status = match receipt["status"].as_str() {
            Some("0x1") => "ok".into(),
            Some(_) => "error".into(),
            None => Value::Null,
        };
        ensure!(item["status"] == status && (item["result"] == "success") == (status == "ok"), "{item}");
        let same = |item: &Value, address: &Value| {
            item["hash"].as_str().map(str::to_lowercase) == address.as_str().map(str::to_lowercase)
        };
        ensure!(same(&item["from"], &transaction["from"]) && same(&item["to"], &transaction["to"]), "{item}");
        ensure!(same(&item["created_contract"], &receipt["contractAddress"]), "{item}");
        Ok(())
    }
}

/// All transactions in chain order.
pub fn node_transactions(chain: &Chain) -> BTreeMap<(u64, u64), NodeTransaction> {
    let of_line = |line: &Value| {
        let transactions = line["block"]["transactions"].as_array().cloned().unwrap_or_default();
        let receipts = line["receipts"].as_array().cloned().unwrap_or_default();
        let both = transactions.into_iter().zip(receipts);
        both.map(|(transaction, receipt)| NodeTransaction { transaction, receipt }).collect::<Vec<_>>()
    };
    chain.lines.iter().flat_map(of_line).map(|tx| (tx.position(), tx)).collect()
}

/// Who takes part in transactions, and in how many; most first.
pub fn busiest(all: &BTreeMap<(u64, u64), NodeTransaction>) -> Vec<(String, usize)> {
    let mut by_address: BTreeMap<String, usize> = BTreeMap::new();
    for tx in all.values() {
        tx.participants("").into_iter().for_each(|address| *by_address.entry(address).or_default() += 1);
    }
    let mut busiest: Vec<_> = by_address.into_iter().collect();
    busiest.sort_by_key(|(address, count)| (std::cmp::Reverse(*count), address.clone()));
    busiest
}

#[test]
fn of_addresses_are_those_they_take_part_in() -> anyhow::Result<()> {
    for name in ["hive", "devchain", "mainnet"] {
        let chain = chain(name);
        let all = node_transactions(chain);
        let busiest = busiest(&all);
        ensure!(busiest.len() > 6 && busiest[0].1 > 40, "{name}: {busiest:?}");
        let some = busiest
            .iter()
            .take(env::amount(1, 4))
            .chain(busiest.iter().skip(4).step_by(busiest.len() / env::amount(2, 4)));
        for (address, _) in some {
            for (filter, size) in [("", 7), ("from", 50), ("to", 3)] {
                let query = if filter.is_empty() { String::new() } else { format!("?filter={filter}") };
                let expected: Vec<&NodeTransaction> =
                    all.values().rev().filter(|tx| tx.participants(filter).contains(address)).collect();
                let size = size.max((expected.len() / env::amount(9, usize::MAX)) as u64);
                let found = walk(chain, &format!("addresses/{address}/transactions{query}"), size)?;
                ensure!(
                    found.len() == expected.len(),
                    "{name} {address} {filter}: {} of {}",
                    found.len(),
                    expected.len()
                );
                found.iter().zip(expected).try_for_each(|(item, tx)| tx.ensure_is(item))?;
                let order = if filter.is_empty() { "?order=asc" } else { "&sort=block_number&order=asc" };
                let mut ascending = walk(chain, &format!("addresses/{address}/transactions{query}{order}"), size)?;
                ascending.reverse();
                ensure!(
                    ascending == found,
                    "{name} {address} {filter}: {} ascending of {}",
                    ascending.len(),
                    found.len()
                );
            }
        }
    }
    Ok(())
}

/// What the counters of an address say: the transactions that it takes part in, and their gas.
fn ensure_counters(chain: &Chain, address: &str, all: &BTreeMap<(u64, u64), NodeTransaction>) -> anyhow::Result<bool> {
    let counters = get(chain, &format!("addresses/{address}/counters"))?;
    ensure_validations(chain, address, &counters["validations_count"])?;
    if counters["transactions_count"].is_null() {
        return Ok(false);
    }
    let count = all.values().filter(|tx| tx.participants("").contains(address)).count();
    let gas = |side| {
        let of_side = all.values().filter(|tx| tx.participants(side).contains(address));
        of_side.map(|tx| quantity(&tx.receipt["gasUsed"])).sum::<u64>()
    };
    let gas = if gas("to") > 0 { gas("to") } else { gas("from") };
    ensure!(counters["transactions_count"] == *count.to_string(), "{address}: {counters}, expected {count}");
    ensure!(counters["gas_usage_count"] == *gas.to_string(), "{address}: {counters}, expected {gas}");
    let transfers = walk(chain, &format!("addresses/{address}/token-transfers"), 100)?.len();
    ensure!(counters["token_transfers_count"] == *transfers.to_string(), "{address}: {counters}, listed {transfers}");
    Ok(true)
}

/// Blocks that name the address as who made them; the lines of mainnet are a few blocks of many, so nothing is counted
/// there.
fn ensure_validations(chain: &Chain, address: &str, counted: &Value) -> anyhow::Result<()> {
    let made = chain
        .lines
        .iter()
        .filter(|line| line["block"]["miner"].as_str().is_some_and(|miner| miner.eq_ignore_ascii_case(address)));
    let made = Value::String(made.count().to_string());
    ensure!(*counted == if chain.name == "mainnet" { Value::Null } else { made }, "{address}: {counted}");
    Ok(())
}

/// Inputs are cut into words here, which is what the ABI says of parameters of fixed size.
#[test]
fn inputs_of_well_known_functions_are_decoded() -> anyhow::Result<()> {
    let chain = chain("mainnet");
    let (mut decoded, mut others) = (0, 0);
    for ((block, _), tx) in node_transactions(chain) {
        let input = tx.transaction["input"].as_str().unwrap_or_default();
        if tx.transaction["to"].is_null() || (!input.starts_with("0xa9059cbb") && others > 40) {
            continue;
        }
        let hash = tx.transaction["hash"].as_str().unwrap_or_default();
        let found = &get(chain, &format!("transactions/{hash}"))?["decoded_input"];
        if input.starts_with("0xa9059cbb") && input.len() >= 138 {
            let (to, amount) = (&input[34..74], U256::from_str_radix(&input[74..138], 16)?);
            ensure!(found["method_call"] == "transfer(address to, uint256 value)", "{hash} in {block}: {found}");
            ensure!(found["method_id"] == "0xa9059cbb", "{found}");
            let [first, second] = [0, 1].map(|position| &found["parameters"][position]);
            ensure!(first["value"].as_str().map(str::to_lowercase) == Some(format!("0x{to}")), "{hash}: {found}");
            ensure!(second["value"] == *amount.to_string() && second["type"] == "uint256", "{hash}: {found}");
            decoded += 1;
        } else {
            let selector = input.get(..10).unwrap_or_default();
            ensure!(found.is_null() || found["method_id"] == *selector, "{hash}: {found}");
            others += 1;
        }
        if decoded > 30 {
            break;
        }
    }
    ensure!(decoded > 10, "{decoded} decoded, {others} others");
    Ok(())
}

/// Frames are those of the raw trace. Words of calls and results are cut here, as the ABI says of parameters of fixed
/// size.
#[test]
fn calls_are_read() -> anyhow::Result<()> {
    let (mut transfers, mut balances, mut named) = (0, 0, BTreeSet::new());
    for name in ["devchain", "hive"] {
        let chain = chain(name);
        let hashes = node_transactions(chain).into_values().map(|tx| tx.transaction["hash"].clone());
        for hash in hashes.step_by(env::amount(3, 1)) {
            let hash = hash.as_str().context("a hash")?;
            let calls = get(chain, &format!("transactions/{hash}/calls"))?;
            let trace = get(chain, &format!("transactions/{hash}/raw-trace?reasons=1"))?;
            ensure!(calls["frames"] == trace, "{hash}: {calls}");
            let (frames, decoded) =
                (trace.as_array().context("frames")?, calls["decoded"].as_array().context("decoded")?);
            ensure!(frames.len() == decoded.len(), "{hash}: {calls}");
            let items = |key: &str| calls[key].as_array().cloned().unwrap_or_default();
            let addresses: BTreeSet<String> =
                items("addresses").iter().map(|item| item["hash"].to_string().to_lowercase()).collect();
            for (frame, read) in frames.iter().zip(decoded) {
                for party in
                    ["from", "to"].map(|side| &frame["action"][side]).into_iter().filter(|party| party.is_string())
                {
                    ensure!(addresses.contains(&party.to_string()), "{hash}: {party} has no name");
                }
                let input = frame["action"]["input"].as_str().unwrap_or_default();
                let word =
                    |data: &str, position: usize| U256::from_str_radix(&data[64 * position..64 * (position + 1)], 16);
                if input.starts_with("0xa9059cbb") && input.len() == 138 {
                    ensure!(read["method"] == "transfer", "{hash}: {read}");
                    let amount = word(&input[10..], 1)?.to_string();
                    ensure!(read["input"]["parameters"][1]["value"] == *amount, "{hash}: {read}");
                    let is_returned = frame["error"].is_null()
                        && frame["result"]["output"].as_str().is_some_and(|data| data.len() == 66);
                    ensure!(
                        read["output"][0]["value"] == if is_returned { json!("true") } else { Value::Null },
                        "{hash}: {read}"
                    );
                    transfers += 1;
                }
                if input.starts_with("0x70a08231") && frame["error"].is_null() {
                    let output = frame["result"]["output"].as_str().unwrap_or_default();
                    if output.len() == 66 {
                        let balance = word(&output[2..], 0)?.to_string();
                        ensure!(read["output"][0]["value"] == *balance, "{hash}: {read}");
                        balances += 1;
                    }
                }
            }
            named.extend(items("tokens").iter().map(|token| token["symbol"].to_string()));
        }
    }
    ensure!(transfers > 3 && balances > 0, "{transfers} transfers, {balances} balances, {named:?}");
    Ok(())
}

#[test]
fn counters_are_sums_over_the_lists_of_whole_chains() -> anyhow::Result<()> {
    for (name, is_whole) in [("hive", true), ("devchain", true), ("mainnet", false)] {
        let chain = chain(name);
        let all = node_transactions(chain);
        let addresses: BTreeSet<String> = all.values().flat_map(|tx| tx.participants("")).collect();
        let unknown = format!("0x{}", "12".repeat(20));
        let some = addresses.iter().step_by((addresses.len() / 25).max(1)).chain([&unknown]);
        for address in some {
            ensure!(ensure_counters(chain, address, &all)? == is_whole, "{name} {address}");
        }
    }
    let answer = http::get(&http::agent(), &format!("{}/api/v2/addresses/0x12/counters", chain("hive").api))?;
    ensure!(answer.status == 422, "{}", answer.text());
    Ok(())
}

#[test]
fn of_blocks_and_alone_are_the_same() -> anyhow::Result<()> {
    for name in ["hive", "devchain", "mainnet"] {
        let chain = chain(name);
        let all = node_transactions(chain);
        let blocks: BTreeSet<u64> = all.keys().map(|position| position.0).collect();
        for block in blocks.iter().step_by((blocks.len() / 6).max(1)) {
            let found = walk(chain, &format!("blocks/{block}/transactions"), env::amount(25, 9) as u64)?;
            let expected: Vec<&NodeTransaction> =
                all.range((*block, 0)..=(*block, u64::MAX)).map(|(_, tx)| tx).collect();
            ensure!(found.len() == expected.len(), "{name} {block}: {} of {}", found.len(), expected.len());
            for (item, tx) in found.iter().zip(expected).step_by(env::amount(7, 3)) {
                tx.ensure_is(item)?;
                let hash = item["hash"].as_str().unwrap_or_default();
                let alone = get(chain, &format!("transactions/{hash}"))?;
                for member in ["hash", "fee", "from", "to", "method", "transaction_types", "priority_fee", "result"] {
                    ensure!(alone[member] == item[member], "{member} of {hash}: {alone}, in the list {item}");
                }
            }
        }
    }
    Ok(())
}

#[test]
fn of_addresses_are_refused_without_their_table() -> anyhow::Result<()> {
    let database = "transactions_without";
    let _database = env::database(database);
    env::run(env::ingest(database, &["migrate", "--without", "transactions_by_address"]), 0)?;
    env::run(env::ingest(database, &["load", "--dump", &dump("devchain"), "--to", "20"]), 0)?;
    let api = env::start_api(database, &[])?;
    let path = format!("{}/api/v2/addresses/0x{}/transactions", api.url, "12".repeat(20));
    let filtered = format!("{}/api/v2/advanced-filters?to_address_hashes_to_include=0x{}", api.url, "12".repeat(20));
    let methods = format!("{}/api/v2/addresses/0x{}/activity/methods", api.url, "12".repeat(20));
    for path in [&path, &filtered, &methods] {
        let refused = http::get(&http::agent(), path)?;
        ensure!(refused.status == 501 && refused.text().contains("migrate --with"), "{}", refused.text());
    }
    // Token transfers of an address are found without it.
    let transfers = http::get(&http::agent(), &format!("{filtered}&transaction_types=ERC-20"))?;
    ensure!(transfers.status == 200, "{}", transfers.text());
    env::run(env::ingest(database, &["migrate", "--with", "transactions_by_address"]), 0)?;
    env::eventually(env::SOON, || Ok(http::get(&http::agent(), &path)?.status == 200))?;
    let rows = env::sql(database, "SELECT count() FROM transactions_by_address")?;
    ensure!(rows.parse::<u64>()? > 20, "{rows}");
    api.stop()?;
    Ok(())
}

/// Who signed an authorization has the code that it names after the transaction, by the differences that the node gave.
#[test]
fn authorities_delegate_as_they_signed() -> anyhow::Result<()> {
    let chain = chain("devchain");
    let differences = chain.lines.iter().filter_map(|line| line["txStateDiffs"].as_array()).flatten();
    let differences: BTreeMap<&str, &Value> =
        differences.filter_map(|one| Some((one["txHash"].as_str()?, &one["prestateDiff"]["post"]))).collect();
    let (mut authorizations, mut delegated) = (0, 0);
    for tx in node_transactions(chain).values().filter(|tx| tx.transaction["type"] == "0x4") {
        let hash = tx.transaction["hash"].as_str().unwrap_or_default();
        let after = differences.get(hash).with_context(|| format!("differences of {hash}"))?;
        let item = get(chain, &format!("transactions/{hash}"))?;
        let list = item["authorization_list"].as_array().map_or(&[][..], Vec::as_slice);
        ensure!(Some(list.len()) == tx.transaction["authorizationList"].as_array().map(Vec::len), "{item}");
        let signed = tx.transaction["authorizationList"].as_array().into_iter().flatten();
        for (authorization, signed) in list.iter().zip(signed) {
            // A number, which clients compare with that of the chain.
            ensure!(authorization["chain_id"] == quantity(&signed["chainId"]), "{authorization}, signed {signed}");
            let authority = authorization["authority"].as_str().unwrap_or_default().to_lowercase();
            let named = authorization["address_hash"].as_str().unwrap_or_default().to_lowercase();
            authorizations += 1;
            let is_in_force = after[&authority]["code"] == format!("0xef0100{}", &named[2..]).as_str();
            delegated += usize::from(is_in_force);
            // Without the genesis no state is known, so that it may be unknown but never wrong.
            let (status, takes_back) = (&authorization["status"], named == format!("0x{}", "0".repeat(40)));
            ensure!(status.is_null() || (status == "ok") == (is_in_force || takes_back), "{authorization}");
        }
    }
    // One has the nonce of another moment, and one takes the delegation back.
    ensure!((authorizations, delegated) == (4, 2), "{authorizations} authorizations, {delegated} in force");
    Ok(())
}

#[test]
fn blobs_are_those_of_the_transaction() -> anyhow::Result<()> {
    let mut blobs = 0;
    for name in ["hive", "mainnet"] {
        let chain = chain(name);
        for transaction in chain.lines.iter().flat_map(|line| line["block"]["transactions"].as_array()).flatten() {
            let hashes = transaction["blobVersionedHashes"].as_array().map_or(&[][..], Vec::as_slice);
            // Of the others a few are enough.
            if hashes.is_empty() && quantity(&transaction["transactionIndex"]) != 3 {
                continue;
            }
            let hash = transaction["hash"].as_str().context("a hash")?;
            let nothing = Value::Null;
            let blob = |hash: &Value| json!({"hash": hash, "blob_data": nothing, "kzg_commitment": nothing, "kzg_proof": nothing});
            let expected = json!({"items": hashes.iter().map(blob).collect::<Vec<_>>()});
            let found = get(chain, &format!("transactions/{hash}/blobs"))?;
            ensure!(found == expected, "{found} instead of {expected}");
            blobs += hashes.len();
        }
    }
    ensure!(blobs > 5, "only {blobs} blobs");
    let unknown = format!("{}/api/v2/transactions/0x{}/blobs", chain("hive").api, "12".repeat(32));
    ensure!(http::get(&http::agent(), &unknown)?.status == 404);
    Ok(())
}

/// The list by each type has what the whole list says is of that type, whatever the size of its pages.
#[test]
fn the_transactions_of_a_block_are_found_by_type() -> anyhow::Result<()> {
    let types =
        ["blob_transaction", "coin_transfer", "contract_call", "contract_creation", "token_transfer", "token_creation"];
    let mut found = BTreeMap::new();
    for name in ["hive", "devchain"] {
        let chain = chain(name);
        let is_full = |line: &&Value| line["block"]["transactions"].as_array().is_some_and(|all| all.len() > 9);
        for line in chain.lines.iter().filter(is_full).take(env::amount(2, 4)) {
            let path = format!("blocks/{}/transactions", quantity(&line["block"]["number"]));
            let all = walk(chain, &path, 50)?;
            for kind in types {
                let is_of_kind =
                    |item: &&Value| item["transaction_types"].as_array().is_some_and(|all| all.contains(&json!(kind)));
                let expected: Vec<&Value> = all.iter().filter(is_of_kind).map(|item| &item["hash"]).collect();
                let listed = walk(chain, &format!("{path}?type={kind}"), 3)?;
                let listed: Vec<&Value> = listed.iter().map(|item| &item["hash"]).collect();
                ensure!(listed == expected, "{name} {path} {kind}: {listed:?} instead of {expected:?}");
                *found.entry(kind).or_insert(0) += expected.len();
            }
        }
    }
    ensure!(["coin_transfer", "contract_call", "token_transfer"].iter().all(|kind| found[kind] > 0), "{found:?}");
    let wrong = format!("{}/api/v2/blocks/1/transactions?type=transfer", chain("hive").api);
    ensure!(http::get(&http::agent(), &wrong)?.status == 422);
    Ok(())
}
