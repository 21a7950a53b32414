//! User operations (ERC-4337): what real EntryPoints did on a local node, against what was sent there and what viem
//! reads in the events.

use std::sync::OnceLock;

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use xtask::{http, workspace};

use crate::chains::{dump, lines};
use crate::env;

/// The chain of operations and names, with all state that calls need.
pub struct Operations {
    /// `trawl-api` over it.
    pub api: String,
    /// What its script sent and read from the node.
    pub expected: Value,
}

/// The database behind [`Operations::api`].
pub const DATABASE: &str = "operations";

/// Starts it, once.
pub fn operations() -> &'static Operations {
    static OPERATIONS: OnceLock<Operations> = OnceLock::new();
    OPERATIONS.get_or_init(|| start().unwrap_or_else(|error| panic!("operations: {error:?}")))
}

fn start() -> anyhow::Result<Operations> {
    env::create_tables(DATABASE)?;
    let genesis = workspace::fixture("operations/genesis.json").display().to_string();
    env::run(env::ingest(DATABASE, &["load", "--dump", &dump("operations"), "--genesis", &genesis]), 0)?;
    let expected = std::fs::read_to_string(workspace::fixture("operations/expected.json"))?;
    Ok(Operations { api: env::start_shared_api(DATABASE)?, expected: serde_json::from_str(&expected)? })
}

/// What is answered under a path of the family, and its status.
fn ask(path: &str) -> anyhow::Result<(u16, Value)> {
    let url = format!("{}/api/v2/proxy/account-abstraction/{path}", operations().api);
    let answer = http::get(&http::agent(), &url)?;
    let text = answer.text();
    Ok((answer.status, serde_json::from_str(&text).with_context(|| format!("{path}: {text}"))?))
}

fn list(path: &str) -> anyhow::Result<Vec<Value>> {
    let (status, answer) = ask(path)?;
    ensure!(status == 200, "{path}: {answer}");
    Ok(answer["items"].as_array().context("items")?.clone())
}

/// The operations that were sent, the newest first.
fn sent() -> anyhow::Result<Vec<&'static Value>> {
    let mut sent: Vec<&Value> = operations().expected["operations"].as_array().context("operations")?.iter().collect();
    sent.sort_by_key(|one| std::cmp::Reverse((one["block"].as_u64(), one["logIndex"].as_u64())));
    ensure!(sent.len() == 8, "{sent:#?}");
    Ok(sent)
}

fn hashes<'v>(items: impl IntoIterator<Item = &'v Value>) -> Vec<String> {
    items.into_iter().map(|item| item["hash"].as_str().unwrap_or_default().to_owned()).collect()
}

fn number(text: &Value) -> u128 {
    let text = text.as_str().unwrap_or_default();
    match text.strip_prefix("0x") {
        Some(digits) => u128::from_str_radix(digits, 16),
        None => text.parse(),
    }
    .unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn lower(text: &Value) -> Option<String> {
    text.as_str().map(str::to_lowercase)
}

/// The two halves of a word.
fn halves(word: &Value) -> (u128, u128) {
    let digits = word.as_str().unwrap_or_default().trim_start_matches("0x").to_owned();
    let half = |text: &str| u128::from_str_radix(text, 16).unwrap_or_else(|error| panic!("{text}: {error}"));
    (half(&digits[..32]), half(&digits[32..]))
}

#[test]
fn lists_have_what_entry_points_handled_and_nothing_forged() -> anyhow::Result<()> {
    let sent = sent()?;
    let all = list("operations")?;
    ensure!(hashes(&all) == hashes(sent.iter().copied()), "{all:#?}");
    for (item, of) in all.iter().zip(&sent) {
        let want = json!([
            of["entryPoint"],
            format!("v0.{}", &of["version"].as_str().context("a version")?[1..]),
            of["block"].to_string(),
            of["transaction"],
            of["event"]["sender"],
            of["event"]["success"],
            of["event"]["actualGasCost"]
        ]);
        let has = json!([
            item["entry_point"]["hash"],
            item["entry_point_version"],
            item["block_number"],
            item["transaction_hash"],
            item["address"]["hash"],
            item["status"],
            item["fee"]
        ]);
        ensure!(has == want, "{has} is not {want}");
    }
    // A contract that is no EntryPoint emitted the same event in the name of this wallet.
    let wallet = operations().expected["wallets"]["06-1"].as_str().context("a wallet")?;
    ensure!(list(&format!("operations?sender={wallet}"))?.len() == 2);
    let forged = operations().expected["forged"].as_str().context("a hash")?;
    ensure!(ask(&format!("operations/{forged}"))?.0 == 404);
    Ok(())
}

#[test]
fn lists_are_filtered_and_walked_page_by_page() -> anyhow::Result<()> {
    let sent = sent()?;
    let expected = &operations().expected;
    let of = |filter: &dyn Fn(&Value) -> bool| hashes(sent.iter().copied().filter(|one| filter(one)));
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (paymaster, wallet) = (text(&expected["paymaster"]), text(&expected["wallets"]["07-2"]));
    let (point, both) = (text(&expected["entryPoints"]["06"]), text(&sent[0]["transaction"]));
    for (query, want) in [
        (format!("sender={wallet}"), of(&|one| one["event"]["sender"] == wallet)),
        (format!("paymaster={paymaster}"), of(&|one| one["event"]["paymaster"] == paymaster)),
        (format!("entry_point={point}"), of(&|one| one["entryPoint"] == point)),
        (format!("transaction_hash={both}"), of(&|one| one["transaction"] == both)),
        ("block_number=7".to_owned(), of(&|one| one["block"] == 7)),
        (format!("sender={wallet}&block_number=7"), of(&|one| one["block"] == 7 && one["event"]["sender"] == wallet)),
        (format!("entry_point={paymaster}"), Vec::new()),
        (format!("transaction_hash=0x{}", "12".repeat(32)), Vec::new()),
    ] {
        let has = hashes(&list(&format!("operations?{query}"))?);
        ensure!(has == want, "{query}: {has:?} is not {want:?}");
    }
    for query in ["page_size=1".to_owned(), "page_size=3".to_owned(), format!("page_size=1&sender={wallet}")] {
        let whole = hashes(&list(&format!("operations?{}", query.replace("page_size", "page_size=100&page_size")))?);
        let (mut walked, mut token) = (Vec::new(), String::new());
        loop {
            let (status, page) = ask(&format!("operations?{query}{token}"))?;
            ensure!(status == 200 && walked.len() < 10, "{page}");
            walked.extend(hashes(page["items"].as_array().context("items")?));
            let Some(next) = page["next_page_params"]["page_token"].as_str() else { break };
            token = format!("&page_token={next}");
        }
        ensure!(walked.len() > 1 && walked.starts_with(&whole), "{query}: {walked:?}, {whole:?}");
    }
    Ok(())
}

#[test]
fn an_operation_is_what_its_bundler_sent() -> anyhow::Result<()> {
    for of in sent()? {
        let (status, item) = ask(&format!("operations/{}", of["hash"].as_str().context("a hash")?))?;
        ensure!(status == 200, "{item}");
        let (op, event, is_packed) = (&of["op"], &of["event"], of["version"] != "06");
        let (verification, call) = if is_packed {
            halves(&op["accountGasLimits"])
        } else {
            (number(&op["verificationGasLimit"]), number(&op["callGasLimit"]))
        };
        let (priority, fee) = if is_packed {
            halves(&op["gasFees"])
        } else {
            (number(&op["maxPriorityFeePerGas"]), number(&op["maxFeePerGas"]))
        };
        let paid = if event["paymaster"] == operations().expected["paymaster"] { 100_000 + 30_000 } else { 0 };
        for (name, want) in [
            ("verification_gas_limit", verification),
            ("call_gas_limit", call),
            ("max_fee_per_gas", fee),
            ("max_priority_fee_per_gas", priority),
            ("pre_verification_gas", number(&op["preVerificationGas"])),
            ("gas", verification + call + number(&op["preVerificationGas"]) + paid),
            ("fee", number(&event["actualGasCost"])),
            ("gas_used", number(&event["actualGasUsed"])),
            ("gas_price", number(&event["actualGasCost"]) / number(&event["actualGasUsed"])),
        ] {
            ensure!(number(&item[name]) == want, "{name} of {item}");
        }
        ensure!(number(&item["nonce"]) == number(&event["nonce"]), "{item}");
        let raw = &item["raw"];
        for (name, own) in [
            ("call_data", "callData"),
            ("init_code", "initCode"),
            ("paymaster_and_data", "paymasterAndData"),
            ("signature", "signature"),
        ] {
            ensure!(raw[name].as_str() == lower(&op[own]).as_deref(), "{name} of {item}");
        }
        if is_packed {
            ensure!(raw["account_gas_limits"] == op["accountGasLimits"] && raw["gas_fees"] == op["gasFees"], "{raw}");
        }
        ensure!(item["call_data"] == raw["call_data"] && item["signature"] == op["signature"], "{item}");
        ensure!(item["bundler"]["hash"] == of["beneficiary"] && item["status"] == event["success"], "{item}");
        ensure!(item["bundle_index"] == of["bundleIndex"] && item["index"] == of["index"], "{item}");
        let is_first = op["initCode"] != "0x";
        let factory = &operations().expected["factories"][of["version"].as_str().context("a version")?];
        ensure!(lower(&item["factory"]["hash"]) == lower(factory).filter(|_| is_first), "{item}");
    }
    Ok(())
}

#[test]
fn who_paid_what_was_called_and_why_it_failed() -> anyhow::Result<()> {
    let (sent, expected) = (sent()?, &operations().expected);
    let find = |test: &dyn Fn(&Value) -> bool| -> anyhow::Result<Value> {
        let one = sent.iter().find(|one| test(one)).context("an operation")?;
        Ok(ask(&format!("operations/{}", one["hash"].as_str().context("a hash")?))?.1)
    };
    let failed = find(&|one| one["event"]["success"] == false)?;
    let reason = failed["revert_reason"].as_str().context("a reason")?;
    // Error(string): the EntryPoint has less of the wallet than was requested.
    ensure!(reason.starts_with("0x08c379a0"), "{failed}");
    ensure!(failed["execute_target"]["hash"] == expected["entryPoints"]["07"], "{failed}");
    ensure!(
        failed["decoded_call_data"]["method_call"].as_str().is_some_and(|call| call.starts_with("execute(")),
        "{failed}"
    );
    let paid = find(&|one| one["event"]["paymaster"] == expected["paymaster"])?;
    ensure!(
        paid["sponsor_type"] == "paymaster_sponsor" && paid["paymaster"]["hash"] == expected["paymaster"],
        "{paid}"
    );
    ensure!(paid["execute_call_data"] == "0x1234" && paid["revert_reason"].is_null(), "{paid}");
    let own = find(&|one| one["block"] == 6)?;
    ensure!(own["sponsor_type"] == "wallet_deposit", "{own}");
    // The wallet of 0.6 emits one event when it is made, and none when it pays.
    ensure!(own["user_logs_count"] == 0 && own["aggregator"].is_null() && own["consensus"] == true, "{own}");
    Ok(())
}

#[test]
fn bundles_wallets_and_paymasters_are_counted() -> anyhow::Result<()> {
    let (sent, expected) = (sent()?, &operations().expected);
    let mut want: Vec<Value> = Vec::new();
    for of in &sent {
        let bundle = json!([of["transaction"], of["bundleIndex"], of["beneficiary"], of["block"].to_string()]);
        if want.last() != Some(&bundle) {
            want.push(bundle);
        }
    }
    let bundles = list("bundles")?;
    let has: Vec<Value> = bundles
        .iter()
        .map(|one| json!([one["transaction_hash"], one["bundle_index"], one["bundler"]["hash"], one["block_number"]]))
        .collect();
    ensure!(has == want, "{has:#?} is not {want:#?}");
    let total: u64 = bundles.iter().filter_map(|one| one["total_ops"].as_u64()).sum();
    ensure!(total == sent.len() as u64, "{bundles:#?}");
    ensure!(list("bundles?page_size=2")?.len() == 2);
    let wallet = expected["wallets"]["07-2"].as_str().context("a wallet")?;
    let (_, account) = ask(&format!("accounts/{wallet}"))?;
    let made = sent.iter().rfind(|one| one["event"]["sender"] == wallet).context("an operation")?;
    ensure!(account["total_ops"] == 3 && account["creation_op_hash"] == made["hash"], "{account}");
    ensure!(
        account["creation_transaction_hash"] == made["transaction"] && account["creation_timestamp"].is_string(),
        "{account}"
    );
    let paymaster = expected["paymaster"].as_str().context("a paymaster")?;
    let (status, paid) = ask(&format!("paymasters/{paymaster}"))?;
    ensure!(status == 200 && paid["total_ops"] == 1, "{paid}");
    Ok(())
}

#[test]
fn what_is_no_operation_and_what_is_not_listed() -> anyhow::Result<()> {
    let unknown = format!("0x{}", "12".repeat(20));
    for (path, status) in [
        ("operations/0x12".to_owned(), 422),
        (format!("operations/0x{}", "12".repeat(32)), 404),
        (format!("accounts/{unknown}"), 404),
        (format!("paymasters/{unknown}"), 404),
        ("accounts/0x12".to_owned(), 422),
        ("operations?page_token=7".to_owned(), 422),
        ("operations?page_token=7,4294967296".to_owned(), 422),
        ("operations?page_size=0".to_owned(), 422),
        ("operations?page_size=101".to_owned(), 422),
        ("operations?sender=0x12".to_owned(), 422),
        ("operations?other=1".to_owned(), 422),
        (format!("operations?bundler={unknown}"), 422),
        (format!("bundles?bundler={unknown}"), 422),
        (format!("operations?factory={unknown}"), 422),
        ("accounts".to_owned(), 501),
        ("bundlers".to_owned(), 501),
        (format!("factories/{unknown}"), 501),
    ] {
        let (has, answer) = ask(&path)?;
        ensure!(has == status, "{path}: {has} {answer}");
        if status == 501 {
            ensure!(answer.to_string().contains("ERC-4337"), "{path}: {answer}");
        }
    }
    Ok(())
}

/// A fixture with fewer EntryPoints would make these tests of nothing.
#[test]
fn the_chain_has_operations_of_three_versions() -> anyhow::Result<()> {
    let topic = "0x49628fd1471006c1482da88028e9ce4dbb080b815c9b0344d39e5a8e6ec1419f";
    let lines = lines("operations")?;
    let logs = lines.iter().flat_map(|line| line["receipts"].as_array().into_iter().flatten());
    let logs = logs.flat_map(|receipt| receipt["logs"].as_array().into_iter().flatten());
    let emitters: std::collections::BTreeSet<&str> =
        logs.filter(|log| log["topics"][0] == topic).filter_map(|log| log["address"].as_str()).collect();
    ensure!(emitters.len() == 4, "three EntryPoints and a forger: {emitters:?}");
    Ok(())
}

#[test]
fn a_search_finds_an_operation_by_its_hash() -> anyhow::Result<()> {
    let search = |path: String| -> anyhow::Result<Value> {
        http::get(&http::agent(), &format!("{}/api/v2/search{path}", operations().api))?.json()
    };
    for one in sent()? {
        let hash = one["hash"].as_str().context("a hash")?;
        let items = search(format!("?q={hash}"))?["items"].clone();
        let page = ask(&format!("operations/{hash}"))?.1;
        let expected = json!([{
            "type": "user_operation", "user_operation_hash": hash, "timestamp": page["timestamp"],
            "url": format!("/op/{hash}"),
        }]);
        ensure!(items == expected, "{items} is not {expected}");
        ensure!(search(format!("/quick?q={}", hash.to_uppercase().replace("0X", "")))? == items, "{hash}");
        let redirect = search(format!("/check-redirect?q={hash}"))?;
        ensure!(redirect == json!({"redirect": true, "type": "user_operation", "parameter": hash}), "{redirect}");
    }
    for none in [format!("0x{}", "12".repeat(32)), format!("0x{}", "00".repeat(32))] {
        ensure!(search(format!("/check-redirect?q={none}"))?["redirect"] == false, "{none}");
    }
    Ok(())
}
