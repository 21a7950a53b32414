//! Exports of an address with the columns of Blockscout, against what the nodes answered. Headers are those that
//! Blockscout's own exports and the programs that read them have.

use alloy_primitives::{Address, U256};
use anyhow::{Context as _, ensure};
use serde_json::Value;
use xtask::http;

use super::{listed, logs};
use crate::advanced_filters::{is_plain, outermost_frames};
use crate::chains::{Chain, chain, quantity};
use crate::transactions::{busiest, node_transactions};

const TRANSACTIONS: &str = "TxHash,BlockNumber,UnixTimestamp,FromAddress,ToAddress,ContractAddress,Type,Value,Fee,Status,ErrCode,CurrentPrice,TxDateOpeningPrice,TxDateClosingPrice,MethodName";
const TOKEN_TRANSFERS: &str = "TxHash,BlockNumber,UnixTimestamp,FromAddress,ToAddress,TokenContractAddress,Type,TokenDecimals,TokenSymbol,TokensTransferred,TransactionFee,Status,ErrCode";
const INTERNAL_TRANSACTIONS: &str = "TxHash,Index,BlockNumber,BlockHash,TxIndex,BlockIndex,UnixTimestamp,FromAddress,ToAddress,ContractAddress,Type,CallType,Gas,GasUsed,Value,Input,Output,ErrCode,Fee";
const LOGS: &str =
    "TxHash,Index,BlockNumber,BlockHash,ContractAddress,Data,FirstTopic,SecondTopic,ThirdTopic,FourthTopic";

/// The rows of an export as a program reads them that knows its header: every line after it is a row.
fn rows(chain: &Chain, path: &str, header: &str) -> anyhow::Result<Vec<Vec<String>>> {
    let answer = http::get(&http::agent(), &format!("{}/api/v2/addresses/{path}", chain.api))?;
    ensure!(answer.status == 200, "{path}: {}", answer.text());
    ensure!(answer.header("content-type") == "application/csv", "{}", answer.header("content-type"));
    let text = answer.text();
    let lines = text.strip_suffix("\r\n").with_context(|| format!("{path}: no last end of a line"))?;
    let mut lines = lines.split("\r\n");
    ensure!(lines.next() == Some(header), "{path}: {text}");
    let rows: Vec<Vec<String>> = lines.map(|line| line.split(',').map(str::to_owned).collect()).collect();
    ensure!(rows.iter().all(|row| row.len() == header.split(',').count()), "{path}: {text}");
    Ok(rows)
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn number(value: &Value) -> U256 {
    U256::from_str_radix(value.as_str().unwrap_or("0x0").trim_start_matches("0x"), 16).unwrap_or_default()
}

/// An address with its checksum (EIP-55); nothing of null.
fn checksummed(value: &Value) -> anyhow::Result<String> {
    let address = value.as_str().map(str::parse::<Address>).transpose()?;
    Ok(address.map(|address| address.to_checksum(None)).unwrap_or_default())
}

/// A block's time, as `2024-02-17 08:49:36.000000Z`.
fn time(chain: &Chain, block: u64) -> anyhow::Result<String> {
    let seconds = quantity(&chain.lines[usize::try_from(block)?]["block"]["timestamp"]);
    let time = jiff::Timestamp::from_second(i64::try_from(seconds)?)?.to_string();
    Ok(format!("{}.000000Z", time.trim_end_matches('Z').replace('T', " ")))
}

fn side(address: &str, from: &Value, to: &Value) -> String {
    let is = |value: &Value| value.as_str().is_some_and(|text| text.eq_ignore_ascii_case(address));
    (if is(from) { "OUT" } else { ["", "IN"][usize::from(is(to))] }).to_owned()
}

#[test]
fn transactions_have_them() -> anyhow::Result<()> {
    let mut ends = std::collections::BTreeSet::new();
    for name in ["devchain", "hive"] {
        let chain = chain(name);
        let (all, roots) = (node_transactions(chain), outermost_frames(chain));
        for (address, _) in busiest(&all).iter().take(4) {
            let found = rows(chain, &format!("{address}/transactions/csv"), TRANSACTIONS)?;
            let own: Vec<_> = all.values().filter(|tx| tx.participants("").contains(address)).collect();
            ensure!(found.len() == own.len() && !own.is_empty(), "{address}: {} of {}", found.len(), own.len());
            for (row, tx) in found.iter().zip(own) {
                let (one, receipt, block) = (&tx.transaction, &tx.receipt, tx.position().0);
                let fee = number(&receipt["gasUsed"]) * number(&receipt["effectiveGasPrice"]);
                let has_failed = receipt["status"] == "0x0";
                let expected = [
                    text(&one["hash"]),
                    block.to_string(),
                    time(chain, block)?,
                    checksummed(&one["from"])?,
                    checksummed(&one["to"])?,
                    checksummed(&receipt["contractAddress"])?,
                    side(address, &one["from"], &one["to"]),
                    number(&one["value"]).to_string(),
                    fee.to_string(),
                ];
                ensure!(row[..9] == expected, "{name}: {row:?} instead of {expected:?}");
                // Before Byzantium frames tell it: none of those of this chain failed.
                ensure!(row[9] == if has_failed { "error" } else { "ok" }, "{row:?}");
                ensure!(row[10].is_empty() != has_failed, "{row:?}");
                ensure!(row[11..14] == ["", "", ""], "{row:?}");
                let calls_nothing = text(&one["input"]).len() < 10 || is_plain(roots[&tx.position()]);
                ensure!(row[14].is_empty() == calls_nothing, "{row:?}");
                ends.insert(row[9].clone());
            }
        }
    }
    ensure!(ends.len() == 2, "{ends:?}");
    Ok(())
}

#[test]
fn token_transfers_have_them() -> anyhow::Result<()> {
    let chain = chain("devchain");
    let all = listed::rows(chain, "token-transfers", "")?;
    let receipts = node_transactions(chain);
    for address in &listed::busiest(&all, &["from", "to"])[..4] {
        let found = rows(chain, &format!("{address}/token-transfers/csv"), TOKEN_TRANSFERS)?;
        let is_own = |row: &&Value| row["from"] == **address || row["to"] == **address;
        let own: Vec<&Value> = all.iter().filter(is_own).collect();
        ensure!(found.len() == own.len(), "{address}: {} of {}", found.len(), own.len());
        for (row, one) in found.iter().zip(own) {
            let block = quantity(&one["blockNumber"]);
            let hash = &one["transactionHash"];
            let receipt = receipts.values().map(|tx| &tx.receipt).find(|receipt| receipt["transactionHash"] == *hash);
            let receipt = receipt.context("a receipt")?;
            let fee = number(&receipt["gasUsed"]) * number(&receipt["effectiveGasPrice"]);
            let amount = if one["tokenType"] == "ERC-721" { String::new() } else { number(&one["value"]).to_string() };
            let expected = [
                text(hash),
                block.to_string(),
                time(chain, block)?,
                checksummed(&one["from"])?,
                checksummed(&one["to"])?,
                checksummed(&one["token"])?,
                side(address, &one["from"], &one["to"]),
            ];
            ensure!(row[..7] == expected, "{row:?} instead of {expected:?}");
            ensure!(row[9..] == [amount, fee.to_string(), "ok".into(), String::new()], "{row:?}, expected {one}");
        }
    }
    Ok(())
}

#[test]
fn call_frames_and_logs_have_them() -> anyhow::Result<()> {
    let chain = chain("devchain");
    let all = listed::frames(chain);
    let mut fees = 0;
    for address in &listed::busiest(&all, &["from", "to", "createdContract"])[..3] {
        let found = rows(chain, &format!("{address}/internal-transactions/csv"), INTERNAL_TRANSACTIONS)?;
        let is_own = |row: &&Value| ["from", "to", "createdContract"].iter().any(|side| row[*side] == **address);
        let own: Vec<&Value> = all.iter().filter(is_own).collect();
        ensure!(found.len() == own.len(), "{address}: {} of {}", found.len(), own.len());
        for (row, one) in found.iter().zip(own) {
            let expected = [
                text(&one["transactionHash"]),
                number(&one["frameIndex"]).to_string(),
                quantity(&one["blockNumber"]).to_string(),
                text(&one["blockHash"]),
                number(&one["transactionIndex"]).to_string(),
                String::new(),
                time(chain, quantity(&one["blockNumber"]))?,
                checksummed(&one["from"])?,
                checksummed(&one["to"])?,
                checksummed(&one["createdContract"])?,
            ];
            ensure!(row[..10] == expected, "{row:?} instead of {expected:?}");
            ensure!(row[14] == number(&one["value"]).to_string() && row[15].starts_with("0x"), "{row:?}");
            fees += usize::from(!row[13].is_empty() && !row[18].is_empty());
        }
    }
    ensure!(fees > 10, "{fees} frames with a fee");
    let all = logs(chain);
    let emitter = all[0]["address"].as_str().context("an emitter")?;
    let own: Vec<&Value> = all.iter().filter(|log| log["address"] == emitter).collect();
    let found = rows(chain, &format!("{emitter}/logs/csv"), LOGS)?;
    ensure!(found.len() == own.len(), "{} of {}", found.len(), own.len());
    for (row, log) in found.iter().zip(own) {
        let mut topics = [0, 1, 2, 3].map(|position| text(&log["topics"][position])).to_vec();
        let mut expected = vec![
            text(&log["transactionHash"]),
            quantity(&log["logIndex"]).to_string(),
            quantity(&log["blockNumber"]).to_string(),
            text(&log["blockHash"]),
            checksummed(&log["address"])?,
            text(&log["data"]),
        ];
        expected.append(&mut topics);
        ensure!(*row == expected, "{row:?} instead of {expected:?}");
    }
    // With a closing line for those who ask for it.
    let marked = http::get(
        &http::agent(),
        &format!("{}/api/v2/addresses/{emitter}/logs/csv?mark=1&recaptcha_response=", chain.api),
    )?;
    ensure!(marked.text().lines().last().is_some_and(|line| line.starts_with("# {")), "{}", marked.text());
    Ok(())
}
