//! `/api/v2/advanced-filters`: one list of transactions, call frames and token transfers, against a search through what
//! the node reported.

use std::collections::BTreeMap;

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use trawl_core::primitives::U256;
use xtask::http;

use crate::chains::{Chain, chain, quantity};
use crate::env;
use crate::pages::{get, walk};
use crate::scan::listed::{busiest, frames, rows};
use crate::transactions::node_transactions;

mod export;

/// A row as the node reported it: its position, and what filters ask for.
#[derive(Debug, Clone)]
struct Row {
    /// Height, transaction, kind (transaction, frame, transfer), frame or log, index in the batch.
    key: (u64, u64, u8, u64, u64),
    kind: String,
    from: String,
    to: Vec<String>,
    value: U256,
    token: Option<String>,
    time: u64,
    selector: String,
    fee: U256,
    hash: String,
}

fn number(value: &Value) -> U256 {
    U256::from_str_radix(value.as_str().unwrap_or("0x0").trim_start_matches("0x"), 16).unwrap_or_default()
}

fn lower(value: &Value) -> Option<String> {
    value.as_str().map(str::to_lowercase)
}

/// The outermost frames that nodes reported, by height and position.
pub fn outermost_frames(chain: &Chain) -> BTreeMap<(u64, u64), &Value> {
    fn of_line(line: &Value) -> impl Iterator<Item = ((u64, u64), &Value)> {
        let height = quantity(&line["block"]["number"]);
        let traces = line["parityTraces"].as_array().into_iter().flatten().zip(0..);
        traces.map(move |(trace, index)| ((height, index), &trace[0]))
    }
    chain.lines.iter().flat_map(of_line).collect()
}

/// Whether a transaction ran no code: its outermost call used no gas and made no call.
pub fn is_plain(root: &Value) -> bool {
    root["type"] == "call" && root["subtraces"] == 0 && root["result"]["gasUsed"] == "0x0"
}

/// All rows, newest first.
fn all(chain: &Chain) -> anyhow::Result<Vec<Row>> {
    let mut found = Vec::new();
    let mut by_hash = BTreeMap::new();
    let times: BTreeMap<u64, u64> = chain
        .lines
        .iter()
        .map(|line| (quantity(&line["block"]["number"]), quantity(&line["block"]["timestamp"])))
        .collect();
    let roots = outermost_frames(chain);
    for tx in node_transactions(chain).values() {
        let (transaction, receipt) = (&tx.transaction, &tx.receipt);
        let input = lower(&transaction["input"]).unwrap_or_default();
        let position = tx.position();
        let calls = input.len() > 2 && !is_plain(roots[&position]);
        let kind = match (transaction["to"].is_null(), calls) {
            (true, _) => "contract_creation",
            (false, true) => "contract_interaction",
            (false, false) => "coin_transfer",
        };
        let row = Row {
            key: (position.0, position.1, 0, 0, 0),
            kind: kind.into(),
            from: lower(&transaction["from"]).context("a sender")?,
            to: [&transaction["to"], &receipt["contractAddress"]].into_iter().filter_map(lower).collect(),
            value: number(&transaction["value"]),
            token: None,
            time: times[&position.0],
            selector: if calls { input.get(..10).unwrap_or_default().to_owned() } else { String::new() },
            fee: number(&receipt["gasUsed"]) * number(&receipt["effectiveGasPrice"]),
            hash: lower(&transaction["hash"]).context("a hash")?,
        };
        by_hash.insert(row.hash.clone(), row.clone());
        found.push(row);
    }
    for frame in frames(chain) {
        let of = &by_hash[&lower(&frame["transactionHash"]).context("a hash")?];
        let moves_nothing = number(&frame["value"]).is_zero() || frame["callType"] == "callcode";
        let kind = match (frame["type"] == "create", moves_nothing) {
            (true, _) => "contract_creation",
            (false, true) => "contract_interaction",
            (false, false) => "coin_transfer",
        };
        found.push(Row {
            key: (of.key.0, of.key.1, 1, quantity(&frame["frameIndex"]), 0),
            kind: kind.into(),
            from: lower(&frame["from"]).context("a caller")?,
            to: [&frame["to"], &frame["createdContract"]].into_iter().filter_map(lower).collect(),
            value: number(&frame["value"]),
            ..of.clone()
        });
    }
    // The scan was held against what another program found.
    for transfer in rows(chain, "token-transfers", "")? {
        let of = &by_hash[&lower(&transfer["transactionHash"]).context("a hash")?];
        found.push(Row {
            key: (of.key.0, of.key.1, 2, quantity(&transfer["logIndex"]), quantity(&transfer["batchIndex"])),
            kind: transfer["tokenType"].as_str().context("a standard")?.into(),
            from: lower(&transfer["from"]).context("a giver")?,
            to: lower(&transfer["to"]).into_iter().collect(),
            value: number(&transfer["value"]),
            token: lower(&transfer["token"]),
            ..of.clone()
        });
    }
    found.sort_by_key(|row| std::cmp::Reverse(row.key));
    Ok(found)
}

fn key(item: &Value) -> (u64, u64, u8, u64, u64) {
    let at = |name: &str| item[name].as_u64();
    let (kind, index) = match (at("internal_transaction_index"), at("token_transfer_index")) {
        (Some(frame), _) => (1, frame),
        (None, Some(log)) => (2, log),
        (None, None) => (0, 0),
    };
    let batch = at("token_transfer_batch_index").unwrap_or_default();
    (at("block_number").unwrap_or(u64::MAX), at("transaction_index").unwrap_or(u64::MAX), kind, index, batch)
}

/// Every item is the row that is due, with all that is shown of it.
fn same(found: &[Value], due: &[&Row], what: &str) -> anyhow::Result<()> {
    for (item, row) in found.iter().zip(due) {
        ensure!(key(item) == row.key, "{what}: {item}\ninstead of {row:?}");
        ensure!(item["hash"] == row.hash && item["type"] == row.kind, "{what}: {item}\ninstead of {row:?}");
        ensure!(lower(&item["from"]["hash"]).as_deref() == Some(&row.from), "{what}: {item}\ninstead of {row:?}");
        let to = [&item["to"]["hash"], &item["created_contract"]["hash"]];
        let to: Vec<String> = to.into_iter().filter_map(lower).collect();
        ensure!(to == row.to, "{what}: {item}\ninstead of {row:?}");
        ensure!(item["fee"] == row.fee.to_string(), "{what}: {item}\ninstead of {row:?}");
        let amount = if row.token.is_some() { &item["total"]["value"] } else { &item["value"] };
        ensure!(row.kind == "ERC-721" || *amount == row.value.to_string(), "{what}: {item}\ninstead of {row:?}");
        ensure!(lower(&item["token"]["address_hash"]) == row.token, "{what}: {item}\ninstead of {row:?}");
    }
    ensure!(found.len() == due.len(), "{what}: {} rows instead of {}", found.len(), due.len());
    Ok(())
}

#[test]
fn without_a_filter_there_is_everything() -> anyhow::Result<()> {
    for (name, size) in [("devchain", 100), ("hive", 17)] {
        let chain = chain(name);
        let all = all(chain)?;
        ensure!(all.iter().filter(|row| row.key.2 == 1).count() > 80 && all.len() > 300, "{name}: {}", all.len());
        same(&walk(chain, "advanced-filters", size)?, &all.iter().collect::<Vec<_>>(), name)?;
    }
    Ok(())
}

/// A query, and which rows it is about.
type Case<'a> = (String, Box<dyn Fn(&Row) -> bool + 'a>);

/// Sizes of the pages that the case of an index is walked in: small ones too, of each fourth and with `--slow` of all.
fn page_sizes(at: usize) -> &'static [u64] {
    if env::is_slow_run() || at.is_multiple_of(4) { &[100, 7] } else { &[100] }
}

#[test]
fn filters_find_what_a_search_finds() -> anyhow::Result<()> {
    let chain = chain("devchain");
    let all = all(chain)?;
    let transfers = rows(chain, "token-transfers", "")?;
    let holders = busiest(&transfers, &["from", "to"]);
    let tokens = busiest(&transfers, &["token"]);
    let senders: Vec<Value> = node_transactions(chain).values().map(|tx| tx.transaction.clone()).collect();
    let senders = busiest(&senders, &["from"]);
    let (one, other, third) = (&senders[0], &senders[1], &holders[1]);
    let is = |row: &Row, address: &String| row.to.contains(address);
    let kinds = |list: &'static [&'static str]| move |row: &Row| list.contains(&row.kind.as_str());
    let middle = all[all.len() / 2].time;
    let iso = |seconds: u64| {
        jiff::Timestamp::from_second(i64::try_from(seconds).unwrap_or_default()).map(|time| time.to_string())
    };
    let selector = &all.iter().find(|row| row.selector.len() == 10 && row.kind == "ERC-20").context("a call")?.selector;
    let (gwei, is_coin) = (U256::from(1_000_000_000_u64), |row: &Row| row.token.is_none());
    let cases: Vec<Case<'_>> = vec![
        (format!("from_address_hashes_to_include={one}"), Box::new(|row| row.from == *one)),
        (format!("to_address_hashes_to_include={third},{one}"), Box::new(|row| is(row, third) || is(row, one))),
        (
            format!("from_address_hashes_to_include={one},{third}&to_address_hashes_to_include={other},{third}"),
            Box::new(|row| row.from == *one || row.from == *third || is(row, other) || is(row, third)),
        ),
        (
            format!(
                "from_address_hashes_to_include={one},{other}&to_address_hashes_to_include={other},{third}&address_relation=and"
            ),
            Box::new(|row| (row.from == *one || row.from == *other) && (is(row, other) || is(row, third))),
        ),
        (
            format!("from_address_hashes_to_exclude={one},{other}&to_address_hashes_to_exclude={third}"),
            Box::new(|row| row.from != *one && row.from != *other && !is(row, third)),
        ),
        (
            format!(
                "from_address_hashes_to_include={one}&to_address_hashes_to_exclude={third}&transaction_types=ERC-20"
            ),
            Box::new(|row| row.from == *one && !is(row, third) && row.kind == "ERC-20"),
        ),
        ("transaction_types=coin_transfer".into(), Box::new(kinds(&["coin_transfer"]))),
        ("transaction_types=CONTRACT_CREATION,erc-721".into(), Box::new(kinds(&["contract_creation", "ERC-721"]))),
        ("transaction_types=ERC-404".into(), Box::new(|_| false)),
        (
            format!("transaction_types=contract_interaction&from_address_hashes_to_include={one}"),
            Box::new(|row| row.kind == "contract_interaction" && row.from == *one),
        ),
        (format!("age_to={}", iso(middle)?), Box::new(|row| row.time <= middle)),
        (
            format!("age_from={}&age_to={}", iso(middle)?, iso(middle + 60)?),
            Box::new(|row| (middle..=middle + 60).contains(&row.time)),
        ),
        (
            format!("token_contract_address_hashes_to_include={}", tokens[0]),
            Box::new(|row| row.token.as_ref() == Some(&tokens[0])),
        ),
        (
            format!(
                "token_contract_address_hashes_to_include={},{},native&to_address_hashes_to_include={third}",
                tokens[0], tokens[1]
            ),
            Box::new(|row| is(row, third) && row.token.as_ref().is_none_or(|token| tokens[..2].contains(token))),
        ),
        (
            format!("token_contract_address_hashes_to_exclude={},native", tokens[0]),
            Box::new(|row| row.token.as_ref().is_some_and(|token| *token != tokens[0])),
        ),
        ("token_contract_address_hashes_to_include=native".into(), Box::new(is_coin)),
        (
            format!("methods={selector}&from_address_hashes_to_include={one}"),
            Box::new(|row| row.selector == *selector && row.from == *one),
        ),
        (format!("methods={selector}"), Box::new(|row| row.selector == *selector)),
        (
            format!(
                "amount_from=0.000000001&from_address_hashes_to_include={one}&token_contract_address_hashes_to_include=native"
            ),
            Box::new(|row| row.from == *one && is_coin(row) && row.value >= gwei),
        ),
        (
            "amount_from=0.000000000000000001&amount_to=0.5&age_from=1970-01-02&transaction_types=coin_transfer".into(),
            Box::new(|row| {
                let half = gwei * gwei / U256::from(2);
                row.kind == "coin_transfer" && row.value >= U256::from(1) && row.value <= half
            }),
        ),
        (
            "amount_from=1&amount_to=1&transaction_types=ERC-721,ERC-1155".into(),
            Box::new(|row| row.kind == "ERC-721" || (row.kind == "ERC-1155" && row.value == U256::from(1))),
        ),
    ];
    let mut found_some = 0;
    for (at, (query, keep)) in cases.into_iter().enumerate() {
        let due: Vec<&Row> = all.iter().filter(|row| keep(row)).collect();
        found_some += usize::from(!due.is_empty() && due.len() < all.len());
        for size in page_sizes(at) {
            same(&walk(chain, &format!("advanced-filters?{query}"), *size)?, &due, &query)?;
        }
    }
    ensure!(found_some > 16, "{found_some} filters found some rows");
    Ok(())
}

#[test]
fn search_parameters_are_returned() -> anyhow::Result<()> {
    let chain = chain("devchain");
    let token = &busiest(&rows(chain, "token-transfers", "")?, &["token"])[0];
    let unknown = format!("0x{}", "dd".repeat(20));
    let tokens = format!("token_contract_address_hashes_to_include={token},{unknown}");
    let query = format!("methods=0xa9059cbb,0x095ea7b3&methods_names=transfer&{tokens}");
    let params = get(chain, &format!("advanced-filters?{query}"))?["search_params"].clone();
    ensure!(params["methods"]["0xa9059cbb"] == "transfer" && params["methods"]["0x095ea7b3"].is_null(), "{params}");
    let tokens = params["tokens"].as_object().context("tokens")?;
    let (address, shown) = tokens.iter().next().context("a token")?;
    ensure!(tokens.len() == 1, "an address that is no token: {params}");
    ensure!(address.to_lowercase() == *token && shown["address_hash"] == *address, "{params}");
    Ok(())
}

#[test]
fn wrong_parameters_are_refused() -> anyhow::Result<()> {
    let chain = chain("devchain");
    let many: Vec<String> = (1..=9).map(|byte| format!("0x{}", format!("{byte:02x}").repeat(20))).collect();
    for (query, pointer) in [
        ("methods=transfer&age_from=2020-01-01".to_owned(), "/methods"),
        ("transaction_types=everything".into(), "/transaction_types"),
        ("amount_to=1e3&age_from=2020-01-01".into(), "/amount_to"),
        ("age_from=soon".into(), "/age_from"),
        ("age_from=2024-01-02&age_to=2024-01-01".into(), "/age_to"),
        ("address_relation=xor".into(), "/address_relation"),
        ("from_address_hashes_to_include=0x12".into(), "/from_address_hashes_to_include"),
        (format!("to_address_hashes_to_include={}", many.join(",")), "/from_address_hashes_to_include"),
        (
            format!("token_contract_address_hashes_to_include={}", many.join(",")),
            "/token_contract_address_hashes_to_include",
        ),
        ("block_number=5".into(), "/transaction_index"),
        ("block_number=5&transaction_index=1&token_transfer_index=x".into(), "/token_transfer_index"),
    ] {
        let answer = http::get(&http::agent(), &format!("{}/api/v2/advanced-filters?{query}", chain.api))?;
        ensure!(answer.status == 422, "{query}: {} {}", answer.status, answer.text());
        ensure!(answer.json()?["errors"][0]["source"]["pointer"] == pointer, "{query}: {}", answer.text());
    }
    Ok(())
}

/// A page ends after so many rows, though few of them match; the next one goes on there.
#[test]
fn pages_of_rare_rows_go_on() -> anyhow::Result<()> {
    let chain = chain("mainnet");
    let positions = "toString(block_number), toString(log_index), toString(batch_index)";
    let due = env::sql(
        chain.name,
        &format!(
            "SELECT concatWithSeparator(' ', {positions}) FROM token_transfers_by_block WHERE token_type = 'ERC-1155' \
             ORDER BY block_number DESC, log_index DESC, batch_index DESC"
        ),
    )?;
    let (mut found, mut short, mut cursor) = (Vec::new(), 0, String::new());
    loop {
        let page = get(chain, &format!("advanced-filters?transaction_types=ERC-1155&items_count=10{cursor}"))?;
        let items = page["items"].as_array().context("items")?;
        ensure!(items.iter().all(|item| item["type"] == "ERC-1155"), "{page}");
        for position in items.iter().map(key) {
            found.push(format!("{} {} {}", position.0, position.3, position.4));
        }
        let Some(next) = page["next_page_params"].as_object() else { break };
        short += usize::from(items.len() < 10);
        let members = next.iter().filter(|(name, _)| *name != "items_count");
        cursor = members.map(|(name, value)| format!("&{name}={value}")).collect();
    }
    ensure!(found == due.lines().collect::<Vec<_>>() && found.len() > 3, "{found:?}, due {due}");
    ensure!(short > 0, "no page ended early");
    Ok(())
}

/// The methods that clients offer for the filter; selectors are those that the ABI specification and ERC-20 name.
#[test]
fn methods_are_found_by_selector_and_name() -> anyhow::Result<()> {
    let chain = chain("devchain");
    let methods = |query: &str| get(chain, &format!("advanced-filters/methods{query}"));
    let transfer = json!([{"method_id": "0xa9059cbb", "name": "transfer"}]);
    ensure!(methods("?q=0xa9059cbb")? == transfer && methods("?q=0xA9059CBB")? == transfer);
    // The well-known one stands before overloads that packages declare.
    let named = methods("?q=transfer")?;
    let named = named.as_array().context("a list")?;
    ensure!(
        named[0] == transfer[0] && named.len() > 1 && named.iter().all(|method| method["name"] == "transfer"),
        "{named:?}"
    );
    let of_packages = json!([{"method_id": "0xfb0f3ee1", "name": "fulfillBasicOrder"}]);
    ensure!(methods("?q=fulfillbasicorder")? == of_packages);
    ensure!(methods("?q=0x01020304")? == json!([{"method_id": "0x01020304", "name": ""}]));
    ensure!(methods("?q=nothingOfThisName")? == json!([]));
    let all = methods("")?;
    let all = all.as_array().context("a list")?;
    ensure!(all.len() > 50 && all.contains(&transfer[0]), "{all:?}");
    Ok(())
}
