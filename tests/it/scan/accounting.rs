//! Exports for accounting: what they add up to is the balance that another EVM reported.

use std::collections::{BTreeMap, BTreeSet};

use alloy_primitives::{Address, I256, U256};
use anyhow::{Context as _, ensure};
use serde_json::Value;
use xtask::http;

use super::listed;
use crate::chains::{chain, quantity};
use crate::transactions::{busiest, node_transactions};

const HEADER: &str = "Date (UTC),Block,Transaction,Type,Direction,Counterparty,Amount,RawAmount,Asset,AssetContract,TokenId,Fee,FeeAsset,Status,Method";

/// A row by the names of its columns.
type Row = BTreeMap<&'static str, String>;

fn rows(api: &str, address: &str, list: &str) -> anyhow::Result<Vec<Row>> {
    let url = format!("{api}/api/v2/addresses/{address}/{list}/csv?columns=accounting");
    let answer = http::get(&http::agent(), &url)?;
    ensure!(answer.status == 200, "{address} {list}: {}", answer.text());
    let text = answer.text();
    let mut lines = text.strip_suffix("\r\n").context("no last end of a line")?.split("\r\n");
    ensure!(lines.next() == Some(HEADER), "{text}");
    let row = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        ensure!(cells.len() == HEADER.split(',').count(), "{line}");
        Ok(HEADER.split(',').zip(cells.into_iter().map(str::to_owned)).collect())
    };
    lines.map(row).collect()
}

/// Wei of an amount in whole coins.
fn wei(amount: &str) -> anyhow::Result<I256> {
    let (whole, fraction) = amount.split_once('.').unwrap_or((amount, ""));
    Ok(format!("{whole}{fraction:0<18}").parse::<U256>()?.try_into()?)
}

/// What rows of coins add up to for their account: in, less out and less fees.
fn sum(rows: &[Row]) -> anyhow::Result<I256> {
    let mut sum = I256::ZERO;
    for row in rows {
        ensure!(row["Amount"] == "0" || row["Status"] == "ok", "{row:?}");
        ensure!(wei(&row["Amount"])? == row["RawAmount"].parse::<U256>()?.try_into()?, "{row:?}");
        match row["Direction"].as_str() {
            "IN" => sum += wei(&row["Amount"])?,
            "OUT" => sum -= wei(&row["Amount"])?,
            other => ensure!(other == "SELF", "{row:?}"),
        }
        if !row["Fee"].is_empty() {
            ensure!(row["Direction"] != "IN" && row["FeeAsset"] == row["Asset"], "{row:?}");
            sum -= wei(&row["Fee"])?;
        }
    }
    Ok(sum)
}

/// Balances after genesis, and after the newest block, as the other EVM reported them.
fn balances(lines: &[Value]) -> anyhow::Result<BTreeMap<String, (U256, U256)>> {
    let mut balances = BTreeMap::<String, (U256, U256)>::new();
    for line in lines {
        for (address, account) in line["stateDiff"].as_object().context("accounts")? {
            let Some(balance) = account["balance"].as_str() else { continue };
            let of_account = balances.entry(address.to_lowercase()).or_default();
            of_account.1 = balance.parse()?;
            if quantity(&line["block"]["number"]) == 0 {
                of_account.0 = of_account.1;
            }
        }
    }
    Ok(balances)
}

/// Accounts that were paid for blocks, or from the consensus layer.
fn paid_by_the_protocol(lines: &[Value]) -> BTreeSet<String> {
    let mut paid = BTreeSet::new();
    for line in lines {
        let withdrawals = line["block"]["withdrawals"].as_array().into_iter().flatten().map(|one| &one["address"]);
        let uncles = line["uncles"].as_array().into_iter().flatten().map(|uncle| &uncle["miner"]);
        let accounts = std::iter::once(&line["block"]["miner"]).chain(withdrawals).chain(uncles);
        paid.extend(accounts.filter_map(Value::as_str).map(str::to_lowercase));
    }
    paid
}

#[test]
fn rows_add_up_to_the_balance_of_another_evm() -> anyhow::Result<()> {
    let hive = chain("hive");
    let paid = paid_by_the_protocol(&hive.lines);
    let (mut moved, mut failed) = (0, 0);
    for (address, (first, last)) in balances(&hive.lines)?.into_iter().filter(|(address, _)| !paid.contains(address)) {
        let transactions = rows(&hive.api, &address, "transactions")?;
        let frames = rows(&hive.api, &address, "internal-transactions")?;
        let change = sum(&transactions)? + sum(&frames)?;
        let expected = I256::try_from(last)? - I256::try_from(first)?;
        ensure!(change == expected, "{address}: {change}, expected {expected}: {transactions:?} {frames:?}");
        moved += usize::from(!expected.is_zero());
        failed += transactions.iter().filter(|row| row["Status"] == "error").count();
    }
    ensure!(moved > 10 && failed > 0, "{moved} accounts, {failed} failures");
    Ok(())
}

#[test]
fn token_transfers_have_the_other_side_and_raw_amounts() -> anyhow::Result<()> {
    let chain = chain("devchain");
    let all = listed::rows(chain, "token-transfers", "")?;
    let (mut raw, mut ids) = (0, 0);
    for address in &listed::busiest(&all, &["from", "to"])[..4] {
        let found = rows(&chain.api, address, "token-transfers")?;
        let own: Vec<&Value> = all.iter().filter(|row| row["from"] == **address || row["to"] == **address).collect();
        ensure!(found.len() == own.len(), "{address}: {} of {}", found.len(), own.len());
        for (row, one) in found.iter().zip(own) {
            let is_sent = one["from"] == **address;
            let other = one[if is_sent { "to" } else { "from" }].as_str().context("an address")?;
            let direction = if one["from"] == one["to"] { "SELF" } else { ["IN", "OUT"][usize::from(is_sent)] };
            ensure!(row["Direction"] == direction, "{row:?}, expected {one}");
            ensure!(row["Counterparty"] == other.parse::<Address>()?.to_checksum(None), "{row:?}, expected {one}");
            let value = one["value"].as_str().context("a value")?.parse::<U256>()?;
            ensure!(row["RawAmount"] == value.to_string() && row["Fee"].is_empty(), "{row:?}, expected {one}");
            let id = one["tokenId"].as_str().map(str::parse::<U256>).transpose()?;
            ensure!(row["TokenId"] == id.map(|id| id.to_string()).unwrap_or_default(), "{row:?}, expected {one}");
            if id.is_some() {
                ensure!(row["Amount"] == row["RawAmount"], "{row:?}");
                ids += 1;
                continue;
            }
            // The metadata of this chain's tokens is not loaded.
            ensure!(row["Amount"].is_empty(), "{row:?}");
            raw += 1;
        }
    }
    ensure!(ids > 0 && raw > 0, "{ids} ids, {raw} amounts");
    Ok(())
}

/// Amounts of a token with 18 decimals, where its metadata is loaded, against what its contract emitted.
pub fn amounts_have_their_point(api: &str, token: &str) -> anyhow::Result<()> {
    let transfers = http::get(&http::agent(), &format!("{api}/api/v2/tokens/{token}/transfers"))?.json()?;
    let transfers = transfers["items"].as_array().context("items")?;
    ensure!(!transfers.is_empty(), "{token} has no transfers");
    for transfer in transfers {
        let recipient = transfer["to"]["hash"].as_str().context("an address")?;
        let rows = rows(api, recipient, "token-transfers")?;
        let is_same = |row: &&Row| {
            row["Transaction"] == transfer["transaction_hash"].as_str().unwrap_or_default()
                && row["RawAmount"] == transfer["total"]["value"].as_str().unwrap_or_default()
        };
        let row = rows.iter().find(is_same).with_context(|| format!("no row of {transfer}"))?;
        ensure!(wei(&row["Amount"])? == row["RawAmount"].parse::<U256>()?.try_into()?, "{row:?}");
        ensure!(row["Asset"] == transfer["token"]["symbol"].as_str().unwrap_or_default(), "{row:?}, of {transfer}");
        ensure!(row["AssetContract"].eq_ignore_ascii_case(token), "{row:?}");
    }
    Ok(())
}

#[test]
fn logs_have_no_columns_for_it() -> anyhow::Result<()> {
    let chain = chain("devchain");
    let all = node_transactions(chain);
    let (address, _) = &busiest(&all)[0];
    let url = format!("{}/api/v2/addresses/{address}/logs/csv?columns=accounting", chain.api);
    let answer = http::get(&http::agent(), &url)?;
    ensure!(answer.status == 422, "{}: {}", answer.status, answer.text());
    Ok(())
}
