//! What operators of rollups took is part of a fee wherever a fee is shown, sorted by or summed: a real block of OP
//! Mainnet whose receipts got the parameters that they have since Isthmus. No root covers these.

use std::collections::BTreeMap;

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use xtask::{http, process::Server, workspace};

use super::{load, write_dump};
use crate::chains::lines_of;
use crate::env;

const HEIGHT: &str = "109279675";

/// A block of OP Mainnet and what each of its transactions paid, by hash.
struct PaidFees {
    line: Value,
    fees: BTreeMap<String, u128>,
    operator_fees: u128,
}

fn number(value: &Value) -> u128 {
    u128::from_str_radix(value.as_str().unwrap_or_default().trim_start_matches("0x"), 16).unwrap_or_default()
}

fn text(value: &Value) -> anyhow::Result<String> {
    value.as_str().map(str::to_owned).context("a text")
}

impl PaidFees {
    /// Each signed transaction has other parameters, each second one those of Jovian.
    fn block() -> anyhow::Result<Self> {
        let folder = workspace::fixture("chains/prestates");
        let mut line = lines_of(&folder.join("blocks-without-receipts-10.ndjson.gz"))?.pop().context("a block")?;
        let mut receipts = lines_of(&folder.join(format!("receipts-{HEIGHT}.json.gz")))?.pop().context("receipts")?;
        let (mut fees, mut operator_fees) = (BTreeMap::new(), 0);
        for (position, receipt) in (0..).zip(receipts.as_array_mut().context("receipts")?) {
            let hash = text(&receipt["transactionHash"])?;
            if receipt["l1Fee"].is_null() {
                fees.insert(hash, 0);
                continue;
            }
            let gas = number(&receipt["gasUsed"]);
            let (scalar, constant) = (1_000_000_007 * (10 - position), 13 + position);
            receipt["operatorFeeScalar"] = json!(format!("{scalar:#x}"));
            receipt["operatorFeeConstant"] = json!(format!("{constant:#x}"));
            // https://specs.optimism.io/protocol/isthmus/exec-engine.html#operator-fee and jovian/exec-engine.html
            let operator = if position % 2 == 0 {
                receipt["daFootprintGasScalar"] = json!("0x190");
                gas * scalar * 100 + constant
            } else {
                gas * scalar / 1_000_000 + constant
            };
            operator_fees += operator;
            fees.insert(hash, gas * number(&receipt["effectiveGasPrice"]) + number(&receipt["l1Fee"]) + operator);
        }
        line["receipts"] = receipts;
        Ok(Self { line, fees, operator_fees })
    }

    fn sum(&self) -> u128 {
        self.fees.values().sum()
    }

    /// Hashes of the transactions that an address takes part in, the cheapest first.
    fn hashes_of(&self, address: &str) -> Vec<String> {
        let transactions = self.line["block"]["transactions"].as_array().into_iter().flatten();
        let own = transactions.filter(|one| one["from"] == address || one["to"] == address);
        let mut hashes: Vec<String> = own.filter_map(|one| one["hash"].as_str().map(str::to_owned)).collect();
        hashes.sort_by_key(|hash| self.fees.get(hash));
        hashes
    }
}

fn get(url: &str, path: &str) -> anyhow::Result<Value> {
    let answer = http::get(&http::agent(), &format!("{url}/api/v2/{path}"))?;
    ensure!(answer.status == 200, "{path}: {}", answer.text());
    answer.json()
}

#[test]
fn fees_have_the_operators_part_everywhere() -> anyhow::Result<()> {
    let (database, paid) = (env::migrate("rollup_fees")?, PaidFees::block()?);
    ensure!(paid.fees.len() > 3 && paid.operator_fees > 0, "{:?}", paid.fees);
    let file = write_dump(std::slice::from_ref(&paid.line))?;
    let file = file.path().display().to_string();
    load(&database, &file, &["--chain-id", "10", "--from", HEIGHT, "--to", HEIGHT], 0)?;
    let sums = "SELECT toString(sum(fee)), toString(sum(operator_fee)) FROM v_transactions";
    ensure!(env::sql(&database, sums)? == format!("{}\t{}", paid.sum(), paid.operator_fees), "v_transactions");
    let sent = "SELECT toString(sum(fee)) FROM v_transactions_by_address WHERE is_sender = 1";
    ensure!(env::sql(&database, sent)? == paid.sum().to_string(), "v_transactions_by_address");
    env::run(env::ingest(&database, &["verify"]), 0)?;
    let api = env::start_api(&database, &[])?;
    of_transactions(&api, &paid)?;
    of_addresses(&api, &paid)?;
    let block = get(&api.url, &format!("blocks/{HEIGHT}"))?;
    ensure!(block["transaction_fees"] == paid.sum().to_string(), "{block}");
    let days = get(&api.url, "stats/activity?resolution=DAY")?;
    ensure!(days["items"][0]["fees"] == paid.sum().to_string(), "{days}");
    analysts_see_no_part_as_a_fee(&database)
}

/// The root of receipts does not cover what was paid on L1, so a node may leave it out unnoticed.
#[test]
fn a_fee_that_a_node_leaves_out_is_not_that_of_the_gas() -> anyhow::Result<()> {
    let (database, mut paid) = (env::migrate("left_out_fees")?, PaidFees::block()?);
    let receipts = paid.line["receipts"].as_array_mut().context("receipts")?;
    let receipt = receipts.iter_mut().find(|receipt| !receipt["l1Fee"].is_null()).context("one that pays")?;
    receipt.as_object_mut().context("an object")?.remove("l1Fee");
    let hash = text(&receipt["transactionHash"])?;
    let file = write_dump(std::slice::from_ref(&paid.line))?;
    let file = file.path().display().to_string();
    load(&database, &file, &["--chain-id", "10", "--from", HEIGHT, "--to", HEIGHT], 0)?;
    let api = env::start_api(&database, &[])?;
    let shown = get(&api.url, &format!("transactions/{hash}"))?;
    ensure!(shown["fee"]["value"].is_null() && shown["l1_fee"].is_null(), "{shown}");
    let block = get(&api.url, &format!("blocks/{HEIGHT}"))?;
    ensure!(block["transaction_fees"].is_null(), "{block}");
    // At /rpc it is what the node gave.
    let answer = http::rpc(&http::agent(), &format!("{}/rpc", api.url), "eth_getTransactionReceipt", &json!([hash]))?;
    let receipt = &answer["result"];
    ensure!(receipt["status"] == "0x1" && receipt.get("l1Fee").is_none(), "{answer}");
    Ok(())
}

/// As exports have it that say what was paid on L1, and not what the operator took.
fn analysts_see_no_part_as_a_fee(database: &str) -> anyhow::Result<()> {
    let lacks = "ALTER TABLE transactions UPDATE lacking = ['operator_fee'], operator_fee = NULL \
                 WHERE operator_fee IS NOT NULL SETTINGS mutations_sync = 2";
    env::sql(database, lacks)?;
    let fees = "SELECT count() > 0, countIf(fee IS NOT NULL) \
                FROM v_transactions WHERE has(lacking, 'operator_fee')";
    let found = env::sql(database, fees)?;
    ensure!(found == "1\t0", "{found}");
    Ok(())
}

fn of_transactions(api: &Server, paid: &PaidFees) -> anyhow::Result<()> {
    for (hash, fee) in &paid.fees {
        let shown = get(&api.url, &format!("transactions/{hash}"))?;
        ensure!(shown["fee"]["value"] == fee.to_string(), "{fee}: {shown}");
        // Without state, and by gas alone, the balance of the sender would change by too little.
        let changes = get(&api.url, &format!("transactions/{hash}/state-changes"))?;
        let sender = |item: &&Value| item["address"]["hash"] == shown["from"]["hash"] && item["type"] == "coin";
        let of_sender = changes["items"].as_array().context("items")?.iter().find(sender);
        ensure!(of_sender.is_some_and(|item| item["change"].is_null()), "{changes}");
    }
    let moved = get(&api.url, "advanced-filters")?;
    let items = moved["items"].as_array().context("items")?;
    for item in items {
        let fee = paid.fees.get(&text(&item["hash"])?).context("a fee")?;
        ensure!(item["fee"] == fee.to_string(), "{fee}: {item}");
    }
    ensure!(items.len() >= paid.fees.len(), "{moved}");
    Ok(())
}

/// The CSV, the order by fee and the sums by method.
fn of_addresses(api: &Server, paid: &PaidFees) -> anyhow::Result<()> {
    let mut called = 0;
    for transaction in paid.line["block"]["transactions"].as_array().into_iter().flatten() {
        for address in [&transaction["from"], &transaction["to"]].map(text) {
            let address = address?;
            let expected = paid.hashes_of(&address);
            let list = get(&api.url, &format!("addresses/{address}/transactions?sort=fee&order=asc"))?;
            let items = list["items"].as_array().context("items")?;
            let shown: Vec<String> = items.iter().map(|item| text(&item["hash"])).collect::<Result<_, _>>()?;
            ensure!(shown == expected, "{address}: {shown:?} is not {expected:?}");
            let path = format!("{}/api/v2/addresses/{address}/transactions/csv", api.url);
            let csv = http::get(&http::agent(), &path)?.text();
            for line in csv.lines().skip(1).filter(|line| line.starts_with("0x")) {
                let cells: Vec<&str> = line.split(',').collect();
                ensure!(paid.fees.get(cells[0]).map(u128::to_string).as_deref() == Some(cells[8]), "{line}");
            }
            ensure!(csv.lines().count() > expected.len(), "{csv}");
        }
        let (to, hash) = (text(&transaction["to"])?, text(&transaction["hash"])?);
        let methods = get(&api.url, &format!("addresses/{to}/activity/methods?resolution=DAY"))?;
        for item in methods["items"].as_array().into_iter().flatten().filter(|item| item["transactions_count"] == 1) {
            let is_own = paid.hashes_of(&to) == [hash.clone()];
            ensure!(!is_own || item["fees"] == paid.fees[&hash].to_string(), "{methods}");
            called += usize::from(is_own);
        }
    }
    ensure!(called > 0, "no method was compared");
    Ok(())
}
