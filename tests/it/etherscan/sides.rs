//! `from`, `to` and `fromto_opr` in place of `address`: rows of either side, in the order of the list and in pages.

use anyhow::{Context as _, ensure};
use serde_json::Value;

use super::ask;
use super::transactions::row;
use super::transfers::all;
use crate::chains::{Chain, chain};
use crate::scan::listed;
use crate::transactions::node_transactions;

/// What tells rows of a list apart: the transaction, and the log or the path of the frame in it.
fn key(row: &Value) -> String {
    ["hash", "logIndex", "tokenID", "traceId"].map(|name| row[name].as_str().unwrap_or_default()).join(" ")
}

/// A query of sides, and which rows it is about.
type Case<'a> = (String, Box<dyn Fn(&Value) -> bool + 'a>);

/// Holds the lists of some sides against the rows of all accounts, which are in order.
fn ensure_sides(chain: &Chain, action: &str, all: &[Value]) -> anyhow::Result<()> {
    let senders = listed::busiest(all, &["from"]);
    let recipients = listed::busiest(all, &["to"]);
    let one = &senders[0];
    let other = recipients.iter().find(|other| *other != one && !other.is_empty()).context("a recipient")?;
    let is_to = |row: &Value, side: &str| row["to"] == side || (row["to"] == "" && row["contractAddress"] == side);
    let met = all.iter().find(|row| row["to"] != "" && row["from"] != row["to"]).context("a pair")?;
    let [sender, recipient] = ["from", "to"].map(|side| met[side].as_str().unwrap_or("-"));
    let cases: [Case<'_>; 8] = [
        (format!("from={one}"), Box::new(|row| row["from"] == **one)),
        (format!("to={other}&fromto_opr=or"), Box::new(|row| is_to(row, other))),
        (format!("from={one}&to={other}&fromto_opr=OR"), Box::new(|row| row["from"] == **one || is_to(row, other))),
        (format!("from={other}&to={one}&fromto_opr=or"), Box::new(|row| row["from"] == **other || is_to(row, one))),
        (format!("from={one}&to={one}&fromto_opr=or"), Box::new(|row| row["from"] == **one || is_to(row, one))),
        (format!("from={one}&to={other}&fromto_opr=and"), Box::new(|row| row["from"] == **one && is_to(row, other))),
        (format!("from={one}&to={one}&fromto_opr=and"), Box::new(|row| row["from"] == **one && is_to(row, one))),
        (
            format!("from={sender}&to={recipient}&fromto_opr=AND"),
            Box::new(|row| row["from"] == sender && is_to(row, recipient)),
        ),
    ];
    for (sides, is_due) in cases {
        let due: Vec<String> = all.iter().filter(|row| is_due(row)).map(key).collect();
        let list = |page: &str| -> anyhow::Result<Vec<String>> {
            let query = format!("module=account&action={action}&{sides}&include_zero_value=true&{page}");
            let query = if action == "txlistinternal" { query } else { query.replace("&include_zero_value=true", "") };
            let found = ask(&chain.api, &query)?;
            Ok(found["result"].as_array().into_iter().flatten().map(key).collect())
        };
        let up = list("sort=asc")?;
        ensure!(up == due, "{} {action} {sides}: {} of {}", chain.name, up.len(), due.len());
        let down: Vec<String> = due.iter().rev().skip(3).take(3).cloned().collect();
        ensure!(list("sort=desc&page=2&offset=3")? == down, "{} {action} {sides}", chain.name);
    }
    Ok(())
}

#[test]
fn rows_of_either_side_are_listed() -> anyhow::Result<()> {
    let chain = chain("devchain");
    let sent: Vec<Value> = node_transactions(chain).values().map(|tx| row(tx, chain)).collect::<anyhow::Result<_>>()?;
    ensure_sides(chain, "txlist", &sent)?;
    let transfers = all(chain)?;
    for action in ["tokentx", "tokennfttx", "token1155tx"] {
        let own = transfers.iter().filter(|transfer| transfer.action == action);
        ensure_sides(chain, action, &own.map(|transfer| transfer.row.clone()).collect::<Vec<_>>())?;
    }
    // Another test holds this list against the traces.
    let range = format!("startblock=0&endblock={}&include_zero_value=true&sort=asc", chain.head());
    let frames = ask(&chain.api, &format!("module=account&action=txlistinternal&{range}"))?;
    ensure_sides(chain, "txlistinternal", frames["result"].as_array().map_or(&[], Vec::as_slice))
}

#[test]
fn what_does_not_go_together_is_refused() -> anyhow::Result<()> {
    let api = &chain("devchain").api;
    let (one, other) = (format!("0x{}", "12".repeat(20)), format!("0x{}", "34".repeat(20)));
    for (action, query, text) in [
        ("txlist", format!("address={one}&from={other}"), "'address' cannot be combined"),
        ("txlist", format!("from={one}&to={other}"), "Query parameter 'fromto_opr' is required"),
        ("txlist", format!("from={one}&fromto_opr=and"), "'fromto_opr=and' needs both"),
        ("txlist", format!("address={one}&fromto_opr=or"), "'fromto_opr' needs 'from' or 'to'"),
        ("txlist", format!("from={one}&filterby=from"), "Query parameter 'address' is required"),
        ("txlist", String::new(), "Query parameter 'address' is required"),
        ("tokentx", format!("to={one}&fromto_opr=xor"), "Invalid fromto_opr"),
        ("tokennfttx", format!("to={other}&fromto_opr=and"), "'fromto_opr=and' needs both"),
        ("txlistinternal", format!("txhash=0x{}&from={one}", "12".repeat(32)), "'txhash' cannot be combined"),
    ] {
        let refused = ask(api, &format!("module=account&action={action}&{query}"))?;
        let message = refused["message"].as_str().unwrap_or_default();
        ensure!(refused["status"] == "0" && message.starts_with(text), "{action} {query}: {refused}");
    }
    Ok(())
}
