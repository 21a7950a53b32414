//! Etherscan's and Otterscan's shapes on other chains: every field of its kind, and figures by the source's JSON.

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use xtask::http;

use super::families::is_fee_known;
use crate::etherscan::ask;
use crate::etherscan::fields::ensure_fields;

/// Holds what clients of both interfaces ask of each transaction and block.
pub(super) fn are_served(url: &str, lines: &[Value]) -> anyhow::Result<()> {
    for line in lines {
        let block = &line["block"];
        let number = quantity(&block["number"]).context("a height")?;
        let transactions = block["transactions"].as_array().context("transactions")?;
        let receipts = line["receipts"].as_array().map_or(&[][..], Vec::as_slice);
        for (transaction, receipt) in transactions.iter().zip(receipts) {
            of_transaction(url, number, transaction, receipt).with_context(|| format!("{transaction}"))?;
        }
        of_block(url, number, line).with_context(|| format!("block {number}"))?;
    }
    Ok(())
}

fn of_transaction(url: &str, number: u128, transaction: &Value, receipt: &Value) -> anyhow::Result<()> {
    let (hash, from) = (text(&transaction["hash"])?, text(&transaction["from"])?);
    let price = price(transaction, receipt).to_string();
    let gas = quantity(&receipt["gasUsed"]).context("gas")?.to_string();
    let is_failed = receipt["status"] == "0x0";
    let range = format!("address={from}&startblock={number}&endblock={number}");
    let list = ask(url, &format!("module=account&action=txlist&{range}"))?;
    ensure_fields("txlist", &list)?;
    let mut items = list["result"].as_array().context("a list")?.iter();
    let item = items.find(|item| item["hash"] == hash).with_context(|| format!("{hash} in {list}"))?;
    let address = |value: &Value| value.as_str().unwrap_or_default().to_lowercase();
    for (key, expected) in [
        ("from", address(&transaction["from"])),
        ("to", address(&transaction["to"])),
        ("contractAddress", address(&receipt["contractAddress"])),
        ("gasPrice", price.clone()),
        ("gasUsed", gas.clone()),
        ("isError", u8::from(is_failed).to_string()),
        ("txreceipt_status", receipt["status"].as_str().map_or(String::new(), |_| u8::from(!is_failed).to_string())),
        ("value", quantity(&transaction["value"]).context("a value")?.to_string()),
    ] {
        ensure!(item[key] == expected, "{key} is {} and should be {expected}", item[key]);
    }
    let info = ask(url, &format!("module=transaction&action=gettxinfo&txhash={hash}"))?;
    ensure_fields("gettxinfo", &info)?;
    ensure!(info["result"]["gasPrice"] == price && info["result"]["gasUsed"] == gas, "{info}");
    ensure!(info["result"]["logs"].as_array().map(Vec::len) == receipt["logs"].as_array().map(Vec::len), "{info}");
    for action in ["gettxreceiptstatus", "getstatus"] {
        let status = ask(url, &format!("module=transaction&action={action}&txhash={hash}"))?;
        ensure!(status["status"] == "1", "{action}: {status}");
        ensure_fields(action, &status)?;
    }
    for action in ["tokentx", "tokennfttx", "token1155tx"] {
        ensure_fields(action, &ask(url, &format!("module=account&action={action}&{range}"))?)?;
    }
    let proxied = ask(url, &format!("module=proxy&action=eth_getTransactionByHash&txhash={hash}"))?;
    ensure!(proxied["result"]["hash"] == hash, "{proxied}");
    let error = rpc(url, "ots_getTransactionError", &json!([hash]))?;
    ensure!(error.get("result").is_some_and(|data| is_failed || data == "0x") || error["error"].is_object(), "{error}");
    Ok(())
}

fn of_block(url: &str, number: u128, line: &Value) -> anyhow::Result<()> {
    let block = &line["block"];
    let (mut fees, mut to_maker) = (0, 0);
    let transactions = block["transactions"].as_array().context("transactions")?;
    for (transaction, receipt) in transactions.iter().zip(line["receipts"].as_array().into_iter().flatten()) {
        let (gas, price) = (quantity(&receipt["gasUsed"]).context("gas")?, price(transaction, receipt));
        let l1_fee = quantity(&receipt["l1Fee"]).unwrap_or(0);
        fees += gas * price + l1_fee;
        to_maker += match quantity(&block["baseFeePerGas"]) {
            Some(base_fee) => gas * price.saturating_sub(base_fee),
            None => gas * price + l1_fee,
        };
    }
    let are_known = transactions
        .iter()
        .zip(line["receipts"].as_array().into_iter().flatten())
        .all(|(transaction, receipt)| is_fee_known(transaction, receipt));
    let details = rpc(url, "ots_getBlockDetails", &json!([number]))?;
    let is_mined = quantity(&block["difficulty"]).is_some_and(|difficulty| difficulty > 0);
    // Only Gnosis paid those who made blocks, and its rewards are in traces.
    let is_paid_by_fees = !is_mined || block["auraStep"].is_null();
    if are_known {
        let details = &details["result"];
        ensure!(quantity(&details["totalFees"]) == Some(fees), "{details}");
        ensure!(details["block"]["transactionCount"] == transactions.len(), "{details}");
        let is_known = is_paid_by_fees || number == 0;
        let zero = json!({"blockReward": "0x0", "uncleReward": "0x0", "issuance": "0x0"});
        ensure!((details["issuance"] == zero) == is_known, "{details}");
        let by_hash = rpc(url, "ots_getBlockDetailsByHash", &json!([block["hash"]]))?;
        ensure!(by_hash["result"] == *details, "{by_hash}");
    } else {
        ensure!(details["error"].is_object(), "{details}");
    }
    let page = rpc(url, "ots_getBlockTransactions", &json!([number, 0, 25]))?;
    let page = &page["result"];
    let shown: Vec<&Value> = page["fullblock"]["transactions"].as_array().into_iter().flatten().collect();
    ensure!(shown.len() == transactions.len().min(25), "{page}");
    for (shown, receipt) in shown.iter().zip(page["receipts"].as_array().context("receipts")?) {
        ensure!(shown["from"].is_string() && receipt["transactionHash"] == shown["hash"], "{page}");
        ensure!(transactions.iter().any(|transaction| transaction["hash"] == shown["hash"]), "{page}");
        ensure!(receipt["logs"].is_null() && receipt["logsBloom"].is_null(), "{page}");
        let mut given = line["receipts"].as_array().into_iter().flatten();
        let given = given.find(|given| given["transactionHash"] == shown["hash"]).context("its receipt")?;
        // Otterscan adds up the fee for data on L1 of every transaction that is no deposit.
        for (name, value) in given.as_object().context("an object")? {
            let is_own = ["l1", "deposit"].iter().any(|part| name.to_lowercase().contains(part));
            ensure!(!is_own || receipt[name] == *value, "{name} of {receipt}, expected {value}");
        }
    }
    let reward = ask(url, &format!("module=block&action=getblockreward&blockno={number}"))?;
    if is_paid_by_fees {
        ensure_fields("getblockreward", &reward)?;
        ensure!(reward["result"]["blockReward"] == to_maker.to_string(), "{reward}, due {to_maker}");
    } else {
        ensure!(reward["status"] != "1", "{reward}");
    }
    let time = quantity(&block["timestamp"]).context("a time")?;
    let found = ask(url, &format!("module=block&action=getblocknobytime&timestamp={time}&closest=before"))?;
    ensure!(found["status"] != "0", "{found}");
    Ok(())
}

/// Wei for each gas, of nodes before London as signed.
fn price(transaction: &Value, receipt: &Value) -> u128 {
    quantity(&receipt["effectiveGasPrice"]).or_else(|| quantity(&transaction["gasPrice"])).unwrap_or(0)
}

fn rpc(url: &str, method: &str, params: &Value) -> anyhow::Result<Value> {
    http::rpc(&http::agent(), &format!("{url}/rpc"), method, params)
}

fn text(value: &Value) -> anyhow::Result<&str> {
    value.as_str().with_context(|| format!("{value} is no text"))
}

/// A number that fits; none where there is none.
fn quantity(value: &Value) -> Option<u128> {
    u128::from_str_radix(value.as_str()?.strip_prefix("0x")?, 16).ok()
}
